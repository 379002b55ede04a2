"""Python functions that are programs: compiled for the shapes with which they are called."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import re
import textwrap
import threading
from typing import Any, Callable, NamedTuple, Optional, Tuple, Union

from . import _compiler
from ._compiler import CompiledProgram, Source


class _Node:
    """A line of a syntax tree as cccompile prints it, "arg x 9:16", and those that are indented below it."""

    def __init__(self, words):
        self.words, self.children = words, []

    def named(self, *kinds):
        return [child for child in self.children if child.words[0] in kinds]


def _tree(printed):
    top = _Node([])
    path = [top]
    for line in printed.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        # The last word is the place.
        node = _Node(line.split()[:-1])
        del path[depth + 1:]
        path[-1].children.append(node)
        path.append(node)
    return top


class _Parameter(NamedTuple):
    """An argument of a program's text. Of each dimension `sizes` has the name that is its size, None if that is something
    else; `is_cut` tells whether ranks may hold a part of it."""

    name: str
    type_name: str
    sizes: Tuple[Optional[str], ...]
    is_cut: Tuple[bool, ...]
    is_scattered: bool


def _parameter(node):
    kind, = node.named("type")
    sizes, cut = [], set()
    for extent in kind.named("extent"):
        size, = extent.children
        sizes.append(size.words[1] if size.words[0] == "name" else None)
    for state in kind.named("sliced"):
        dim = [child.words for child in state.children if child.words[0] == "int"]
        # Of what is no plain number, it may be any.
        cut |= {int(dim[0][1])} if dim else set(range(len(sizes)))
    shown = f"{kind.words[1]}[{', '.join(size or '...' for size in sizes)}]"
    return _Parameter(node.words[1], shown, tuple(sizes), tuple(i in cut for i in range(len(sizes))),
                      bool(kind.named("scattered")))


class _Signature:
    """What a program's text says of its arguments."""

    def __init__(self, printed, program, mesh):
        top = _tree(printed)
        self.params = {node.words[1] for node in top.named("param")}
        programs = [node for node in top.named("program") if program in (None, node.words[1])]
        # What is wrong with the text, compiling it will say.
        self.parameters = [_parameter(node) for node in programs[0].named("arg", "inout")] if programs else []
        self.name = programs[0].words[1] if programs else program
        sizes = {}
        for axes in top.named("mesh"):
            for axis in axes.named("axis"):
                sizes[axis.words[1]] = axis.children[0].words[-1] if axis.children else None
        sizes.update((axis, str(size)) for axis, size in (mesh or {}).items())
        # Then a rank's part is the whole.
        self.is_one_rank = all(size == "1" for size in sizes.values())


def _shape(parameter, value):
    """The shape of what is passed, None if that has none."""
    # NumPy's arrays have __index__ too.
    is_shape = isinstance(value, tuple) and all(hasattr(size, "__index__") and getattr(size, "shape", ()) == ()
                                                for size in value)
    if parameter.is_scattered and not is_shape:
        parts = value if isinstance(value, (list, tuple)) else [value]
        shapes = [getattr(part, "shape", None) for part in parts]
        return None if None in shapes else (sum(math.prod(map(int, shape)) for shape in shapes),)
    if is_shape:
        return value
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(int(size) for size in shape)


def _is_program(text):
    return text is not None and re.search(r"^\s*program\s+\w+\s*\(", text, re.M) is not None


