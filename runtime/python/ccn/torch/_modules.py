"""Modules whose forward and backward are programs. Where a program does not fit, they compute the same by PyTorch's own
operations and torch.distributed's collectives."""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, List, Optional, Sequence, Union

import torch
import torch.distributed

from .._compiler import compile as compile_program
from .._program import Program
from .._team import joined_team
from . import texts
from ._operators import register
from ._shared import element_of, program_for, rank_and_size, target_of


def _all_reduce(value, group):
    total = value.detach().clone(memory_format=torch.contiguous_format)
    if rank_and_size(group)[1] > 1:
        torch.distributed.all_reduce(total, group=group)
    return total


class _Sum(torch.autograd.Function):
    """The sum of what ranks have, which all get; so each has the sum's gradient."""

    @staticmethod
    def forward(ctx, value, group):
        return _all_reduce(value, group)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class _Gather(torch.autograd.Function):
    """The rows of all ranks, of which each may have another number; and the sum of gradients' own rows."""

    @staticmethod
    def forward(ctx, rows, counts, group):
        rank = rank_and_size(group)[0]
        ctx.begin, ctx.count, ctx.group = sum(counts[:rank]), counts[rank], group
        whole = rows.new_zeros((sum(counts), *rows.shape[1:]))
        whole[ctx.begin:ctx.begin + ctx.count] = rows.detach()
        return _all_reduce(whole, group)

    @staticmethod
    def backward(ctx, gradient):
        return _all_reduce(gradient, ctx.group)[ctx.begin:ctx.begin + ctx.count], None, None


class _Scatter(torch.autograd.Function):
    """The own rows of the sum of what ranks have; and the gradients of all rows."""

    @staticmethod
    def forward(ctx, whole, counts, group):
        rank = rank_and_size(group)[0]
        ctx.begin, ctx.counts, ctx.group = sum(counts[:rank]), counts, group
        return _all_reduce(whole, group)[ctx.begin:ctx.begin + counts[rank]].contiguous()

    @staticmethod
    def backward(ctx, gradient):
        whole = gradient.new_zeros((sum(ctx.counts), *gradient.shape[1:]))
        whole[ctx.begin:ctx.begin + gradient.shape[0]] = gradient
        return _all_reduce(whole, ctx.group), None, None


def _counts(own, device, group):
    """How many rows each rank has."""
    rank, size = rank_and_size(group)
    if size == 1:
        return [own]
    counts = torch.zeros(size, dtype=torch.int64, device=device)
    counts[rank] = own
    return _all_reduce(counts, group).tolist()


