"""Ranks that torch.distributed has: teams of them, and meshes as DeviceMesh has them."""

from __future__ import annotations

import contextlib
import os
import socket
import uuid
from typing import Any, Dict

import torch.distributed

from .._library import ArgumentError
from .._program import Program
from .._team import Team
from .._team import join as join_launched

# What says which rank a process is, in the names of torchrun.
_VARIABLES = ("CCN_LAUNCHER", "CCN_MASTER_ADDR", "CCN_MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK",
              "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
              "TORCHELASTIC_USE_AGENT_STORE")


def mesh(device_mesh: Any) -> Dict[str, int]:
    """The axes of a DeviceMesh with their sizes, as ccn.compile's `mesh` takes them."""
    names = device_mesh.mesh_dim_names
    if names is None:
        raise ValueError("expected a DeviceMesh with mesh_dim_names, found one without")
    return {name: int(size) for name, size in zip(names, device_mesh.shape)}


def _programs_of(things):
    programs = {}
    for thing in things:
        listed = [thing] if isinstance(thing, Program) else getattr(thing, "programs", None)
        if listed is None:
            raise TypeError(f"expected a ccn.Program, or what has `programs`, found {type(thing).__name__}")
        programs.update((id(program), program) for program in listed)
    return list(programs.values())


@contextlib.contextmanager
def _environment(variables):
    before = {name: os.environ.get(name) for name in _VARIABLES}
    try:
        for name in _VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(variables)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _machine():
    """What tells this machine from others: their names may be equal, as those of containers are."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return socket.gethostname(), file.read().strip()
    except OSError:
        return socket.gethostname(), ""


def _variables_of(group):
    """What the launcher would say of this process, if the group were all that it had started."""
    rank, size = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    with socket.socket() as probe:
        # Ranks try this port and the next ones.
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    own = {"host": socket.gethostname(), "machine": _machine(), "port": min(port, 65500), "run": uuid.uuid4().hex}
    ranks = [None] * size
    torch.distributed.all_gather_object(ranks, own, group=group)
    first = ranks[0]
    on_host = [other for other in range(size) if ranks[other]["machine"] == own["machine"]]
    return {"CCN_LAUNCHER": "torchrun", "RANK": str(rank), "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(on_host.index(rank)), "LOCAL_WORLD_SIZE": str(len(on_host)), "MASTER_ADDR": first["host"],
            "MASTER_PORT": str(first["port"]), "TORCHELASTIC_RUN_ID": first["run"]}


def join(*things: Any, group: Any = None, time_limit: float = 0, runs_at_once: int = 1) -> Team:
    """The Team of the ranks of a process group of torch.distributed, of any backend; by default of all. Its rank is that
    in the group.

    `things` are Programs, and modules and optimizers of ccn.torch, all that this process will run: a process joins
    once. All ranks of the group call this with the same. Without a process group, programs of one rank join alone.
    Otherwise it is ccn.join.
    """
    team = _join(_programs_of(things), group, time_limit, runs_at_once)
    for thing in things:
        if hasattr(thing, "register_operators"):
            thing.register_operators()
    return team


def _join(programs, group, time_limit, runs_at_once):
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        several = [program for program in programs if program.ranks > 1]
        if several:
            raise ArgumentError(f"program '{several[0].name}' has {several[0].ranks} ranks; expected "
                                "torch.distributed.init_process_group before")
        with _environment({"CCN_LAUNCHER": "none"}):
            return join_launched(*programs, time_limit=time_limit, runs_at_once=runs_at_once)
    size = torch.distributed.get_world_size(group)
    for program in programs:
        if program.ranks != size:
            raise ArgumentError(f"program '{program.name}' has {program.ranks} ranks; expected {size}, as the process group "
                                "has")
    variables = _variables_of(group) if size > 1 else {"CCN_LAUNCHER": "none"}
    with _environment(variables):
        return join_launched(*programs, time_limit=time_limit, runs_at_once=runs_at_once)
