"""libccn through ctypes: where it is, what ccn.h declares, and its errors as exceptions.

Nothing here depends on the version of Python's C API, so one copy serves all versions of Python.
"""

from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

# Changes with what ccn.h declares.
_SONAME = "libccn.so.0.1"


class Error(Exception):
    """What the runtime says went wrong; `status` is the number of ccn.h's status."""

    status: int = -1


class PackageError(Error):
    """This is no package that can be used: it cannot be read, is corrupt, or of another version."""

    status = 1


class ArgumentError(Error, ValueError):
    """The call is wrong, as it is or at this time, and has changed nothing."""

    status = 2


class MachineError(Error):
    """This machine cannot run it: its CPU lacks what the code needs, there is no GPU, no driver, no memory."""

    status = 3


class TeamError(Error):
    """The team has failed: a rank could not compute something, was lost, or did not come in time."""

    status = 4


_ERRORS = {kind.status: kind for kind in (PackageError, ArgumentError, MachineError, TeamError)}


class MeshAxis(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("size", c_int64)]


class ProgramInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("schedule", c_char_p), ("signature", c_char_p), ("hash", c_char_p),
                ("target", c_int), ("mesh", POINTER(MeshAxis)), ("mesh_axes", c_int), ("ranks", c_int),
                ("arguments", c_int)]


class ArgumentInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type_name", c_char_p), ("kind", c_int), ("type", c_int), ("dims", c_int),
                ("shape", POINTER(c_int64)), ("is_replicated", c_int), ("is_scattered", c_int)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("count", c_int64)]


class Buffers(ctypes.Structure):
    _fields_ = [("list", POINTER(Buffer)), ("count", c_size_t)]


class PartInfo(ctypes.Structure):
    _fields_ = [("dims", c_int), ("offset", POINTER(c_int64)), ("shape", POINTER(c_int64)), ("count", c_int64),
                ("bytes", c_int64)]


# Of the functions that return a status, the parameters.
_CALLS = {
    "ccn_program_load": (c_char_p, c_int, POINTER(c_void_p)),
    "ccn_program_load_memory": (c_char_p, c_size_t, c_int, POINTER(c_void_p)),
    "ccn_program_describe": (c_void_p, POINTER(ProgramInfo)),
    "ccn_program_argument": (c_void_p, c_int, POINTER(ArgumentInfo)),
    "ccn_program_part": (c_void_p, c_int, c_int, POINTER(PartInfo)),
    "ccn_team_create": (POINTER(c_void_p), c_size_t, c_double, POINTER(c_void_p)),
    "ccn_team_join": (POINTER(c_void_p), c_size_t, c_double, POINTER(c_void_p)),
    "ccn_team_describe": (c_void_p, POINTER(c_int), POINTER(c_int)),
    "ccn_team_set_runs_at_once": (c_void_p, c_int),
    "ccn_team_check": (c_void_p,),
    "ccn_team_meet": (c_void_p, c_int),
    "ccn_team_fail": (c_void_p, c_int, c_char_p),
    "ccn_team_leave": (c_void_p, c_int),
    "ccn_executor_create": (c_void_p, c_void_p, c_int, c_int, POINTER(c_void_p)),
    "ccn_executor_run": (c_void_p, POINTER(c_void_p), c_size_t, c_void_p),
    "ccn_executor_run_values": (c_void_p, POINTER(c_void_p), c_size_t, c_void_p),
    "ccn_executor_bind": (c_void_p, POINTER(c_void_p), c_size_t),
    "ccn_executor_copies": (c_void_p, c_int, POINTER(c_int)),
    "ccn_executor_synchronize": (c_void_p, c_void_p),
    "ccn_executor_device": (c_void_p, POINTER(c_int)),
    "ccn_executor_release": (c_void_p,),
}
_OTHERS = {
    "ccn_last_error": (c_char_p, ()),
    "ccn_version": (c_char_p, ()),
    "ccn_program_release": (None, (c_void_p,)),
    "ccn_team_release": (None, (c_void_p,)),
}


def places(soname, variable):
    """Where a library may be, the most telling first. A variable of the environment may say it."""
    chosen = os.environ.get(variable)
    if chosen:
        return [chosen]
    # A wheel has it in a folder below this one. Installed otherwise and in a build it is in a folder above, as lib is
    # above lib/python/ccn and lib/python3.11/dist-packages/ccn. Else the linker may know.
    own = pathlib.Path(os.path.abspath(__file__)).parent
    folders = [own / "_native" / "lib", own, *own.parents]
    return [str(folder / soname) for folder in folders if (folder / soname).exists()] + [soname]


def text(data):
    """What the runtime says, as a string. It may have bytes of a path in it that are no UTF-8."""
    return data.decode(errors="backslashreplace")


def c_text(value):
    """Any text for the runtime, whose strings have no NUL."""
    return value.replace("\0", "\\0").encode(errors="backslashreplace")


def _raise(status, function, arguments):
    if status != 0:
        raise _ERRORS.get(status, Error)(text(lib.ccn_last_error()))
    return status


def open_library(name, listed, variable, declare):
    """The first library of a list that can be loaded and has what declare(library) says."""
    tried = []
    for place in listed:
        try:
            opened = ctypes.CDLL(place)
            declare(opened)
            return opened
        # It is not there, or is another library or version.
        except (OSError, AttributeError) as error:
            tried.append(str(error))
    raise ImportError(f"{name} cannot be loaded; {variable} may say where it is: " + "; ".join(tried))


def _declare(library):
    for name, parameters in _CALLS.items():
        function = getattr(library, name)
        function.argtypes, function.restype, function.errcheck = parameters, c_int, _raise
    for name, (result, parameters) in _OTHERS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = parameters, result


lib = open_library("libccn", places(_SONAME, "CCN_LIBRARY"), "CCN_LIBRARY", _declare)


def int32(value):
    """A number for a parameter of C's type int, which ctypes would cut off."""
    number = operator.index(value)
    if not -(2**31) <= number < 2**31:
        raise ArgumentError(f"expected a number of 32 bits, found {number}")
    return number


class Handle:
    """A handle that calls use, from any threads, until it is given up.

    `with handle as pointer` is a use. It is not given up while it is used, nor
    used afterwards, either of which would be a crash.
    """

    def __init__(self, pointer, what):
        self._pointer = pointer
        self._what = what
        self._lock = threading.Lock()
        self._uses = 0

    def __enter__(self):
        with self._lock:
            if self._pointer is None:
                raise ArgumentError(f"{self._what} is closed")
            self._uses += 1
            return self._pointer

    def __exit__(self, *_):
        with self._lock:
            self._uses -= 1

    @property
    def is_closed(self):
        return self._pointer is None

    def give_up(self):
        """The pointer, for its release; None if that has been done."""
        with self._lock:
            if self._uses:
                raise ArgumentError(f"{self._what} cannot be closed while calls are in progress")
            pointer, self._pointer = self._pointer, None
            return pointer


class ProgramHandle(Handle):
    """A handle of a program, which can be nothing else's."""