class ProgramFunction:
    """A Python function that is a program: what ccn.program makes. Calling it compiles the program for the shapes of the
    arguments, if that was not done before, and runs it, as Program's call does."""

    def __init__(self, function: Callable, options: dict) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._text = inspect.getdoc(function) if _is_program(function.__doc__) else None
        self._lock = threading.Lock()
        self._signatures, self._programs, self._by_shapes = {}, {}, {}
        # Says what is wrong with them now, and not at the first call.
        _compiler.Request(**{name: value for name, value in options.items() if name != "run_on"})

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        # Of a text that is always the same, the shapes say which program it is. What lists hold has them, too.
        key = program = None
        if self._text is not None and not named:
            key = tuple([getattr(value, "shape", None) or type(value) for value in arguments])
            with contextlib.suppress(TypeError):
                program = self._by_shapes.get(key)
        if program is None:
            program = self._specialized(arguments, named, is_whole=False)
            if key is not None and not {list, tuple} & set(map(type, arguments)):
                with self._lock, contextlib.suppress(TypeError):
                    self._by_shapes[key] = program
        return program(*arguments, out=out, stream=stream, **named)

    def specialize(self, **params: Any) -> CompiledProgram:
        """The program with these params; the same object each time, which teams can list."""
        return self._program(self._text_for((), {}), params)

    def specialize_for(self, *arguments: Any, **named: Any) -> CompiledProgram:
        """The program for arguments that are whole tensors, those of all ranks together, or such shapes as tuples."""
        return self._specialized(arguments, named, is_whole=True)

    def clear(self) -> None:
        """Forgets the programs that were compiled in this process; those that are in use stay as they are."""
        with self._lock:
            self._programs.clear()
            self._by_shapes.clear()

    def _text_for(self, arguments, named):
        if self._text is not None:
            return self._text
        returned = self._function(*arguments, **named)
        if not isinstance(returned, str):
            raise TypeError(f"function '{self.__name__}': expected a program's text as its docstring or result, found "
                            f"{type(returned).__name__}")
        return textwrap.dedent(returned)

    def _source(self, text):
        return Source(f"<{self.__module__}.{self.__qualname__}>", text.encode(errors="surrogateescape"))

    def _specialized(self, arguments, named, is_whole):
        text = self._text_for(arguments, named)
        with self._lock:
            signature = self._signatures.get(text)
        if signature is None:
            printed = _compiler.run_kept(self._source(text), ["--emit=ast"])[0].decode(errors="replace")
            signature = _Signature(printed, self._options.get("program"), self._options.get("mesh"))
            with self._lock:
                self._signatures[text] = signature
        return self._program(text, self._params_of(signature, arguments, named, is_whole))

    def _params_of(self, signature, arguments, named, is_whole):
        """The params that the shapes of arguments give."""
        where = f"program '{signature.name}'"
        given = dict(zip((parameter.name for parameter in signature.parameters), arguments))
        given.update(named)
        fixed = dict(self._options.get("params") or {})
        # Of each param its value, and the argument that gave it.
        found, uncertain = {}, {}
        for parameter in signature.parameters:
            shape = _shape(parameter, given[parameter.name]) if parameter.name in given else None
            if shape is None:
                continue
            if len(shape) != len(parameter.sizes):
                raise ValueError(f"{where}: argument '{parameter.name}': expected {len(parameter.sizes)} dimensions, as "
                                 f"{parameter.type_name} has, found {len(shape)}")
            for size, name, is_cut in zip(shape, parameter.sizes, parameter.is_cut):
                if name not in signature.params or name in fixed:
                    continue
                if is_cut and not is_whole and not signature.is_one_rank:
                    uncertain.setdefault(name, parameter.name)
                    continue
                value, by = found.setdefault(name, (size, parameter.name))
                if value != size:
                    raise ValueError(f"{where}: argument '{parameter.name}': expected {name} = {value}, as in '{by}', "
                                     f"found {size}")
        for name, by in uncertain.items():
            if name not in found:
                raise ValueError(f"{where}: expected specialize({name}=...), since the part of '{by}' that a rank holds "
                                 f"does not tell {name}")
        return {name: value for name, (value, _) in found.items()}

    def _program(self, text, params):
        key = text, tuple(sorted(_compiler.param_options(params)))
        with self._lock:
            made = self._programs.get(key)
        if made is None:
            options = dict(self._options)
            options["params"] = {**(options.get("params") or {}), **params}
            run_on = options.pop("run_on", None)
            made = CompiledProgram(self._source(text), _compiler.Request(**options), run_on)
            with self._lock:
                # Of two threads that have compiled it, the first one's is everybody's.
                made = self._programs.setdefault(key, made)
        return made

    def __repr__(self) -> str:
        return f"<ccn.ProgramFunction '{self.__name__}'>"


def program(function: Optional[Callable] = None, **options: Any) -> Union[ProgramFunction, Callable]:
    """Makes a program of a Python function whose docstring, or else result, is a program's text.

        @ccn.program
        def axpy(a, x, y):
            \"\"\"
            mesh m (r = 1)
            param N = 1
            program axpy(a: f32, x: f32[N], inout y: f32[N]) {
              y <- a * x + y
            }
            \"\"\"

        axpy(2, x, y)

    Each param that is the size of an argument's dimension is what the argument has; others are as in the text, or in
    `params`. For each set of them the program is compiled once, and kept in memory, and on disk as ccn.compile does. A
    function without a program as its docstring is called with the arguments and returns the text, which may depend on
    their element types. `options` are those of ccn.compile.

    Where several ranks hold parts of a tensor, a part does not tell the tensor's size. Then
    axpy.specialize(N=1003), or axpy.specialize_for(...) with whole tensors or shapes, gives the Program to run on a team.
    """
    if function is None:
        return lambda decorated: program(decorated, **options)
    if not callable(function):
        raise TypeError(f"expected a function, found {type(function).__name__}")
    return ProgramFunction(function, options)
