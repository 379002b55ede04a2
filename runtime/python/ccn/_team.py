"""Teams: the ranks that run programs together, threads of this process, or processes that a launcher started."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple

from ._executor import Executor
from ._library import ArgumentError, Error, Handle, ProgramHandle, c_text, int32, lib

if TYPE_CHECKING:
    from ._program import Program

_joined: Optional[Team] = None


def joined_team():
    """The team that join has made, None if there is none."""
    return None if _joined is None or _joined.is_closed else _joined


class Team:
    """The ranks that run some programs together, which are threads of this process that the caller starts, or run().

    Each rank calls the same programs in the same order. When one fails, the team has failed: every call of every rank
    that waits, and every later one, raises TeamError with the rank and the cause, so that nothing waits for ever.

        with ccn.Team(adam) as team:
            team.run(lambda rank: adam.on(team, rank)(g[rank], p[rank], ...))

    time_limit is how many seconds a rank waits for another at a time; 0 is what CCN_TIMEOUT says, else 60.

    runs_at_once is how many programs may run at once on a GPU, on streams of their own: each then has only its part of
    the GPU where it waits for other ranks. Programs that run while others do although this is 1 wait for each other
    until the time limit ends them, unless their order is the same on all ranks by streams and events. With more than one
    the environment should have CUDA_DEVICE_MAX_CONNECTIONS=32 before CUDA is used: streams in one queue wait for each
    other.
    """

    programs: Tuple[Program, ...]
    size: int
    rank: Optional[int]
    handle: Handle

    def __init__(self, *programs: Program, time_limit: float = 0, runs_at_once: int = 1) -> None:
        self._make(lib.ccn_team_create, programs, time_limit, runs_at_once)

    def _make(self, create, programs, time_limit, runs_at_once):
        self.programs = tuple(programs)
        for program in programs:
            if not isinstance(getattr(program, "handle", None), ProgramHandle):
                raise TypeError(f"expected a ccn.Program, found {type(program).__name__}")
        pointer = ctypes.c_void_p()
        with contextlib.ExitStack() as uses:
            handles = [uses.enter_context(program.handle) for program in programs]
            create((ctypes.c_void_p * len(handles))(*handles), len(handles), time_limit, ctypes.byref(pointer))
        ranks, rank = ctypes.c_int(), ctypes.c_int()
        lib.ccn_team_describe(pointer, ctypes.byref(ranks), ctypes.byref(rank))
        self.size = ranks.value
        self.rank = rank.value if rank.value >= 0 else None
        # What runs on GPUs is released by all ranks at once, since each waits for the others.
        together = self.rank is None and self.size > 1 and any(program.target == "gpu" for program in programs)
        self.handle = Handle(pointer.value, "the team")
        self._lock = threading.Lock()
        self._executors = {}
        self._made = {rank: [] for rank in self.own_ranks}
        self._knows_failure = False
        self._parts = self.handle, self._made, together, self.rank is not None
        weakref.finalize(self, _end_quietly, *self._parts)
        with self.handle as team:
            lib.ccn_team_set_runs_at_once(team, int32(runs_at_once))

    @property
    def own_ranks(self) -> range:
        """The ranks that are this process: all, or one."""
        return range(self.size) if self.rank is None else range(self.rank, self.rank + 1)

    @property
    def is_closed(self) -> bool:
        return self.handle.is_closed

    def executor(self, program: Program, rank: Optional[int] = None) -> Executor:
        """Program.on."""
        rank = self.rank if rank is None else int32(rank)
        if rank not in self.own_ranks:
            own = f"from 0 to {self.size - 1}" if self.rank is None else f"{self.rank}, which this process is"
            raise ArgumentError(f"expected a rank {own}, found {rank}")
        if program not in self.programs:
            raise ArgumentError(f"the team does not list program '{program.name}'; expected it in ccn.Team(...)")
        with self._lock:
            key = program, rank
            if key not in self._executors:
                self._executors[key] = Executor(self, program, rank)
            return self._executors[key]

    def keep(self, rank: int, pointer: int) -> None:
        """Takes over an executor of the runtime, which the team's end releases."""
        self._made[rank].append(pointer)

    def run(self, function: Callable[[int], Any]) -> List[Any]:
        """Calls function(rank) in a thread for each rank of this process, and returns what they return.

        If one raises, the team fails with that cause, so that the others do not wait, and it is raised here.
        """
        results, errors = [None] * len(self.own_ranks), []

        def call(place, rank):
            try:
                results[place] = function(rank)
            except BaseException as error:
                errors.append(error)
                self._fail_by(rank, error)

        threads = [threading.Thread(target=call, args=item, name=f"ccn rank {item[1]}")
                   for item in enumerate(self.own_ranks)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:
            # Such as an interrupt of the user.
            self._fail_by(self.own_ranks[0], error)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            raise
        if errors:
            self._knows_failure = True
            raise errors[0]
        return results

    def meet(self, rank: Optional[int] = None) -> None:
        """Waits until all ranks have called this. CUDA's calls that wait for a device, as taking and freeing memory and
        making a graph do, would wait for other ranks' runs, which wait for this rank: do them before all meet."""
        with self.handle as team:
            lib.ccn_team_meet(team, self._rank(rank))

    def check(self) -> None:
        """Raises TeamError if the team has failed."""
        with self.handle as team:
            lib.ccn_team_check(team)

    def fail(self, cause: str, rank: Optional[int] = None) -> None:
        """Fails the team because of something that the caller says, so that no other rank waits for this one."""
        with self.handle as team:
            lib.ccn_team_fail(team, self._rank(rank), c_text(cause))
        self._knows_failure = True

    def _rank(self, rank):
        if rank is None and self.rank is None:
            raise ArgumentError("expected a rank, since all are threads of this process")
        return self.rank if rank is None else int32(rank)

    def _fail_by(self, rank, error):
        # The first cause stays.
        with contextlib.suppress(Error):
            self.fail(_text(error), rank)

    def close(self) -> None:
        """Releases the executors and leaves the team, which ends. A process waits for the other ranks to come to their
        end. Raises TeamError if the team has failed and nobody was told. ArgumentError while calls are in progress."""
        failure = _end(*self._parts)
        if failure and not self._knows_failure:
            raise failure

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if error is None:
            self.close()
            return
        self._fail_by(self.own_ranks[0], error)
        with contextlib.suppress(Error):
            self.close()

    def __repr__(self):
        own = "threads" if self.rank is None else f"of which this process is rank {self.rank}"
        return f"<ccn.Team of {self.size} ranks, {own}>"


def join(*programs: Program, time_limit: float = 0, runs_at_once: int = 1) -> Team:
    """The Team of the processes that mpirun, torchrun or Slurm has started, of which this process is `team.rank`.

    Programs of one rank may be joined by a process that nothing has started as a rank, too.
    All of them call this with the same programs, once; CCN_LAUNCHER and CCN_TRANSPORT can say
    who has started them and how they reach each other. From then on
    calls of these programs run on this rank. At the end of the process it leaves the team. After an error of the team
    the process should end. time_limit and runs_at_once are those of Team.
    """
    global _joined
    team = Team.__new__(Team)
    team._make(lib.ccn_team_join, programs, time_limit, runs_at_once)
    _joined = team
    return team


def _text(error):
    return f"{type(error).__name__}: {error}"


def _end_quietly(*parts):
    # When Python ends, calls of other threads may be in progress, and new threads may be refused.
    with contextlib.suppress(Error, RuntimeError):
        _end(*parts)


def _end(handle, made, together, is_process):
    """Releases all that a team has, when it is closed or lost, or when Python ends. Returns the team's failure."""
    pointer = handle.give_up()
    if pointer is None:
        return None
    last = getattr(sys, "last_value", None)
    if is_process and last is not None:
        # Python ends by an exception: the other ranks shall know, and not wait.
        lib.ccn_team_fail(pointer, next(iter(made)), c_text(_text(last)))
    failures = []

    def leave(rank):
        try:
            while made[rank]:
                lib.ccn_executor_release(made[rank][-1])
                made[rank].pop()
            lib.ccn_team_leave(pointer, rank)
        except Error as error:
            failures.append(error)

    if together:
        threads = [threading.Thread(target=leave, args=(rank,)) for rank in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        for rank in made:
            leave(rank)
    lib.ccn_team_release(pointer)
    return failures[0] if failures else None
