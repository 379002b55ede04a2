"""What a program and its backward program have to do with each other, and what autograd calls."""

from __future__ import annotations

import torch

from .._layouts import AxisState
from ._dtensors import as_argument

_PREFIX = "grad_"
_REPLICATED = AxisState("replicated")
_PARTIAL = AxisState("partial", reduction="sum")


def _is_float(argument):
    return bool(argument.element.packing or argument.element.narrow)


def _shown(layout):
    """A layout as an error shows it."""
    return " ".join(f"{state} on {axis}" for axis, state in layout.items())


class Gradients:
    """How a backward program computes the gradients of a program, its forward one; made by register, which says what
    fits. Anything else is a ValueError."""

    def __init__(self, forward, backward):
        self.forward, self.program, self.operator = forward, backward, None
        self._where = f"program '{backward.name}', as the backward of '{forward.name}'"
        self._inputs = [argument for argument in forward.arguments if argument.kind != "result"]
        self._outputs = [argument for argument in forward.arguments if argument.kind == "result"]
        for what in ("mesh", "target"):
            if getattr(forward, what) != getattr(backward, what):
                raise ValueError(f"{self._where}: expected {what} {getattr(forward, what)}, found "
                                 f"{getattr(backward, what)}")
        for program in (forward, backward):
            for argument in program.arguments:
                if argument.kind == "inout" or argument.is_scattered:
                    what = "is scattered" if argument.is_scattered else "is written"
                    raise ValueError(f"{self._where}: argument '{argument.name}' of '{program.name}' {what}; expected "
                                     "programs without such arguments")
        # Of each argument of the backward program, where it comes from: which list, and the place in it.
        self._sources = [self._source(argument) for argument in backward.arguments if argument.kind != "result"]
        # Of each argument of the forward program, the place of its gradient among the results.
        self._places = self._match_results()
        self._check_outputs()

    def _named(self, name):
        """An argument or result of the forward program, and where it is."""
        for kind, listed in (("input", self._inputs), ("output", self._outputs)):
            for place, argument in enumerate(listed):
                if argument.name == name:
                    return kind, place, argument
        return None

    def _source(self, argument):
        found = self._named(argument.name)
        if found is not None:
            kind, place, wanted = found
            if kind == "output":
                self._check_is_tensor(argument, wanted)
            self._check(argument, wanted, wanted.layout)
            return kind, place
        own = argument.name[len(_PREFIX):] if argument.name.startswith(_PREFIX) else None
        place = next((i for i, output in enumerate(self._outputs) if output.name == own), None)
        if place is None:
            raise ValueError(f"{self._where}: argument '{argument.name}': expected the name of an argument or result of "
                             f"'{self.forward.name}', or '{_PREFIX}' and that of a result")
        self._check_is_tensor(argument, self._outputs[place])
        self._check(argument, self._outputs[place], self._layout_of_gradient(self._outputs[place]))
        return "gradient", place

    def _check_is_tensor(self, argument, output):
        """The operator takes scalars as numbers, but autograd has a tensor of each result and of its gradient."""
        if argument.is_value:
            raise ValueError(f"{self._where}: argument '{argument.name}': expected {argument.type}[1], as autograd passes a "
                             f"tensor, found {argument.type_name}; so result '{output.name}' of '{self.forward.name}' is to "
                             f"be {argument.type}[1]")

    def _match_results(self):
        results = [argument for argument in self.program.arguments if argument.kind == "result"]
        places = [None] * len(self._inputs)
        for place, result in enumerate(results):
            own = result.name[len(_PREFIX):] if result.name.startswith(_PREFIX) else None
            to = next((i for i, argument in enumerate(self._inputs) if argument.name == own), None)
            if to is None:
                raise ValueError(f"{self._where}: result '{result.name}': expected '{_PREFIX}' and the name of an "
                                 f"argument of '{self.forward.name}'")
            argument = self._inputs[to]
            if not _is_float(argument) or argument.is_value:
                raise ValueError(f"{self._where}: result '{result.name}': '{own}' is {argument.type_name}, which has no "
                                 "gradient")
            # Where the argument is replicated, ranks may have summands.
            free = {axis for axis, state in argument.layout.items()
                    if state == _REPLICATED and result.layout[axis] == _PARTIAL}
            self._check(result, argument, {**self._layout_of_gradient(argument), **dict.fromkeys(free, _PARTIAL)})
            places[to] = place
        return places

    def _layout_of_gradient(self, argument):
        layout = {}
        for axis, state in argument.layout.items():
            if state.kind == "partial" and state != _PARTIAL:
                raise ValueError(f"{self._where}: '{argument.name}' is {argument.type_name}, which has no gradient")
            layout[axis] = _REPLICATED if state == _PARTIAL else state
        return layout

    def _check(self, argument, wanted, layout):
        if argument.element is not wanted.element or argument.shape != wanted.shape:
            raise ValueError(f"{self._where}: '{argument.name}': expected the elements and shape of '{wanted.name}', "
                             f"{wanted.type_name}, found {argument.type_name}")
        if argument.layout != layout:
            raise ValueError(f"{self._where}: '{argument.name}': expected the layout {_shown(layout)}, as '{wanted.name}' is "
                             f"{wanted.type_name}, found {_shown(argument.layout)}")

    def _check_outputs(self):
        self._saved = []
        for place, output in enumerate(self._outputs):
            if ("gradient", place) in self._sources or not _is_float(output):
                continue
            if ("output", place) not in self._sources:
                raise ValueError(f"{self._where}: expected an argument '{_PREFIX}{output.name}', or '{output.name}' if that "
                                 "is only saved, found neither")
            self._saved.append(place)

    # What PyTorch calls, with these names.

    def save(self, ctx, inputs, output):
        """Keeps what the backward program takes of the forward one's arguments and results."""
        outputs = output if isinstance(output, (tuple, list)) else [output]
        tensors, ctx.numbers = [], []
        for kind, place in self._sources:
            if kind == "gradient":
                continue
            value = (inputs if kind == "input" else outputs)[place]
            if isinstance(value, torch.Tensor):
                tensors.append(value)
            else:
                ctx.numbers.append(value)
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*(outputs[place] for place in self._saved))

    def compute(self, ctx, *gradients):
        """The gradients of the arguments, None where there is none."""
        tensors, numbers = iter(ctx.saved_tensors), iter(ctx.numbers)
        values = []
        arguments = (argument for argument in self.program.arguments if argument.kind != "result")
        for argument, (kind, place) in zip(arguments, self._sources):
            if kind == "gradient":
                # That of a sum is one number, seen as many.
                values.append(as_argument(argument, gradients[place]))
            elif kind == "input" and self._inputs[place].is_value:
                values.append(next(numbers))
            else:
                values.append(next(tensors))
        results = self.operator(*values)
        results = results if isinstance(results, (tuple, list)) else [results]
        found = tuple(None if place is None else results[place] for place in self._places)
        return found[0] if len(found) == 1 else found

    def layout_of_result(self, name):
        """The layout of the gradient of an argument; None if it has none."""
        for argument in self.program.arguments:
            if argument.kind == "result" and argument.name == _PREFIX + name:
                return argument.layout
        return None
