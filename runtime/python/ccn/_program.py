"""Programs: packages that are ready to be run by this process, and what their arguments are."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from . import _cuda, _html
from ._elements import TYPES, ElementType
from ._executor import Executor
from ._layouts import AxisState, layout_of
from ._library import ArgumentError, ArgumentInfo, PartInfo, ProgramHandle, ProgramInfo, int32, lib, text
from ._team import Team, joined_team

_TARGETS = {None: 0, "cpu": 1, "gpu": 2}
_KINDS = ("input", "inout", "result")


class Part(NamedTuple):
    """The part of a tensor that a rank holds: where it begins in the whole tensor, and its shape."""

    offset: Tuple[int, ...]
    shape: Tuple[int, ...]


class Argument:
    """An argument or a result of a program.

    name            as the program has it
    type            of the elements, as the language has it: "f32"
    type_name       with shape and layout: "f32[1003] sliced(0, dp)"
    kind            "input", which is read; "inout", which is read and written; "result"
    shape           of the whole tensor; () is a scalar
    layout          its state on each axis of the mesh: {"dp": AxisState("sliced", dim=0)}
    axes            the axes of the mesh, in order
    is_replicated   whether some ranks hold the same part, which must have the same values
    is_scattered    whether it is passed as a list of tensors, of any shapes, whose elements are its own in their order
    """

    name: str
    type_name: str
    kind: str
    element: ElementType
    shape: Tuple[int, ...]
    layout: Dict[str, AxisState]
    axes: Tuple[str, ...]
    is_replicated: bool
    is_scattered: bool

    def __init__(self, handle: ProgramHandle, index: int, info: ArgumentInfo, mesh: Dict[str, int]) -> None:
        self._handle, self._index = handle, index
        self.name = text(info.name)
        self.type_name = text(info.type_name)
        self.kind = _KINDS[info.kind]
        self.element = TYPES[info.type]
        self.shape = tuple(info.shape[i] for i in range(info.dims))
        self.layout = layout_of(self.type_name, mesh)
        self.axes = tuple(mesh)
        self._mesh = mesh
        self.is_replicated = bool(info.is_replicated)
        self.is_scattered = bool(info.is_scattered)

    @property
    def type(self) -> str:
        return self.element.name

    @property
    def is_value(self) -> bool:
        """Whether it is passed as a number."""
        return self.kind == "input" and not self.shape

    def part(self, rank: int) -> Part:
        """The Part that a rank holds, whose shape the rank's tensor has."""
        info = PartInfo()
        with self._handle as program:
            lib.ccn_program_part(program, self._index, int32(rank), ctypes.byref(info))
            return Part(tuple(info.offset[i] for i in range(info.dims)), tuple(info.shape[i] for i in range(info.dims)))

    def __repr__(self):
        return f"<ccn.Argument {self.kind} {self.name}: {self.type_name}>"


