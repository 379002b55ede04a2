"""The compiler in this process: libccn_compiler, which is loaded when it is first needed."""

from __future__ import annotations

import collections.abc
import contextlib
import ctypes
import functools
import hashlib
import json
import numbers
import operator
import os
import platform
import re
import threading
import warnings
from ctypes import POINTER, c_char, c_char_p, c_int, c_size_t, c_void_p
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _cache, _cuda, _html
from ._library import Error, lib, open_library, places, text
from ._program import Program
from ._team import joined_team

_SONAME = "libccn_compiler.so.0"
_VARIABLE = "CCN_COMPILER_LIBRARY"


class CompileError(Error):
    """A program or its schedule is wrong, or an option does not fit it. The text is what cccompile would print, with the
    lines that it is about; `status` is cccompile's exit code: 1 the program is wrong, 2 the options are, 4 verify found
    a difference."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class CompileWarning(UserWarning):
    """What the compiler warns of."""


def _declare(library):
    library.ccn_compiler_version.restype = c_char_p
    library.ccn_compiler_run.argtypes = (c_char_p, c_char_p, c_size_t, POINTER(c_char_p), c_size_t)
    library.ccn_compiler_run.restype = c_void_p
    library.ccn_compilation_status.argtypes, library.ccn_compilation_status.restype = (c_void_p,), c_int
    library.ccn_compilation_output.argtypes = (c_void_p, POINTER(c_size_t))
    library.ccn_compilation_output.restype = POINTER(c_char)
    library.ccn_compilation_diagnostics.argtypes = (c_void_p,)
    library.ccn_compilation_diagnostics.restype = c_char_p
    library.ccn_compilation_release.argtypes, library.ccn_compilation_release.restype = (c_void_p,), None


def _places():
    """Where the compiler may be: first beside libccn."""
    listed = places(_SONAME, _VARIABLE)
    folder = os.path.dirname(lib._name)
    if folder and not os.environ.get(_VARIABLE):
        beside = os.path.join(folder, _SONAME)
        listed = [beside] * os.path.exists(beside) + listed
    return listed


_lock = threading.Lock()
_opened = None


def _library():
    global _opened
    with _lock:
        if _opened is None:
            opened = open_library("libccn_compiler", _places(), _VARIABLE, _declare)
            found, expected = text(opened.ccn_compiler_version()), text(lib.ccn_version())
            if found != expected:
                raise ImportError(f"{opened._name}: expected version {expected}, as libccn's, found {found}")
            _opened = opened
        return _opened


@functools.lru_cache(maxsize=None)
def _build():
    """What tells one build of the compiler from another, without loading it."""
    for place in _places():
        if os.path.exists(place):
            with open(place, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
    # Only the linker knows where it is.
    _library()
    with open("/proc/self/maps") as file:
        path, = {line.split(maxsplit=5)[5].strip() for line in file if _SONAME in line}
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


@functools.lru_cache(maxsize=None)
def _cpu():
    """What tells the CPUs apart for which code is compiled by default."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("flags"):
                    return platform.machine() + line
    except OSError:
        pass
    return platform.machine() + platform.processor() + platform.node()


class Source(NamedTuple):
    """A program's text, and what its lines are shown under."""

    name: str
    content: bytes

    @property
    def text(self):
        return self.content.decode(errors="surrogateescape")


def read_source(source):
    """A path, or a text: a str is a path if it ends with .ccn, .mlir or .mlirbc and is one line."""
    if isinstance(source, str) and not ("\n" not in source and source.endswith((".ccn", ".mlir", ".mlirbc"))):
        return Source("<program>", source.encode(errors="surrogateescape"))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected the text of a program, or the path of a file, found {type(source).__name__}")
    with open(source, "rb") as file:
        return Source(os.fsdecode(source), file.read())


def run(source, options) -> Tuple[bytes, str]:
    """What the compiler writes with options of its command line, and its warnings and remarks; or a CompileError."""
    library = _library()
    words = [word.encode(errors="surrogateescape") for word in options]
    for word in words:
        if b"\0" in word:
            raise ValueError(f"expected options without NUL characters, found {word!r}")
    name = source.name.replace("\0", "\\0").encode(errors="surrogateescape")
    made = library.ccn_compiler_run(name, source.content, len(source.content), (c_char_p * len(words))(*words),
                                    len(words))
    try:
        status = library.ccn_compilation_status(made)
        size = c_size_t()
        data = library.ccn_compilation_output(made, ctypes.byref(size))
        output = ctypes.string_at(data, size.value)
        said = text(library.ccn_compilation_diagnostics(made))
    finally:
        library.ccn_compilation_release(made)
    if status != 0:
        raise CompileError(said.rstrip("\n"), status)
    return output, said


