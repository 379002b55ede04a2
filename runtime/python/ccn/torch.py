"""Programs as operators of PyTorch, which torch.compile and CUDA graphs take as they take its own.

    import ccn.torch

    adam = ccn.torch.register(ccn.load("adam.ccnpkg"), "ccn::adam")
    adam(g, p, mom, var, 0.001, 1.0)             # or torch.ops.ccn.adam

The operator takes the program's arguments in their order, tensors, lists of them for scattered ones, and numbers,
writes its inouts and returns its results. It is not differentiable.
"""

from __future__ import annotations

import keyword
import re
from typing import Any, Union

import torch

from ._executor import Executor
from ._program import Program

# What each name was registered for.
_registered = {}


def _number_type(element):
    return "bool" if element.name == "bool" else "float" if element.packing or element.narrow else "int"


def _schema(parameters, results):
    """The operator's type, as PyTorch writes it: "(Tensor g, Tensor(a0!) p, float lr) -> Tensor"."""
    texts = []
    for argument, name in parameters:
        if argument.is_value:
            kind = _number_type(argument.element)
        else:
            kind = f"Tensor(a{len(texts)}!)" if argument.kind == "inout" else "Tensor"
            kind += "[]" if argument.is_scattered else ""
        texts.append(f"{kind} {name}")
    returned = "Tensor" if len(results) == 1 else "(" + ", ".join(["Tensor"] * len(results)) + ")"
    return f"({', '.join(texts)}) -> {returned}"


class _Registration:
    """An operator, what it runs, and what that is."""

    def __init__(self, runner, program, rank):
        self.runner, self.identity, self.operator = runner, (program.hash, program.target, rank), None

    def __call__(self, *values):
        return self.runner(*values)


def _check_name(name):
    if not isinstance(name, str):
        raise TypeError(f"expected a name 'namespace::name', found {type(name).__name__}")
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"expected a name 'namespace::name', found {name!r}")
    namespace, _, own = name.partition("::")
    if name not in _registered and hasattr(getattr(torch.ops, namespace), own):
        raise ValueError(f"expected a name that is no operator's yet, found {name!r}")


def register(runner: Union[Program, Executor], name: str) -> Any:
    """Registers a program under a name, "namespace::name", and returns the operator.

    A name is one package's, for one rank: registering another one under it is a ValueError, as is the name of an
    operator that others have made. What is registered again, such as a package that was loaded anew, is what the
    operator runs from then on.

    runner is a Program, which then runs as its own calls do: it has one rank, or ccn.join has made a team with it. Or
    an Executor, for the rank that it is on; ranks that are threads need an operator each. Tensors are checked as the
    runner's call checks them. Numbers are part of what torch.compile compiles for, and of captured graphs.
    """
    executor = runner.executor() if isinstance(runner, Program) else runner
    program = executor.program
    _check_name(name)
    made = _Registration(runner, program, executor.rank)
    before = _registered.get(name)
    if before is not None:
        if before.identity != made.identity:
            raise ValueError(f"{name!r} is registered for another program, or another rank; expected another name")
        before.runner = runner
        return before.operator
    arguments = [argument for argument in program.arguments if argument.kind != "result"]
    results = [argument for argument in program.arguments if argument.kind == "result"]
    # Python's keywords cannot be names in a schema.
    names = [argument.name + "_" * keyword.iskeyword(argument.name) for argument in arguments]
    written = [name for argument, name in zip(arguments, names) if argument.kind == "inout"]

    schema = _schema(list(zip(arguments, names)), results)
    # What it calls has to be a function.
    made.operator = torch.library.custom_op(name, lambda *values: made(*values), mutates_args=written, schema=schema)
    made.operator.register_fake(executor.shapes_of_call)
    _registered[name] = made
    return made.operator
