"""What is installed beside the package, and the tools in it, which `cccompile` and the others on PATH start."""

from __future__ import annotations

import os
import sys

from ._cuda import library_folders
from ._library import lib


def prefix() -> str:
    """The folder in which ccn is installed, with bin, include and lib. For applications in C and C++ that are built with
    CMake: -DCMAKE_PREFIX_PATH=$(python3 -c 'import ccn; print(ccn.prefix())')"""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")
    # A wheel brings it; else it is what has libccn in its lib.
    return own if os.path.isdir(own) else os.path.dirname(os.path.dirname(os.path.realpath(lib._name)))


def main() -> int:
    """Becomes the tool that this process was started as."""
    name = os.path.basename(sys.argv[0])
    path = os.path.join(prefix(), "bin", name)
    # CUDA's libraries that pip has installed come after those that the user names.
    folders = [*filter(None, [os.environ.get("LD_LIBRARY_PATH")]), *library_folders()]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)} if folders else os.environ
    try:
        os.execve(path, [path, *sys.argv[1:]], environment)
    except OSError as error:
        print(f"{name}: cannot start '{path}': {error.strerror}", file=sys.stderr)
    return 1
