"""DTensors in and out of programs: their placements are those that the programs' layouts say."""

from __future__ import annotations

import math
from typing import Any, Callable, Tuple

import torch

from .._program import Argument
from ._ranks import mesh
from ._shared import registration_of


def placements_of(argument: Argument) -> Tuple[Any, ...]:
    """The placements that a DTensor of an argument or result has, one for each axis of the mesh. A ValueError if DTensors
    have none: where it is local, or cut along one dimension by an inner axis before an outer one, or unevenly by
    several."""
    return _placements(argument, argument.name, argument.layout)


def _placements(argument, name, layout):
    """Those of an argument or of its gradient, whose name and layout these are."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    type_name, axes = argument.type_name, argument.axes
    cuts = {}
    for axis, state in layout.items():
        if state.kind == "sliced":
            cuts.setdefault(state.dim, []).append(axes.index(axis))
    if any(places != sorted(places) for places in cuts.values()):
        raise ValueError(f"argument '{name}': expected a dimension that is cut by axes in the mesh's order, as DTensors "
                         f"are, found {type_name}")
    for dim, places in cuts.items():
        # DTensors cut what an outer axis has left, in other places than ccn unless all parts have one size.
        sizes = [size for size in (argument._mesh[axes[place]] for place in places) if size > 1]
        if len(sizes) > 1 and argument.shape[dim] % math.prod(sizes):
            raise ValueError(f"argument '{name}': expected dimension {dim}, which several axes cut, to be a multiple of "
                             f"{math.prod(sizes)}, found {type_name}")
    made = []
    for axis in axes:
        state = layout[axis]
        if state.kind == "local":
            raise ValueError(f"argument '{name}': {type_name} is no DTensor, as ranks hold different values")
        made.append(Shard(state.dim) if state.kind == "sliced" else Replicate() if state.kind == "replicated" else
                    Partial({"prod": "product"}.get(state.reduction, state.reduction)))
    return tuple(made)


def as_argument(argument: Argument, value: Any) -> Any:
    """A gradient as a backward program takes it: of DTensors autograd chooses the placements."""
    if not hasattr(value, "placements"):
        return value.contiguous()
    return value.redistribute(value.device_mesh, placements_of(argument))


def _is_local(argument):
    return any(state.kind == "local" for state in argument.layout.values())


def _strides(shape):
    return tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))


class _OnMesh:
    """An operator that takes and returns DTensors of a mesh."""

    def __init__(self, made, device_mesh):
        self.operator, self.device_mesh, self.program = made.operator, device_mesh, made.program
        self.where = f"program '{self.program.name}'"
        found, expected = mesh(device_mesh), self.program.mesh
        if list(found.items()) != list(expected.items()):
            raise ValueError(f"{self.where}: expected a DeviceMesh of {expected}, found {found}")
        rank, place = made.identity[2], 0
        for size, coordinate in zip(device_mesh.shape, device_mesh.get_coordinate() or [-1] * len(expected)):
            place = place * size + coordinate
        if place != rank:
            raise ValueError(f"{self.where}: expected rank {rank} of the team at its row-major place in the DeviceMesh, "
                             f"found rank {place}")
        self.parameters = [argument for argument in self.program.arguments if argument.kind != "result"]
        self.writes = any(argument.kind == "inout" for argument in self.parameters)
        self.results = [argument for argument in self.program.arguments if argument.kind == "result"]
        # Says now what no DTensor can be.
        self.placements = {argument.name: None if argument.is_value or _is_local(argument) else placements_of(argument)
                           for argument in self.program.arguments}
        self.of_gradients = {argument.name: self._of_gradient(made.gradients, argument) for argument in self.parameters}

    def _of_gradient(self, gradients, argument):
        """The placements that the gradient of an argument comes with; None where it has none."""
        layout = gradients and gradients.layout_of_result(argument.name)
        if not layout or self.placements[argument.name] is None:
            return None
        return _placements(argument, "grad_" + argument.name, layout)

    def __call__(self, *values):
        if len(values) != len(self.parameters):
            raise TypeError(f"{self.where}: expected {len(self.parameters)} arguments, found {len(values)}")
        local = [self._take_list(argument, value) if argument.is_scattered else self._take(argument, value)
                 for argument, value in zip(self.parameters, values)]
        made = self.operator(*local)
        if not self.results:
            return None
        made = made if isinstance(made, (tuple, list)) else [made]
        results = tuple(self._give(argument, value) for argument, value in zip(self.results, made))
        return results[0] if len(results) == 1 else results

    def _take_list(self, argument, values):
        if any(state.kind == "sliced" for state in argument.layout.values()):
            raise self._error(ValueError, argument, f"{argument.type_name} cannot be given as DTensors")
        return [self._take(argument, value, is_whole=False)
                for value in (values if isinstance(values, (tuple, list)) else [values])]

    def _take(self, argument, value, is_whole=True):
        """The rank's own part of what is passed."""
        from torch.distributed.tensor import DTensor

        expected = self.placements[argument.name]
        if expected is None:
            if isinstance(value, DTensor):
                raise self._error(TypeError, argument, f"expected the rank's own {argument.type_name}, found a DTensor")
            return value
        if not isinstance(value, DTensor):
            raise self._error(TypeError, argument, f"expected a DTensor, found {type(value).__name__}")
        if value.device_mesh != self.device_mesh:
            raise self._error(ValueError, argument, f"expected a DTensor on {self.device_mesh}, found one on "
                                                    f"{value.device_mesh}")
        if tuple(value.placements) != expected:
            raise self._error(ValueError, argument, f"expected placements {list(expected)}, as of {argument.type_name}, "
                                                    f"found {list(value.placements)}; expected redistribute() before")
        if self.writes and value.requires_grad and torch.is_grad_enabled():
            raise self._error(ValueError, argument, "it requires a gradient, which ccn does not compute; expected "
                                                    "torch.no_grad() or detach()")
        if is_whole and tuple(value.shape) != argument.shape:
            raise self._error(ValueError, argument, f"expected shape {list(argument.shape)}, found {list(value.shape)}")
        gradients = self.of_gradients[argument.name]
        local = value.to_local() if gradients is None else value.to_local(grad_placements=gradients)
        # How DTensors that PyTorch has cut lie in memory differs.
        return local if argument.kind == "inout" else local.contiguous()

    def _give(self, argument, value):
        from torch.distributed.tensor import DTensor

        placements = self.placements[argument.name]
        if placements is None:
            return value
        return DTensor.from_local(value, self.device_mesh, placements, run_check=False, shape=torch.Size(argument.shape),
                                  stride=_strides(argument.shape))

    def _error(self, kind, argument, text):
        return kind(f"{self.where}: argument '{argument.name}': {text}")


