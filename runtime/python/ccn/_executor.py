"""Executors: a program that one rank of a team runs, on the caller's tensors."""

from __future__ import annotations

import ctypes
import math
import sys
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional

from . import _tensors
from ._elements import encode
from ._library import Buffer, Buffers, int32, lib
from ._quick import UNUSUAL, QuickCalls

if TYPE_CHECKING:
    from ._program import Part, Program
    from ._team import Team

_ANY_DEVICE = -1


class _Slot(NamedTuple):
    """What is passed for an argument or result: its part on this rank."""

    argument: Any
    shape: tuple
    is_written: bool


class _Call:
    """What a call passes to the runtime."""

    def __init__(self, count, is_abstract):
        # Tensors then have no memory, and numbers may be symbols.
        self.is_abstract = is_abstract
        self.addresses = (ctypes.c_void_p * count)()
        # What keeps it in place meanwhile.
        self.owners = []
        # The first tensor, which results are like, and the GPU that all are on.
        self.like = None
        self.device = None
        self.values = self.device_values = 0
        self.written = []
        self.stream = None


class Executor:
    """A program on one rank of a team: what program.on(team, rank) gives. It belongs to the thread of its rank.

    Calling it runs the program once, as all ranks do:

        results = executor(*arguments, out=None, stream=None, **arguments)

    Arguments are given by position, in the program's order, or by name. They are

        numbers of Python, for scalars that are only read,
        tensors, for all others: each is the rank's part, so it has the shape argument.part(rank).shape, the argument's
        element type, row-major order without gaps, and is on the device that executes the program: the CPU, or the
        same GPU for all. What the program writes is written to the tensors of inouts.
        lists of such tensors, for those that are scattered: their shapes are any, their elements together the part's.

    Tensors are NumPy's, PyTorch's (of a DTensor its to_local()) or those of anything that speaks DLPack. NumPy has no
    bf16 and no 8-bit floats: as in .npy files these are arrays of the dtypes V2 and V1, or those of the module
    ml_dtypes.

    Returns the program's results: None if it has none, a tensor if one, else a tuple. They are new tensors of the kind
    of the first argument that is a tensor, or what `out` gives: a tensor for one result, a sequence of tensors in the
    order of the results, or a mapping from their names to tensors; where it has None, or no name, one is allocated.

    On the CPU the run is done when this returns. On a GPU it is only started, on PyTorch's current stream if an
    argument is PyTorch's, else on `stream`: a CUstream as a number (the default stream if None), or an object that has
    one as `cuda_stream`, `ptr` or by `__cuda_stream__()`. Tensors must then stay until the stream has come past the
    run. Ranks that share a GPU need a stream each, and other ones than the default, which would hold one back for the
    other, and CUDA_DEVICE_MAX_CONNECTIONS=32 in the environment before CUDA is used, so that streams do not share queues. A graph that is being captured keeps the numbers of its scalars; tensors without dimensions on the GPU, for
    all scalars, are read anew in each replay.

    The first call, which all ranks make, makes the program ready, and takes memory; it is not to be captured. prepare()
    does so by itself.

    TypeError and ValueError say which argument is not as expected; ccn.Error what the runtime refuses or cannot do.
    """

    team: Team
    program: Program
    rank: int

    def __init__(self, team: Team, program: Program, rank: int) -> None:
        self.team, self.program, self.rank = team, program, rank
        slots = [_Slot(argument, argument.part(rank).shape, argument.kind != "input") for argument in program.arguments]
        self._parameters = [slot for slot in slots if slot.argument.kind != "result"]
        self._results = [slot for slot in slots if slot.argument.kind == "result"]
        self._places = {slot.argument.name: i for i, slot in enumerate(slots)}
        self._on_gpu = program.target == "gpu"
        self._pointer = None
        self._bound = None
        # After the first call.
        self._quick = self._likes = None

    @property
    def device(self) -> Optional[int]:
        """The number of the GPU on which it runs; None on the CPU, and until it is prepared."""
        if not self._on_gpu or self._pointer is None:
            return None
        device = ctypes.c_int()
        with self.team.handle:
            lib.ccn_executor_device(self._pointer, ctypes.byref(device))
        return device.value

    def prepare(self, device: Optional[int] = None) -> None:
        """Makes the program ready: takes all memory that runs need and, on a GPU, compiles kernels or takes them from
        the cache. All ranks call this, and wait for each other. `device` is the GPU's number; by default ranks take
        turns at the GPUs. (A first call does this for the GPU that its tensors are on.)"""
        if self._pointer is not None:
            if device is not None and device != self.device:
                raise ValueError(f"{self._where}: expected {self._device_name}, on which it has been prepared, found "
                                 f"cuda:{device}")
            return
        pointer = ctypes.c_void_p()
        number = _ANY_DEVICE if device is None else int32(device)
        with self.team.handle as team, self.program.handle as program:
            lib.ccn_executor_create(team, program, self.rank, number, ctypes.byref(pointer))
            self.team.keep(self.rank, pointer.value)
            self._pointer = pointer.value

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        if self._quick is not None and out is None and stream is None:
            made = self._quick.run(arguments, named)
            if made is not UNUSUAL:
                return made
        call = self._collect(arguments, named, stream, values=True)
        results = self._collect_results(call, out)
        self.prepare(call.device)
        if call.device_values and call.device_values < call.values:
            raise TypeError(f"{self._where}: expected numbers for all scalars, or tensors on the GPU for all")
        run = lib.ccn_executor_run if call.device_values else lib.ccn_executor_run_values
        with self.team.handle:
            run(self._pointer, call.addresses, len(call.addresses), call.stream)
        for value in call.written:
            _tensors.mark_written(value)
        if self._quick is None or self._likes is not type(call.like):
            self._quick, self._likes = QuickCalls.of(self, self._parameters, self._results, call.like), type(call.like)
        return self._returned(results)

    def bind(self, *arguments: Any, out: Any = None, **named: Any) -> Any:
        """Lets the other ranks access tensors where they are on GPUs, rather than copies of them, which each run else
        makes. All ranks call this at the same point. Scalars need not be given. Runs may still be given other tensors,
        which overlap none of these: what was bound is overwritten then.

        The executor keeps these until it is bound to others, before which graphs that were captured have ended. What
        the others' GPUs cannot access is still copied, as `copied` says: they can access all of PyTorch's memory,
        also in expandable segments, where processes share a network namespace. Returns the results, as a call does:
        they are to be given as `out` to the runs. On the CPU this does nothing else.
        """
        call = self._collect(arguments, named, None, values=False)
        results = self._collect_results(call, out)
        self.prepare(call.device)
        with self.team.handle:
            lib.ccn_executor_bind(self._pointer, call.addresses, len(call.addresses))
        self._bound = call.owners
        return self._returned(results)

    @property
    def copied(self) -> List[str]:
        """The names of the arguments and results that each run copies, as other ranks access them and they are not
        bound, or bound to memory that the others' GPUs cannot access; those that are only bound to other tensors than
        a run is given are not among them. None on the CPU, nor before it is prepared."""
        found = ctypes.c_int()
        names = []
        for name, place in self._places.items() if self._pointer is not None else ():
            with self.team.handle:
                lib.ccn_executor_copies(self._pointer, place, ctypes.byref(found))
            if found.value:
                names.append(name)
        return names

    def synchronize(self, stream: Any = None) -> None:
        """Waits until all in the stream is done, and raises TeamError for what a run could not do, or another rank.

        The stream is by default PyTorch's current one, where PyTorch has been imported and uses the GPU. On the CPU
        nothing is left to wait for. Who waits for a stream by other means is not told of failures, and may wait for
        ranks that are lost.
        """
        if self._pointer is None:
            self.team.check()
            return
        if stream is None and self._on_gpu:
            stream = _tensors.torch_stream(self.device)
        with self.team.handle:
            lib.ccn_executor_synchronize(self._pointer, self._stream(stream))

    def shapes_of_call(self, *arguments: Any) -> Any:
        """Checks what PyTorch's compiler would pass to a call, and returns results of it, whose values nobody needs."""
        call = self._collect(arguments, {}, None, values=True, is_abstract=True)
        return self._returned(self._collect_results(call, None))

    def part(self, name: str) -> Part:
        """The Part of an argument or result that this rank holds."""
        return self.program.argument(name).part(self.rank)

    def __repr__(self):
        return f"<ccn.Executor of program '{self.program.name}' on rank {self.rank} of {self.program.ranks}>"

    # What follows makes of what a caller passes what the runtime takes.

    @property
    def _where(self):
        return f"program '{self.program.name}'"

    @property
    def _device_name(self):
        return "cuda:{}".format(self.device) if self._on_gpu else "the CPU"

    def _stream(self, stream):
        if stream is None or isinstance(stream, int):
            return stream
        for name in ("cuda_stream", "ptr"):
            if hasattr(stream, name):
                return int(getattr(stream, name))
        if hasattr(stream, "__cuda_stream__"):
            return int(stream.__cuda_stream__()[1])
        raise TypeError(f"expected a stream of CUDA, found {type(stream).__name__}")

    def _given(self, arguments, named, values):
        """What is passed for each parameter, None where nothing need be."""
        parameters, where = self._parameters, self._where
        if len(arguments) > len(parameters):
            raise TypeError(f"{where}: expected {len(parameters)} arguments, found {len(arguments)}")
        given = list(arguments) + [None] * (len(parameters) - len(arguments))
        is_given = [True] * len(arguments) + [False] * (len(parameters) - len(arguments))
        for name, value in named.items():
            place = self._places.get(name)
            if place is None or place >= len(parameters):
                what = "argument" if place is None else "argument, but a result,"
                raise TypeError(f"{where} has no {what} '{name}'")
            if is_given[place]:
                raise TypeError(f"{where}: argument '{name}' is given by position and by name")
            given[place], is_given[place] = value, True
        for slot, is_there in zip(parameters, is_given):
            if not is_there and (values or not slot.argument.is_value):
                argument = slot.argument
                raise TypeError(f"{where}: argument '{argument.name}' is missing; expected {argument.type_name}")
        return given

    def _collect(self, arguments, named, stream, values, is_abstract=False):
        given = self._given(arguments, named, values)
        call = _Call(len(self._parameters) + len(self._results), is_abstract)
        call.stream = self._stream(stream)
        if self._on_gpu and not is_abstract:
            for value in self._tensors_of(given):
                torch = _tensors.torch_of(value)
                if torch is not None and value.is_cuda:
                    current = _tensors.torch_stream(value.device.index)
                    if call.stream is not None and call.stream != current:
                        raise ValueError(f"{self._where}: expected no stream besides PyTorch's current one")
                    call.stream = current
                    break
        for i, (slot, value) in enumerate(zip(self._parameters, given)):
            if slot.argument.is_value:
                if values and not is_abstract:
                    self._pass_value(call, i, slot, value)
            elif slot.argument.is_scattered:
                self._pass_list(call, i, slot, value)
            else:
                self._pass_tensor(call, i, slot, value)
        return call

    def _tensors_of(self, given):
        """All that is passed, with the tensors of lists one by one."""
        for slot, value in zip(self._parameters, given):
            if slot.argument.is_scattered and isinstance(value, (tuple, list)):
                yield from value
            else:
                yield value

    def _collect_results(self, call, out):
        results = self._results
        if out is None:
            out = [None] * len(results)
        elif hasattr(out, "keys"):
            for name in out:
                if name not in (slot.argument.name for slot in results):
                    raise TypeError(f"{self._where} has no result '{name}'")
            out = [out.get(slot.argument.name) for slot in results]
        elif not isinstance(out, (tuple, list)):
            out = [out]
        if len(out) != len(results):
            raise TypeError(f"{self._where}: expected {len(results)} results in 'out', found {len(out)}")
        used = []
        for i, (slot, value) in enumerate(zip(results, out), start=len(self._parameters)):
            if value is None:
                value = _tensors.allocate(call.like, slot.argument.element, slot.shape)
                if value is None:
                    like = "numbers" if call.like is None else f"tensors of type {type(call.like).__name__}"
                    raise TypeError(f"{self._where}: expected '{slot.argument.name}' in 'out', since results like "
                                    f"{like} cannot be allocated")
            self._pass_tensor(call, i, slot, value)
            used.append(value)
        return used

    @staticmethod
    def _returned(results):
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _error(self, kind, slot, text):
        what = "result" if slot.argument.kind == "result" else "argument"
        return kind(f"{self._where}: {what} '{slot.argument.name}': {text}")

    def _read(self, call, slot, value):
        try:
            return _tensors.read(value, slot.argument.element, call.stream, call.is_abstract)
        except (TypeError, ValueError, BufferError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise self._error(kind, slot, str(error)) from error

    def _pass_value(self, call, place, slot, value):
        element = slot.argument.element
        call.values += 1
        found = type(value).__name__
        if not isinstance(value, (int, float)):
            view = self._read(call, slot, value)
            if view is not None and view.device[0] in (_tensors.CUDA, _tensors.CUDA_MANAGED):
                self._pass_view(call, place, slot, view)
                call.device_values += 1
                return
            # A scalar of NumPy, or a tensor without dimensions: as a number, of the same kind.
            if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
                value = value.item()
        try:
            data = encode(element, value)
        except TypeError:
            raise self._error(TypeError, slot, f"expected a number that is {element.name}, found {found}") from None
        except OverflowError:
            raise self._error(ValueError, slot, f"{value} is out of the range of {element.name}") from None
        buffer = ctypes.c_uint64(int.from_bytes(data, sys.byteorder))
        call.addresses[place] = ctypes.addressof(buffer)
        call.owners.append(buffer)

    def _pass_tensor(self, call, place, slot, value):
        self._pass_view(call, place, slot, self._read_tensor(call, slot, value))
        self._keep(call, slot, value)

    def _pass_list(self, call, place, slot, values):
        """A tensor of its own is a list of one."""
        if not isinstance(values, (tuple, list)):
            values = [values]
        views = [self._read_tensor(call, slot, value) for value in values]
        for view, value in zip(views, values):
            self._check_element(slot, view)
            self._check_memory(call, slot, view)
            self._keep(call, slot, value)
            call.owners.append(view.owner)
        counts = [math.prod(view.shape) for view in views]
        if sum(counts) != math.prod(slot.shape):
            raise self._error(ValueError, slot, f"expected tensors of {math.prod(slot.shape)} elements together, as "
                                                f"the part of rank {self.rank} of {slot.argument.type_name} has, "
                                                f"found {sum(counts)}")
        if call.is_abstract:
            return
        buffers = (Buffer * len(views))(*((view.address, count) for view, count in zip(views, counts)))
        listed = Buffers(buffers, len(views))
        call.addresses[place] = ctypes.addressof(listed)
        call.owners += [buffers, listed]

    def _read_tensor(self, call, slot, value):
        view = self._read(call, slot, value)
        if view is None:
            what = "a tensor" if slot.shape or not slot.is_written else "a tensor without dimensions, which is written"
            what += " or a list of tensors" if slot.argument.is_scattered else ""
            raise self._error(TypeError, slot, f"expected {what}, found {type(value).__name__}")
        return view

    def _keep(self, call, slot, value):
        call.owners.append(value)
        if slot.is_written:
            call.written.append(value)
        if call.like is None:
            call.like = value

    def _pass_view(self, call, place, slot, view):
        self._check_element(slot, view)
        if view.shape != slot.shape:
            raise self._error(ValueError, slot, f"expected shape {list(slot.shape)}, which is the part of rank "
                                                f"{self.rank} of {slot.argument.type_name}, found {list(view.shape)}")
        self._check_memory(call, slot, view)
        call.addresses[place] = view.address
        call.owners.append(view.owner)

    def _check_element(self, slot, view):
        element = slot.argument.element
        if view.element is not element:
            raise self._error(TypeError, slot, f"expected elements of {element.name}, found {view.found}")

    def _check_memory(self, call, slot, view):
        if not view.is_contiguous:
            raise self._error(ValueError, slot, "expected row-major order without gaps, found other strides")
        self._check_device(call, slot, view.device)
        if view.read_only and slot.is_written:
            raise self._error(ValueError, slot, "it is read-only, and the program writes it")

    def _check_device(self, call, slot, device):
        """Whether a tensor is on the device of the others, or may be."""
        on_gpu = device[0] in (_tensors.CUDA, _tensors.CUDA_MANAGED)
        on_cpu = device[0] in (_tensors.CPU, _tensors.CUDA_HOST)
        if not (on_gpu if self._on_gpu else on_cpu):
            raise self._error(ValueError, slot, f"expected a tensor on {'a GPU' if self._on_gpu else 'the CPU'}, found "
                                                f"one on {_tensors.device_name(device)}")
        if self._on_gpu:
            if call.device is None:
                call.device = device[1] if self._pointer is None else self.device
            if call.device != device[1]:
                raise self._error(ValueError, slot, f"expected a tensor on cuda:{call.device}, as the others, found "
                                                    f"one on {_tensors.device_name(device)}")
