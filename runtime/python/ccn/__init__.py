"""Compiled ccn programs on tensors of NumPy, PyTorch and all that speaks DLPack.

A program of one rank, or of processes that mpirun, torchrun or Slurm started, after ccn.join:

    norm = ccn.load("norm.ccnpkg")              # or ccn.compile("norm.ccn"), or of its text
    y = norm(x, gamma)

Ranks that are threads of this process:

    adam = ccn.load("adam.ccnpkg")
    with ccn.Team(adam) as team:
        team.run(lambda rank: adam.on(team, rank)(g[rank], p[rank], mom[rank], var[rank], lr=0.001, t=1))

Each rank passes its own part of each tensor, whose shape is program.argument("mom").part(rank).shape. Executor's call
says what may be passed. ccn.torch makes operators of PyTorch of programs.

All that the runtime itself refuses or cannot do is a ccn.Error.
"""

from __future__ import annotations

import os
from typing import Optional, Union

from ._cache import clear_cache
from ._compiler import CompiledProgram, CompileError, CompileWarning, compile
from ._executor import Executor
from ._layouts import AxisState
from ._library import ArgumentError, Error, MachineError, PackageError, TeamError, lib, text
from ._program import Argument, Part, Program
from ._specialize import ProgramFunction, program
from ._team import Team, join
from ._tools import prefix

# Of libccn, and so of all of ccn.
__version__: str = text(lib.ccn_version())


def load(source: Union[str, os.PathLike, bytes], target: Optional[str] = None) -> Program:
    """Loads the package in a file, or in bytes, as a Program.

    target is "cpu" or "gpu"; by default it is what the package is made for. A package holds machine code, so one must
    trust who made it.
    """
    return Program(source, target)


__all__ = ["Argument", "ArgumentError", "AxisState", "CompileError", "CompileWarning", "CompiledProgram", "Error",
           "Executor", "MachineError", "PackageError", "Part", "Program", "ProgramFunction", "Team", "TeamError",
           "clear_cache", "compile", "join", "load", "prefix", "program"]

# As which they are imported.
for _name in __all__:
    globals()[_name].__module__ = __name__
del lib, text