def _content(path):
    """What an option names, if that is a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def _named_files(source, options, files):
    """The files that options, the text, and files of schedules name."""
    named = list(files) + [word.split("=", 1)[-1] for word in options]
    texts = [(source.name, source.content)]
    for file in files:
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                texts.append((os.fspath(file), opened.read()))
    # Any string of a program may be a path, below the text's folder or the working one.
    for name, content in texts:
        for word in re.findall(rb'"([^"\n\0]+)"', content):
            word = os.fsdecode(word)
            named += [word, os.path.join(os.path.dirname(name), word)]
    return [file for file in named if "\0" not in os.fspath(file) and os.path.isfile(file)]


def run_kept(source, options, files=()) -> Tuple[bytes, str]:
    """As run, or what the same gave before, on this kind of machine, with this build of the compiler. `files` are those
    that the options name; what files say counts, too."""
    if _cache.folder() is None:
        return run(source, options)
    question = [_build(), _cpu(), os.environ.get("CCN_VERIFY"), source.name, source.text, list(options),
                [_content(file) for file in _named_files(source, options, files)]]
    key = hashlib.sha256(json.dumps(question).encode()).hexdigest()
    kept = _cache.find(key)
    if kept is not None:
        size = int.from_bytes(kept[:8], "little")
        return kept[8 + size:], kept[8:8 + size].decode()
    output, said = run(source, options)
    words = said.encode()
    _cache.keep(key, len(words).to_bytes(8, "little") + words + output)
    return output, said


def _checked_names(what, values, of, to):
    if values is None:
        return {}
    if not isinstance(values, collections.abc.Mapping):
        raise TypeError(f"{what}: expected a mapping from names of {of} to {to}, found {type(values).__name__}")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{what}: expected names of {of}, found {type(name).__name__} {name!r}")
        if "=" in name or not name:
            raise ValueError(f"{what}: expected names of {of}, found {name!r}")
    return values


def mesh_options(mesh):
    """--mesh, of a mapping from axes to sizes."""
    options = []
    for name, size in _checked_names("mesh", mesh, "axes", "sizes").items():
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(f"mesh['{name}']: expected an integer, found {type(size).__name__} {size!r}")
        options.append(f"--mesh={name}={operator.index(size)}")
    return options


def _number(name, value):
    # NumPy's are not Python's.
    is_bool = isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
    if is_bool:
        return "true" if value else "false"
    if hasattr(value, "__index__"):
        return str(operator.index(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise TypeError(f"params['{name}']: expected a number, found {type(value).__name__} {value!r}")


def param_options(params):
    """-D, of a mapping from params to numbers."""
    given = _checked_names("params", params, "params", "numbers")
    return [f"-D{name}={_number(name, value)}" for name, value in given.items()]


def _word(what, value):
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what}: expected a str or a path, found {type(value).__name__}")
    if not os.fspath(value):
        raise ValueError(f"{what}: expected a name or a path, found ''")
    return os.fspath(value)


class Request:
    """What compile() is asked, but for the program: options of the command line, and the files that these name."""

    def __init__(self, mesh=None, params=None, schedule=None, target="cpu", program=None, cpu=None, topology=None,
                 search_time=None, machine=None, options=()):
        self.shared = mesh_options(mesh) + param_options(params)
        self.files = []
        self.names_schedule = schedule is not None
        if schedule is not None:
            self.shared.append("--schedule=" + _word("schedule", schedule))
            self.files.append(_word("schedule", schedule))
        if program is not None:
            self.shared.append("--program=" + _word("program", program))
        self.machine = []
        if topology is not None:
            self.machine.append("--topology=" + _word("topology", topology))
            self.files.append(_word("topology", topology))
        if machine is not None:
            self.machine.append("--machine=" + _word("machine", machine))
            self.files.append(_word("machine", machine))
        if search_time is not None:
            self.machine.append(f"--search-time={float(search_time)}")
        if isinstance(options, str) or not all(isinstance(option, str) for option in options):
            raise TypeError(f"options: expected a sequence of str, found {options!r}")
        self.target = ["--target=" + _word("target", target)]
        self.cpu = [] if cpu is None else ["--cpu=" + _word("cpu", cpu)]
        self.package = ["--emit=package"] + self.cpu + list(options)


def _restored(source, request, package, target):
    """What pickle makes of a program: the one that this process' team has, if it is the same."""
    made = CompiledProgram.__new__(CompiledProgram)
    made._take(source, request, package, target)
    team = joined_team()
    return next((program for program in team.programs if (program.hash, program.target) == (made.hash, target)), made) \
        if team is not None else made


