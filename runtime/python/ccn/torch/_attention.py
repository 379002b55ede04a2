"""Attention whose tokens are cut over ranks, as a module: keys and values go round."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

import torch

from .._compiler import compile as compile_program
from .._program import Program
from . import texts
from ._modules import _counts, _Gather, _Module
from ._shared import element_of


class RingAttention(_Module):
    """softmax(q kᵀ scale) v, as torch.nn.functional.scaled_dot_product_attention, under context parallelism (Liu et al., Ring
    Attention, 2023): each rank of a process group has its own tokens' queries, keys and values. Blocks of keys and values go
    round by sends, and each rank adds to what it has: no rank ever holds the keys of all tokens, nor their scores.

    heads, head_dim  how many heads the queries have, and the size of one
    tokens           how many tokens all ranks have together, of which each has ceil(tokens / ranks), the last ones fewer, in
                     the order of the ranks; or several such numbers
    batch            how many sequences there are
    kv_heads         how many heads keys and values have: each serves heads / kv_heads heads of the queries, which are next
                     to each other; by default as many as the queries
    is_causal        a token attends only to those up to itself
    scale            by default 1 / sqrt(head_dim)
    group            of torch.distributed; by default all ranks. The mesh has one axis, "cp"
    compile          what compiles the programs, as ccn.compile does

    Before its first call, ccn.torch.join(module, ...) makes the ranks' team. module(q, k, v) takes q of the shape [batch,
    heads, own tokens, head_dim], k and v of [batch, kv_heads, own tokens, head_dim], and returns what q's shape has. Scores and
    sums are f32 at least, also of 16-bit floats. A program serves all numbers of tokens of which the first rank has as many.
    For others, for other batches, dtypes and devices than it was made for, and on GPUs older than sm_80, PyTorch's operations
    compute the same of gathered keys and values.

    module(q, k, v, tokens=...) says how many tokens all ranks have together in this call, the same on all. Without it the ranks
    add up their numbers, as TensorParallelMLP does.
    """

    _axis = "cp"

    def __init__(self, heads: int, head_dim: int, tokens: Union[int, Sequence[int]], batch: int = 1,
                 kv_heads: Optional[int] = None, group: Any = None, *, is_causal: bool = False,
                 scale: Optional[float] = None, dtype: torch.dtype = torch.float32, device: Any = None,
                 schedule: Optional[str] = None, compile: Callable[..., Program] = compile_program) -> None:
        super().__init__(group)
        kv_heads = heads if kv_heads is None else kv_heads
        if heads < 1 or kv_heads < 1 or heads % kv_heads:
            raise ValueError(f"expected heads to be a multiple of kv_heads, found {heads} and {kv_heads}")
        self.heads, self.kv_heads, self.head_dim, self.batch = heads, kv_heads, head_dim, batch
        self.is_causal = bool(is_causal)
        self.scale = 1 / math.sqrt(head_dim) if scale is None else float(scale)
        sizes = [tokens] if isinstance(tokens, int) else list(tokens)
        blocks = sorted({-(-size // self.size) for size in sizes if size > 0})
        text = texts.ring_attention(element_of(dtype), self.size, self.is_causal, self.scale)
        params = {"B": batch, "G": kv_heads, "N": heads // kv_heads, "D": head_dim}
        self._compile(compile, text, "ring_attention", blocks, params, dtype, device, schedule)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, tokens: Optional[int] = None) -> torch.Tensor:
        self._check(q, k, v)
        own = q.shape[2]
        # Ranks choose alike, as each decides by what all know.
        counts = _counts(own, q.device, self.group) if tokens is None else self._parts(tokens)
        if counts[self.rank] != own:
            raise ValueError(f"expected q to have {counts[self.rank]} tokens on rank {self.rank} of {self.size}, of {tokens} "
                             f"together, found {own}")
        tokens, block = sum(counts), counts[0]
        suits = block in self._pairs and counts == self._parts(tokens) and q.shape[0] == self.batch
        if not suits or not self._suits(q, k, v):
            return self._compute(q, k, v, counts)
        # Blocks are as long as the first one. What is added is masked, or left out of the result.
        if own < block:
            q, k, v = (torch.nn.functional.pad(value, (0, 0, 0, block - own)) for value in (q, k, v))
        y, _ = self._operator(block)(q.contiguous(), k.contiguous(), v.contiguous(), self.rank, tokens)
        return y if own == block else y[:, :, :own]

    def _check(self, q, k, v):
        for name, value, heads in (("q", q, self.heads), ("k", k, self.kv_heads), ("v", v, self.kv_heads)):
            expected = q.shape[0], heads, q.shape[2] if len(q.shape) == 4 else "tokens", self.head_dim
            if tuple(value.shape) != expected:
                raise ValueError(f"expected {name} of the shape [batch, {heads}, own tokens, {self.head_dim}], the same tokens for "
                                 f"q, k and v, found {list(value.shape)}")

    def _compute(self, q, k, v, counts):
        """The same by PyTorch's operations."""
        def whole(value):
            rows = _Gather.apply(value.transpose(0, 2).contiguous(), counts, self.group).transpose(0, 2)
            return rows.repeat_interleave(self.heads // self.kv_heads, 1)

        mask, begin = None, sum(counts[:self.rank])
        if self.is_causal:
            keys = torch.arange(sum(counts), device=q.device)
            mask = keys <= keys[begin:begin + q.shape[2]].unsqueeze(1)
        return torch.nn.functional.scaled_dot_product_attention(q, whole(k), whole(v), attn_mask=mask, scale=self.scale)