class Program:
    """A program that ccn.load has loaded.

    name, schedule   what the program and its schedule are called; no schedule is ""
    signature, hash  its ranks and arguments as text; of the package, 64 hexadecimal digits
    target           what executes it, "cpu" or "gpu"
    mesh             the sizes of the mesh's axes by their names, in order
    ranks            how many ranks it has: a rank is the row-major index of its coordinates in the mesh
    arguments        a tuple of Argument, those that are passed and then the results

    Calling it runs it, as Executor does that on() gives.
    """

    name: str
    schedule: str
    signature: str
    hash: str
    target: str
    mesh: Dict[str, int]
    ranks: int
    arguments: Tuple[Argument, ...]
    handle: ProgramHandle

    def __init__(self, source: Union[str, os.PathLike, bytes], target: Optional[str] = None) -> None:
        if target not in _TARGETS:
            raise ValueError(f"expected target 'cpu', 'gpu' or None, found {target!r}")
        pointer = ctypes.c_void_p()
        if isinstance(source, (bytes, bytearray, memoryview)):
            package = bytes(source)
            lib.ccn_program_load_memory(package, len(package), _TARGETS[target], ctypes.byref(pointer))
        else:
            path = os.fsencode(source)
            # As a string of C it would end there.
            if b"\0" in path:
                raise ValueError(f"expected a path without NUL characters, found {source!r}")
            lib.ccn_program_load(path, _TARGETS[target], ctypes.byref(pointer))
        info = ProgramInfo()
        lib.ccn_program_describe(pointer, ctypes.byref(info))
        self.name = text(info.name)
        self.schedule = text(info.schedule)
        self.signature = text(info.signature)
        self.hash = text(info.hash)
        self.target = "cpu" if info.target == _TARGETS["cpu"] else "gpu"
        if self.target == "gpu":
            _cuda.load()
        self.mesh = {text(info.mesh[i].name): info.mesh[i].size for i in range(info.mesh_axes)}
        self.ranks = info.ranks
        self.handle = ProgramHandle(pointer.value, f"program '{self.name}'")
        # Arguments keep it, too. Where Python ends it need not be.
        self._release = weakref.finalize(self.handle, lib.ccn_program_release, pointer.value)
        self._release.atexit = False
        self.arguments = tuple(self._argument(pointer, i) for i in range(info.arguments))
        self._lock = threading.Lock()
        self._own_team = None
        self._last = None, None

    def _argument(self, pointer, index):
        info = ArgumentInfo()
        lib.ccn_program_argument(pointer, index, ctypes.byref(info))
        return Argument(self.handle, index, info, self.mesh)

    def argument(self, name: str) -> Argument:
        """The argument or result of that name."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise KeyError(f"program '{self.name}' has no argument '{name}'")

    def on(self, team: Team, rank: Optional[int] = None) -> Executor:
        """The Executor of this program on a rank of a team that lists it; the same one each time.

        The rank is by default that of this process. Waits for nothing: what has to be done by all ranks is done in
        the first call of the executor.
        """
        return team.executor(self, rank)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Runs the program once, as Executor's call does: if it has one rank, or on the rank that this process has in
        the team that ccn.join has made. Ranks that are threads call program.on(team, rank)."""
        return self.executor()(*arguments, **options)

    def executor(self) -> Executor:
        """The Executor that calls of the program use."""
        team = joined_team()
        # The team whose executor it was last, and that.
        known, executor = self._last
        if known is not None and not known.is_closed and (known is team or team is None):
            return executor
        if team is not None and self in team.programs:
            self._last = team, team.executor(self)
            return self._last[1]
        if self.ranks == 1:
            with self._lock:
                if self._own_team is None or self._own_team.is_closed:
                    self._own_team = Team(self)
                executor = self._own_team.executor(self, 0)
                self._last = (self._own_team, executor) if team is None else (None, None)
                return executor
        raise ArgumentError(f"program '{self.name}' has {self.ranks} ranks; expected program.on(team, rank) with a "
                            "ccn.Team, or ccn.join in processes that a launcher started")

    def synchronize(self, stream: Any = None) -> None:
        """Waits until runs are done, and raises what they could not do: see Executor.synchronize."""
        self.executor().synchronize(stream)

    def close(self) -> None:
        """Gives up the program, which teams that have it keep until they are closed."""
        with self._lock:
            if self._own_team is not None:
                self._own_team.close()
            if self.handle.give_up() is not None:
                self._release()

    def __enter__(self) -> Program:
        return self

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: Any) -> Program:
        # A program does not change, and ranks run the one that their team lists.
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"program '{self.name}' was loaded from a package; expected a program of ccn.compile to pickle, or pickle "
                        "the package")

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return _html.of_program(self)

    def __repr__(self):
        schedule = f", schedule '{self.schedule}'" if self.schedule else ""
        return f"<ccn.{type(self).__name__} '{self.name}'{schedule}: {self.ranks} ranks, {self.target}>"
