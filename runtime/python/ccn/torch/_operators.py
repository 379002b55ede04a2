"""Programs as operators of PyTorch, with gradients that other programs compute."""

from __future__ import annotations

import keyword
import re
from typing import Any, Optional, Union

import torch

from .._executor import Executor
from .._program import Program
from ._dtensors import register_rule
from ._gradients import Gradients
from ._shared import Registration, registered
from ._transforms import register_transforms

# Of each namespace, so that they stay.
_libraries = {}


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


def _check_name(name):
    if not isinstance(name, str):
        raise TypeError(f"expected a name 'namespace::name', found {type(name).__name__}")
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"expected a name 'namespace::name', found {name!r}")
    namespace, _, own = name.partition("::")
    if name not in registered and hasattr(getattr(torch.ops, namespace), own):
        raise ValueError(f"expected a name that is no operator's yet, found {name!r}")


def _executor_of(runner):
    if not isinstance(runner, (Program, Executor)):
        raise TypeError(f"expected a ccn.Program or a ccn.Executor, found {type(runner).__name__}")
    return runner.executor() if isinstance(runner, Program) else runner


def _define(name, schema, made, executor, gradients):
    """Makes the operator. torch.library.custom_op does the same, but a call of what it makes takes some 10 us more."""
    namespace, _, own = name.partition("::")
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    library, where = _libraries[namespace], f"program '{made.program.name}'"
    library.define(own + schema, tags=(torch.Tag.pt2_compliant_tag,))
    # What it calls has to be a function, into which torch.compile does not look.
    library.impl(own, torch.compiler.disable(lambda *values: made(*values)), "CompositeExplicitAutograd")
    torch.library.register_fake(name, executor.shapes_of_call, lib=library)
    operator = getattr(getattr(torch.ops, namespace), own).default
    written = [argument.name for argument in made.program.arguments if argument.kind == "inout"]
    if gradients is not None:
        torch.library.register_autograd(name, gradients.compute, setup_context=gradients.save, lib=library)
    elif not written:
        def refuse(ctx, *grads):
            raise RuntimeError(f"{where} has no gradient; expected `backward` in ccn.torch.register")

        torch.library.register_autograd(name, refuse, lib=library)
    register_transforms(library, own, operator, made.program, gradients)
    register_rule(library, name, made)
    return operator


def register(runner: Union[Program, Executor], name: str, backward: Optional[Union[Program, Executor]] = None) -> Any:
    """Registers a program under a name, "namespace::name", and returns the operator.

    The operator takes the program's arguments in their order, tensors, lists of them for scattered ones, and numbers,
    writes its inouts and returns its results. torch.compile, torch.export and CUDA graphs take it as they take PyTorch's own;
    so does torch.func if there are no inouts and no lists: grad, vjp and jacrev by `backward`, and vmap, which runs the
    program once for each row. What has forward-mode gradients (jvp) is refused, as are gradients of gradients.

    A name is one package's, for one rank: registering another one under it is a ValueError, as is the name of an
    operator that others have made. What is registered again, such as a package that was loaded anew, is what the
    operator runs from then on.

    runner is a Program, which then runs as its own calls do: it has one rank, or ccn.join has made a team with it. Or
    an Executor, for the rank that it is on; ranks that are threads need an operator each. Tensors are checked as the
    runner's call checks them. Numbers are part of what torch.compile compiles for, and of captured graphs.

    Of a program of several ranks it takes and returns either the rank's own parts, or DTensors, whose placements are those that
    placements_of says; others are a ValueError. with_dtensors says the rest.

    backward is the program that computes gradients, on the same mesh; without it a gradient is an error, and so is, of a
    program that writes arguments, a call with what needs one. Of
    the forward program, which then has no inouts, it takes what it needs by name: its arguments, its results, and for
    each result `y` the gradient `grad_y`. It returns `grad_x` for each argument `x` that has a gradient. Types are
    checked here:

        what it takes by the name of an argument or result has that one's type and layout,
        a gradient has the type of what it is the gradient of, and its layout, with two exceptions: the gradient of a
        value that is partial(sum) is replicated, and grad_x of a replicated argument may be partial(sum): each rank then
        has a summand, and the caller adds them, as data parallelism does anyway,
        a result that it takes, or whose gradient it takes, is no scalar: f32[1] stands for f32, as autograd has tensors,
        a result of floats whose gradient it does not take is one that it takes itself: it was saved for it, and is not
        differentiable.
    """
    executor = _executor_of(runner)
    program = executor.program
    _check_name(name)
    gradients = None
    if backward is not None:
        of_backward = _executor_of(backward)
        if of_backward.rank != executor.rank:
            raise ValueError(f"program '{of_backward.program.name}': expected rank {executor.rank}, as of program "
                             f"'{program.name}', found {of_backward.rank}")
        gradients = Gradients(program, of_backward.program)
    made = Registration(runner, program, executor.rank, gradients)
    before = registered.get(name)
    if before is not None:
        if before.identity != made.identity:
            raise ValueError(f"{name!r} is registered for another program, or another rank; expected another name")
        if backward is not None:
            register(backward, name + "_backward")
        before.runner, before.program = runner, program
        return before.operator
    if gradients is not None:
        gradients.operator = register(backward, name + "_backward")
    arguments = [argument for argument in program.arguments if argument.kind != "result"]
    results = [argument for argument in program.arguments if argument.kind == "result"]
    # Python's keywords cannot be names in a schema.
    names = [argument.name + "_" * keyword.iskeyword(argument.name) for argument in arguments]
    made.operator = _define(name, _schema(list(zip(arguments, names)), results), made, executor, gradients)
    registered[name] = made
    return made.operator