class CompiledProgram(Program):
    """A Program that compile() has made. Beside what a Program has:

    text      the text that it was compiled from
    package   the bytes of its package, which ccn.load and ccrun take
    """

    text: str
    package: bytes

    def __init__(self, source: Source, request: Request, run_on: Optional[str] = None) -> None:
        package, said = run_kept(source, request.shared + request.machine + request.target + request.package,
                                 request.files)
        if said:
            warnings.warn(said.rstrip("\n"), CompileWarning, stacklevel=3)
        self._take(source, request, package, run_on)

    def _take(self, source, request, package, run_on):
        super().__init__(package, run_on)
        self.text, self.package = source.text, package
        self._source, self._request = source, request

    def __reduce__(self) -> Any:
        return _restored, (self._source, self._request, self.package, self.target)

    def _searched(self) -> list:
        """The options for a search that nobody asked for by name, as compile() does for GPUs."""
        request = self._request
        if request.names_schedule or self.schedule != "auto":
            return []
        return ["--schedule=auto"] + request.target + request.machine

    @property
    def schedule_text(self) -> str:
        """The schedule that was applied, as a file that compile(..., schedule=path) takes: a transform script (.mlir) or, if
        a search has found it, a file of schedules (.ccn); "" if none was."""
        return self.emit("schedule") if self.schedule else ""

    def explain(self) -> str:
        """What each primitive of the schedule did, and what others could still do or why not."""
        request = self._request
        # Which algorithms were chosen is known after planning.
        planned = self._searched()
        if request.machine:
            planned = ["--emit=plan"] + request.target + request.machine
        return run_kept(self._source, request.shared + planned + ["--explain"], request.files)[1]

    def verify(self, prove: bool = False, seed: int = 0) -> str:
        """Shows that the schedule keeps what the program computes, as `cccompile --verify` does, or --verify=prove, and
        returns what was compared and how equal it is. A difference is a CompileError that says how to see it again."""
        if not self.schedule:
            raise ValueError(f"program '{self.name}': expected a schedule to verify, found none")
        options = ["--verify=" + ("prove" if prove else "run"), f"--seed={operator.index(seed)}"]
        request = self._request
        return text(run(self._source, request.shared + (self._searched() or request.machine) + options)[0]).rstrip("\n")

    def emit(self, kind: str) -> Union[str, bytes]:
        """What `cccompile --emit KIND` writes: "mlir", "scheduled", "plan", "kernels", "cuda", "header", ...; bytes for
        "package", "lib" and "cubin", else text."""
        if kind == "package":
            return self.package
        request = self._request
        options = list(request.shared)
        if kind == "lib":
            options += request.cpu
        if kind in ("plan", "package", "lib", "kernels", "cuda", "ptx", "cubin"):
            # Text for GPUs may also be asked of what was compiled for CPUs.
            text_of_gpu = kind in ("kernels", "cuda") and request.target == ["--target=cpu"]
            options += request.machine + ([] if text_of_gpu else request.target)
            if text_of_gpu and not self.schedule and not request.names_schedule:
                options.append("--schedule=none")
        elif kind in ("schedule", "scheduled"):
            options += self._searched()
        options.append("--emit=" + _word("kind", kind))
        # These are CUDA's compiler's, which is not part of what kept things are found by.
        is_kept = kind not in ("ptx", "cubin")
        if not is_kept:
            _cuda.load()
        output = (run_kept(self._source, options, request.files) if is_kept else run(self._source, options))[0]
        return output if kind in ("package", "lib", "cubin") else text(output)

    def _repr_html_(self) -> str:
        # What shows a program raises nothing: a file of schedules may be gone, and IR has no such text.
        shown = {"text": self.text, "schedule": None, "kernels": None}
        with contextlib.suppress(Error):
            shown["text"] = self.emit("layouts")
        with contextlib.suppress(Error):
            shown["schedule"] = self.explain() if self.schedule else None
        with contextlib.suppress(Error):
            shown["kernels"] = self.emit("kernels")
        return _html.of_program(self, **shown)


def compile(source: Union[str, os.PathLike], mesh: Optional[Mapping[str, int]] = None,
            params: Optional[Mapping[str, Any]] = None, schedule: Union[str, os.PathLike, None] = None,
            target: str = "cpu", *, program: Optional[str] = None, run_on: Optional[str] = None,
            cpu: Optional[str] = None, topology: Union[str, os.PathLike, None] = None,
            search_time: Optional[float] = None, machine: Union[str, os.PathLike, None] = None,
            options: Sequence[str] = ()) -> CompiledProgram:
    """Compiles a program in this process, and loads it. What it gives is called as what ccn.load gives.

    source       the text of a program, or a path: a str that ends with .ccn, .mlir or .mlirbc, or a pathlib.Path
    mesh         sizes of axes, {"dp": 4}
    params       values of params, {"N": 1003}
    schedule     the name of one of the file's, or the path of a file of schedules (.ccn) or a transform script (.mlir);
                 "auto", which is searched for; "none", as written. By default `default`, if there is one, else "auto"
                 for GPUs and "none" for CPUs
    target       "cpu", or GPUs too: "sm_80", "sm_90a"
    program      which one, if there are several
    run_on       "cpu" or "gpu": what executes it here, as ccn.load's target
    cpu          the CPU, by default as good as this machine's: "x86-64", "x86-64-v3", "x86-64-v4"
    topology, search_time, machine, options
                 as cccompile's; options are others of its command line for packages, ["--autotune"]

    What is wrong with the program or does not fit it is a CompileError, whose text shows the lines. What the compiler
    warns of is a CompileWarning. What is compiled is kept on disk (see ccn.clear_cache), so the next process that
    compiles the same need not load the compiler. Threads may compile at once.
    """
    request = Request(mesh, params, schedule, target, program, cpu, topology, search_time, machine, options)
    return CompiledProgram(read_source(source), request, run_on)
