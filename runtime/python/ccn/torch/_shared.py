"""What modules and optimizers share: programs that they have compiled, and which rank of a process group this is."""

from __future__ import annotations

import threading

import torch

# What was compiled, by what was asked for: layers that are alike have the same programs, of which a team has one each.
_compiled = {}
_lock = threading.Lock()

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
