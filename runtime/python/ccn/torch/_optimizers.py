"""Optimizers whose step is one program: the sum of the gradients over the ranks, the update of slices of the parameters, and
the gathering of what was updated."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, List, Optional, Tuple

import torch

from .._compiler import compile as compile_program
from .._program import Program
from . import texts
from ._shared import element_of, rank_and_size, target_of

_MOMENTS = ("exp_avg", "exp_avg_sq")


class _FusedOptimizer(torch.optim.Optimizer):
    """What the optimizers share; each has the name of its program, the text, and what its step passes beside that of all."""

    def __init__(self, params, lr, betas, eps, weight_decay, max_norm, group, schedule, compile):
        if not (lr >= 0 and eps >= 0 and weight_decay >= 0 and all(0 <= beta < 1 for beta in betas)):
            raise ValueError(f"expected lr, eps and weight_decay from 0 and betas from 0 below 1, found {lr}, {eps}, "
                             f"{weight_decay}, {tuple(betas)}")
        if max_norm is not None and not max_norm > 0:
            raise ValueError(f"expected max_norm above 0, or None, found {max_norm}")
        self._rank, self._size = rank_and_size(group)
        self._schedule, self._compile, self._max_norm = schedule, compile, max_norm
        self._programs, self.grad_norms = [], []
        # By what they are compiled from: groups that are alike share one. Optimizers share none, since a step of one would
        # overwrite what is bound for another.
        self._shared = {}
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @property
    def programs(self) -> List[Program]:
        """The programs, one for each group of parameters, for ccn.torch.join."""
        return list(self._programs)

    def add_param_group(self, param_group: Any) -> None:
        super().add_param_group(param_group)
        try:
            self._prepare(self.param_groups[-1])
        except BaseException:
            self.param_groups.pop()
            raise

    def _prepare(self, group):
        """Compiles the program of a group, and makes its moments."""
        parameters = group["params"]
        kinds = {(p.dtype, p.device) for p in parameters}
        if not kinds:
            raise ValueError("expected parameters in each group, found a group without any")
        if len(kinds) > 1:
            raise ValueError("expected parameters of one dtype on one device in each group, found " +
                             ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds)))
        (dtype, device), = kinds
        element, target = element_of(dtype, ("f32", "f16", "bf16")), target_of(device)
        if target is None:
            raise ValueError(f"expected parameters on the CPU or a GPU from sm_80 on, found {device}")
        count = sum(p.numel() for p in parameters)
        key = element, target, count
        if key not in self._shared:
            text = self._text(element, element, self._max_norm is not None)
            self._shared[key] = self._compile(text, program=self._name, schedule=self._schedule, target=target,
                                              mesh={"dp": self._size}, params={"N": count})
        program = self._shared[key]
        shape = program.argument("exp_avg").part(self._rank).shape
        group["step"] = 0
        for name in _MOMENTS:
            group[name] = torch.zeros(shape, dtype=torch.float32, device=device)
        self._programs.append(program)

    @torch.no_grad()
    def load_state_dict(self, state_dict: Any) -> None:
        """Takes up what this rank's state_dict() was, which may be on another device; moments stay where they are."""
        own = [{name: group[name] for name in _MOMENTS} for group in self.param_groups]
        for number, (loaded, moments) in enumerate(zip(state_dict["param_groups"], own)):
            for name, moment in moments.items():
                if name not in loaded:
                    raise ValueError(f"expected a state of {type(self).__name__}, found no {name} in group {number}")
                if tuple(loaded[name].shape) != tuple(moment.shape):
                    raise ValueError(f"expected {name} of shape {tuple(moment.shape)} in group {number}, as rank "
                                     f"{self._rank} of {self._size} has it, found {tuple(loaded[name].shape)}")
        super().load_state_dict(state_dict)
        for group, moments in zip(self.param_groups, own):
            for name, moment in moments.items():
                moment.copy_(group[name])
            group.update(moments)

    def _tensors_of(self, group):
        gradients = [p.grad for p in group["params"]]
        missing = [i for i, gradient in enumerate(gradients) if gradient is None]
        if missing:
            raise ValueError(f"expected a gradient of every parameter, found none of parameter {missing[0]} of a group of "
                             f"{len(gradients)}")
        return gradients, list(group["params"]), group["exp_avg"], group["exp_avg_sq"]

    @torch.no_grad()
    def bind(self) -> None:
        """On GPUs, lets the other ranks access gradients and parameters where they are, rather than copies that each step
        makes. All ranks call this, after a backward; from then on gradients stay where they are:
        zero_grad(set_to_none=False). Groups of one number of parameters cannot be bound, as they share a program."""
        for program, group in zip(self._programs, self.param_groups):
            if self._programs.count(program) > 1:
                raise ValueError("expected groups with different numbers of parameters, found two with the same")
            program.executor().bind(*self._tensors_of(group))
        # Groups that are added share none of these.
        self._shared.clear()

    @torch.no_grad()
    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """One step; all ranks make it."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        # Before any is updated.
        tensors = [self._tensors_of(group) for group in self.param_groups]
        norms = []
        for program, group, own in zip(self._programs, self.param_groups, tensors):
            step, (beta1, beta2) = group["step"] + 1, group["betas"]
            numbers = [beta1, 1 - beta1, beta2, 1 - beta2, math.sqrt(1 - beta2 ** step), group["eps"]]
            numbers += self._numbers(float(group["lr"]), group["weight_decay"], 1 / (1 - beta1 ** step))
            if self._max_norm is not None:
                numbers.append(self._max_norm)
            norms.append(program(*own, *numbers))
            group["step"] = step
        self.grad_norms = norms if self._max_norm is not None else []
        return loss


class FusedAdamW(_FusedOptimizer):
    """AdamW with data parallelism: all ranks of a process group have the parameters, each has gradients of its own, whose
    mean counts, and a slice of the two moments (ZeRO-1). A step is one program for each group of parameters, which reads
    and writes gradients and parameters where they are.

    params, lr, betas, eps, weight_decay
             as torch.optim.AdamW's. Of a group, all parameters have one dtype (f32, f16 or bf16) and are on one device
    max_norm the gradients' mean is scaled so that its norm is at most this, of each group by itself; None leaves it.
             `grad_norms` has the norms that it had in the last step, one for each group
    group    of torch.distributed; by default all ranks. The mesh has one axis, "dp"
    compile  what compiles the programs, as ccn.compile does

    Before the first step, ccn.torch.join(optimizer, ...) makes the ranks' team. Every parameter needs a gradient in every
    step. Moments are f32, and of a rank only: state_dict() is that of a rank. Results are those of torch.optim.AdamW on the
    gradients' mean, but for rounding.
    """

    _name, _text = "adamw", staticmethod(texts.fused_adamw)

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 1e-2, *, max_norm: Optional[float] = None, group: Any = None,
                 schedule: Optional[str] = "fused", compile: Callable[..., Program] = compile_program) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, max_norm, group, schedule, compile)

    def _numbers(self, lr, decay, unbiased):
        return [lr * unbiased, 1 - lr * decay]


class FusedLAMB(_FusedOptimizer):
    """LAMB (You et al., 2020) with data parallelism, in the same way: Adam's step with weight decay, scaled by the ratio of
    the norms of a group's parameters and of the group's step. A group is a layer: pass each layer's parameters as one."""

    _name, _text = "lamb", staticmethod(texts.fused_lamb)

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-6, weight_decay: float = 1e-2, *, max_norm: Optional[float] = None, group: Any = None,
                 schedule: Optional[str] = "fused", compile: Callable[..., Program] = compile_program) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, max_norm, group, schedule, compile)

    def _numbers(self, lr, decay, unbiased):
        return [lr, decay, unbiased]
