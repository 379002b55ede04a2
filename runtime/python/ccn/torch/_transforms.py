"""What torch.func does with operators: gradients (grad, vjp, jacrev) and loops over a batch (vmap)."""

from __future__ import annotations

import torch

def _made(results):
    return results if isinstance(results, (tuple, list)) else (results,)


def _function_of(operator, where, gradients):
    """The operator as a function that torch.func can transform."""

    class Transformed(torch.autograd.Function):
        @staticmethod
        def forward(*values):
            return operator(*values)

        @staticmethod
        def setup_context(ctx, inputs, output):
            if gradients is not None:
                gradients.save(ctx, inputs, output)

        @staticmethod
        def backward(ctx, *grads):
            if gradients is None:
                raise RuntimeError(f"{where} has no gradient; expected `backward` in ccn.torch.register")
            return gradients.compute(ctx, *grads)

        @staticmethod
        def vmap(info, dims, *values):
            # One run after the other, in the same order on all ranks.
            if info.batch_size == 0:
                raise ValueError(f"{where}: expected a batch of one at least in torch.vmap, found none")
            rows = [_made(operator(*(value if dim is None else value.select(dim, row).contiguous()
                                     for value, dim in zip(values, dims)))) for row in range(info.batch_size)]
            stacked = tuple(torch.stack(results) for results in zip(*rows))
            return (stacked, (0,) * len(stacked)) if len(stacked) > 1 else (stacked[0], 0)

        @staticmethod
        def jvp(ctx, *tangents):
            raise RuntimeError(f"{where} has no forward-mode gradient; expected grad, vjp or jacrev")

    return Transformed


def register_transforms(library, name, operator, program, gradients):
    """Says what torch.func's transformations make of an operator."""
    where = f"program '{program.name}'"
    function = _function_of(operator, where, gradients)
    written = [argument.name for argument in program.arguments if argument.kind == "inout" or argument.is_scattered]

    def transform(*values):
        if written:
            raise RuntimeError(f"{where}: argument '{written[0]}' is written, or a list; torch.func takes programs without such "
                               "arguments")
        return function.apply(*values)

    # PyTorch calls this, rather than the operator, where a transformation is active.
    library.impl(name, transform, "FuncTorchDynamicLayerFrontMode")
