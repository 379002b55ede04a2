"""What modules, optimizers and operators share: what was compiled and registered, and which rank of a process group this is."""

from __future__ import annotations

import threading

import torch

# What was compiled, by what was asked for: layers that are alike have the same programs, of which a team has one each.
_compiled = {}
_lock = threading.Lock()

# What each name was registered for.
registered = {}

ELEMENTS = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}


def rank_and_size(group):
    """This process' rank in a group, and how many there are; 0 and 1 without torch.distributed."""
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return 0, 1
    return torch.distributed.get_rank(group), torch.distributed.get_world_size(group)


def element_of(dtype, listed=("f32", "f16", "bf16", "f64")):
    """The name of a dtype in programs."""
    name = ELEMENTS.get(dtype)
    if name not in listed:
        raise ValueError(f"expected a dtype that is {', '.join(listed)} in ccn, found {dtype}")
    return name


def target_of(device):
    """What compiles for a device; None for what ccn has no code for."""
    device = torch.device("cpu" if device is None else device)
    if device.type == "cpu":
        return "cpu"
    if device.type != "cuda":
        return None
    capability = torch.cuda.get_device_capability(device)
    return "sm_90a" if capability == (9, 0) else "sm_80" if capability >= (8, 0) else None


def program_for(compile, text, **options):
    """A program, as `compile` gives it for this text and these options of ccn.compile."""
    key = compile, text, tuple(sorted((name, str(value)) for name, value in options.items()))
    with _lock:
        if key not in _compiled:
            _compiled[key] = compile(text, **options)
        return _compiled[key]


class Registration:
    """An operator, what it runs, what that is, and what its gradients are; None if it has none."""

    def __init__(self, runner, program, rank, gradients):
        self.runner, self.program, self.operator, self.gradients = runner, program, None, gradients
        of_gradients = gradients and gradients.program.hash
        self.identity = program.hash, program.target, rank, of_gradients
        # What calls it with DTensors, by their mesh.
        self.on_meshes = {}

    def __call__(self, *values):
        return self.runner(*values)


def registration_of(operator):
    """What an operator that register has returned was registered for."""
    for made in registered.values():
        if made.operator is operator:
            return made
    raise TypeError(f"expected an operator that ccn.torch.register has returned, found {operator!r}")