class _Module(torch.nn.Module):
    """A module that has a pair of programs for each of some sizes, the forward one and the backward one."""

    # The mesh's.
    _axis = "tp"

    def __init__(self, group):
        super().__init__()
        self.group = group
        self.rank, self.size = rank_and_size(group)
        # By the number of tokens.
        self._pairs, self._operators = {}, {}
        # What tensors of programs are.
        self._dtype = self._device_type = None

    def __deepcopy__(self, memo):
        # Programs stay the same ones, which ranks have joined with, and so do process groups, which cannot be copied.
        memo[id(self.group)] = self.group
        made = memo[id(self)] = self.__class__.__new__(self.__class__)
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return made

    def __getstate__(self):
        # Operators belong to a process.
        return {**self.__dict__, "_operators": {}}

    def __setstate__(self, state):
        super().__setstate__(state)
        team = joined_team()
        if team is not None and all(program in team.programs for program in self.programs):
            self.register_operators()

    @property
    def programs(self) -> List[Program]:
        """The programs, for ccn.torch.join."""
        return [program for pair in self._pairs.values() for program in pair]

    def register_operators(self) -> None:
        """Makes all operators, as ccn.torch.join does once the ranks are a team: torch.compile cannot make them."""
        for tokens in self._pairs:
            self._operator(tokens)

    def _suits(self, *values):
        """Whether programs take what these are; autocast and half() make others of them."""
        return all(value.dtype == self._dtype and value.device.type == self._device_type for value in values)

    def _compile(self, compile, text, name, sizes, params, dtype, device, schedule):
        target, self._dtype = target_of(device), dtype
        self._device_type = "cpu" if target == "cpu" else "cuda"
        for tokens in sizes if target is not None else ():
            options = {"mesh": {self._axis: self.size}, "params": {"T": tokens, **params}, "target": target}
            self._pairs[tokens] = (
                program_for(compile, text, program=name, schedule=schedule, **options),
                program_for(compile, text, program=name + "_backward", schedule=None, **options))

    def _parts(self, tokens):
        """How many of so many tokens each rank has in a program."""
        width = -(-tokens // self.size)
        return [min(width, max(0, tokens - width * rank)) for rank in range(self.size)]

    def _operator(self, tokens):
        """The operator for so many tokens, which is registered after join, at the latest when it is first needed."""
        if tokens not in self._operators:
            forward, backward = self._pairs[tokens]
            name = f"ccn_torch::{forward.name}_{forward.hash[:16]}_{self.rank}"
            self._operators[tokens] = register(forward, name, backward=backward)
        return self._operators[tokens]


class TensorParallelMLP(_Module):
    """gelu(x w1) w2, as a transformer's feed-forward layer, under tensor and sequence parallelism: each rank of a process
    group has its own tokens, and a slice of the weights, and gets its tokens' results. Collectives are part of the
    programs that compute it.

    hidden, ffn  the sizes of a token and of what is between the products
    tokens       how many tokens all ranks have together, of which each has ceil(tokens / ranks), the last ones fewer; or
                 several such numbers
    group        of torch.distributed; by default all ranks. The mesh has one axis, "tp"
    compile      what compiles the programs, as ccn.compile does

    Before its first call, ccn.torch.join(module, ...) makes the ranks' team. x and the result have the shape [own tokens,
    hidden]. w1 is [hidden, own columns], w2 is [own columns, hidden]; load_whole() sets them from whole matrices. For
    other numbers of tokens, dtypes and devices than it was made for, and on GPUs older than sm_80, PyTorch's operations compute
    the same.

    module(x, tokens=...) says how many tokens all ranks have together in this call, the same on all. Without it the ranks
    add up their numbers before they choose a program, since own tokens do not tell: of 7 tokens as of 8, the first of two
    ranks has 4. That takes a collective of torch.distributed, for which a GPU's stream is waited for, and which
    torch.compile and CUDA graphs do not take.
    """

    def __init__(self, hidden: int, ffn: int, tokens: Union[int, Sequence[int]], group: Any = None, *,
                 dtype: torch.dtype = torch.float32, device: Any = None, schedule: Optional[str] = None,
                 compile: Callable[..., Program] = compile_program) -> None:
        super().__init__(group)
        width = math.ceil(ffn / self.size)
        self._columns = slice(min(width * self.rank, ffn), min(width * (self.rank + 1), ffn))
        own = self._columns.stop - self._columns.start
        self.w1 = torch.nn.Parameter(torch.empty(hidden, own, dtype=dtype, device=device))
        self.w2 = torch.nn.Parameter(torch.empty(own, hidden, dtype=dtype, device=device))
        # As torch.nn.Linear.
        with torch.no_grad():
            self.w1.uniform_(-1 / math.sqrt(hidden), 1 / math.sqrt(hidden))
            self.w2.uniform_(-1 / math.sqrt(ffn), 1 / math.sqrt(ffn))
        sizes = [tokens] if isinstance(tokens, int) else list(tokens)
        self._compile(compile, texts.tensor_parallel_mlp(element_of(dtype)), "mlp", sizes, {"H": hidden, "F": ffn},
                      dtype, device, schedule)

    @torch.no_grad()
    def load_whole(self, w1: torch.Tensor, w2: torch.Tensor) -> None:
        """Takes this rank's slices of whole matrices, [hidden, ffn] and [ffn, hidden]."""
        self.w1.copy_(w1[:, self._columns])
        self.w2.copy_(w2[self._columns])

    def forward(self, x: torch.Tensor, tokens: Optional[int] = None) -> torch.Tensor:
        # Ranks choose alike, as each decides by what all know.
        counts = _counts(x.shape[0], x.device, self.group) if tokens is None else self._parts(tokens)
        if counts[self.rank] != x.shape[0]:
            raise ValueError(f"expected x to have {counts[self.rank]} tokens on rank {self.rank} of {self.size}, of {tokens} "
                             f"together, found {x.shape[0]}")
        tokens = sum(counts)
        suits = tokens in self._pairs and counts == self._parts(tokens) and len(x.shape) == 2
        if suits and self._suits(x, self.w1, self.w2):
            return self._operator(tokens)(x.contiguous(), self.w1, self.w2)[0]
        return self._compute(x, counts)

    def _compute(self, x, counts):
        """The same by PyTorch's operations."""
        rows = _Gather.apply(x, counts, self.group)
        part = torch.nn.functional.gelu(rows @ self.w1) @ self.w2
        return _Scatter.apply(part, counts, self.group)


class AllReduceRMSNorm(_Module):
    """What follows a product whose sum is pending, in a transformer under tensor parallelism: x is summed over the ranks and
    added to the residual stream, whose rows are normalized. One kernel does all of it.

    hidden   the size of a token
    tokens   how many tokens there are; or several such numbers
    eps      is added to the mean of the squares
    group    of torch.distributed; by default all ranks. The mesh has one axis, "tp"
    compile  what compiles the programs, as ccn.compile does

    Before its first call, ccn.torch.join(module, ...) makes the ranks' team. module(x, residual) returns the normalized rows
    and the new residual stream, both [tokens, hidden], the same on all ranks. For other numbers of tokens, dtypes and
    devices than it was made for, and on GPUs older than sm_80, PyTorch's operations compute the same.
    """

    def __init__(self, hidden: int, tokens: Union[int, Sequence[int]], group: Any = None, *, eps: float = 1e-6,
                 dtype: torch.dtype = torch.float32, device: Any = None, schedule: Optional[str] = "oneshot",
                 compile: Callable[..., Program] = compile_program) -> None:
        super().__init__(group)
        self.eps = float(eps)
        self.weight = torch.nn.Parameter(torch.ones(hidden, dtype=dtype, device=device))
        sizes = [tokens] if isinstance(tokens, int) else list(tokens)
        self._compile(compile, texts.all_reduce_rms_norm(element_of(dtype), self.eps), "all_reduce_rms_norm", sizes,
                      {"H": hidden}, dtype, device, schedule)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> Any:
        # All ranks have all tokens.
        if len(x.shape) == 2 and x.shape[0] in self._pairs and self._suits(x, residual, self.weight):
            return self._operator(x.shape[0])(x.contiguous(), residual.contiguous(), self.weight)
        stream = residual + _Sum.apply(x, self.group)
        return torch.nn.functional.rms_norm(stream, (stream.shape[-1],), self.weight, self.eps), stream