def _on_mesh(made, device_mesh):
    if device_mesh not in made.on_meshes:
        made.on_meshes[device_mesh] = _OnMesh(made, device_mesh)
    return made.on_meshes[device_mesh]


def _meshes_of(values):
    from torch.distributed.tensor import DTensor

    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _meshes_of(value)
        elif isinstance(value, DTensor):
            yield value.device_mesh


def register_rule(library: Any, name: str, made: Any) -> None:
    """Makes PyTorch call an operator with DTensors as with_dtensors does: on the mesh of the first one."""
    if not torch.distributed.is_available():
        return
    from torch.distributed.tensor import DTensor

    def rule(cls, function, types, values=(), named=None):
        return _on_mesh(made, next(_meshes_of(values)))(*values)

    torch.library.register_torch_dispatch(name, DTensor, rule, lib=library)


def with_dtensors(operator: Any, device_mesh: Any) -> Callable[..., Any]:
    """A function that calls an operator of ccn.torch.register with DTensors, and returns DTensors.

    The mesh of the program is that of the DeviceMesh, by names and sizes in their order, and the rank in the team is the
    row-major place in it. Each tensor is a DTensor with the placements that the argument's layout says (placements_of):
    sliced(d) is Shard(d), replicated is Replicate(), partial(sum) is Partial("sum"). Other placements are a ValueError:
    nothing is redistributed unasked. A value that is local is the rank's own tensor, in and out, and numbers are
    numbers. Gradients are DTensors with the placements of the backward program's layouts.

    The operator does the same by itself where it is called with DTensors. What this adds is that a wrong mesh is told at once,
    and that results are DTensors also where no argument is one.
    """
    return _on_mesh(registration_of(operator), device_mesh).__call__
