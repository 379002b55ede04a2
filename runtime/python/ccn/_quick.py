"""Calls with nothing unusual, of which there may be many a millisecond: all tensors are NumPy's, or all PyTorch's, and numbers
are Python's.

What makes such a call fit is checked in a few comparisons. Any other call goes the executor's way, which finds out what
is unusual about it, or wrong.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from typing import Any, NamedTuple, Optional

from ._library import Buffer, Buffers, lib

_byte_of, _address_of = ctypes.c_char.from_buffer, ctypes.addressof
# What a call is that goes the other way.
UNUSUAL = object()


class _Number(NamedTuple):
    """A scalar that is only read: how it is packed, at which byte, and which of Python's types it has."""

    pack: Any
    offset: int
    types: tuple


class _Tensor(NamedTuple):
    """A rank's part: its dtype in the library whose tensors are passed, and whether the program writes it. Of a scattered
    argument it is one of the tensors, whose shape may be any, and `count` is how many elements all have together."""

    dtype: Any
    shape: Optional[tuple]
    is_written: bool
    count: Optional[int] = None


class _Numpy:
    """What is checked of arrays of NumPy."""

    def __init__(self, numpy):
        self._array, self._empty = numpy.ndarray, numpy.empty
        self.dtype_of = lambda element: None if element.numpy[0] == "V" else numpy.dtype(element.numpy)

    def address(self, value, expected):
        if type(value) is not self._array or value.dtype is not expected.dtype:
            return None
        if expected.shape is not None and value.shape != expected.shape:
            return None
        if not value.flags.c_contiguous or not value.size:
            return None
        try:
            return _address_of(_byte_of(value))
        except (TypeError, ValueError):
            # It is read-only, where this quicker way does not go.
            return None if expected.is_written else value.__array_interface__["data"][0]

    def begin(self):
        return None

    @staticmethod
    def count(value):
        return value.size

    def allocate(self, expected):
        return self._empty(expected.shape, expected.dtype)

    def mark(self, value):
        pass


class _Torch:
    """What is checked of tensors of PyTorch, all on one device."""

    def __init__(self, torch, device):
        self._torch, self._device, self._types = torch, device, (torch.Tensor, torch.nn.Parameter)
        self._strided = torch.strided
        self.dtype_of = lambda element: getattr(torch, element.torch, None)
        # The stream's number, without an object for it.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) if device.type == "cuda" else None

    def begin(self):
        """The stream that the run is on."""
        if self._device.type != "cuda":
            return None
        if self._raw_stream is not None:
            return self._raw_stream(self._device.index)
        return self._torch.cuda.current_stream(self._device.index).cuda_stream

    @staticmethod
    def count(value):
        return value.numel()

    def address(self, value, expected):
        if type(value) not in self._types or value.dtype is not expected.dtype:
            return None
        if expected.shape is not None and value.shape != expected.shape:
            return None
        if value.device != self._device or value.layout is not self._strided or not value.is_contiguous():
            return None
        if value.is_neg() or (value.requires_grad and self._torch.is_grad_enabled()):
            return None
        try:
            return value.data_ptr() or None
        except RuntimeError:
            # It only stands for another one.
            return None

    def allocate(self, expected):
        return self._torch.empty(expected.shape, dtype=expected.dtype, device=self._device)

    def mark(self, value):
        if not value.is_inference():
            self._torch.autograd.graph.increment_version(value)


def _library_of(value):
    """What checks tensors like this one; None if that is done the other way."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and type(value) is getattr(numpy, "ndarray", None):
        return _Numpy(numpy)
    if torch is not None and type(value) is getattr(torch, "Tensor", None):
        return _Torch(torch, value.device)
    return None


class QuickCalls:
    """Calls of an executor that has run."""

    def __init__(self, executor, library, parameters, results, names):
        self._handle, self._pointer, self._library = executor.team.handle, executor._pointer, library
        self._parameters, self._results, self._names = parameters, results, names
        count = len(parameters) + len(results)
        self._addresses = ctypes.c_void_p * count
        self._numbers = ctypes.c_uint64 * max(1, sum(isinstance(one, _Number) for one in parameters))
        self._count = count

    @staticmethod
    def of(executor, parameters, results, like) -> Optional[QuickCalls]:
        """Calls with tensors like this one; None if all go the other way."""
        library = _library_of(like)
        if library is None:
            return None
        expected, numbers = [], 0
        for slot in parameters:
            element = slot.argument.element
            if slot.argument.is_value:
                if not element.packing and element.narrow or element.name == "bool":
                    return None
                code = element.packing or "=" + {8: "b", 16: "h", 32: "i", 64: "q"}[element.dlpack[1]]
                code = code.upper() if element.name.startswith("u") else code
                types = (float, int) if element.packing else (int,)
                expected.append(_Number(struct.Struct(code).pack_into, 8 * numbers, types))
                numbers += 1
            elif slot.argument.is_scattered:
                count = math.prod(slot.shape)
                expected.append(_Tensor(library.dtype_of(element), None if count else (0,), slot.is_written, count))
            else:
                expected.append(_Tensor(library.dtype_of(element), slot.shape, slot.is_written))
        made = [_Tensor(library.dtype_of(slot.argument.element), slot.shape, True) for slot in results]
        if any(isinstance(one, _Tensor) and (one.dtype is None or 0 in (one.shape or ())) for one in expected + made):
            return None
        return QuickCalls(executor, library, expected, made, [slot.argument.name for slot in parameters])

    def _list(self, values, expected):
        """What is passed for a scattered argument; None if something is unusual."""
        library, found, total = self._library, [], 0
        if type(values) is not list and type(values) is not tuple:
            return None
        for value in values:
            address = library.address(value, expected)
            if address is None:
                return None
            count = library.count(value)
            total += count
            found.append((address, count))
        # The structure keeps the array that it points to.
        return Buffers((Buffer * len(found))(*found), len(found)) if total == expected.count else None

    def run(self, arguments, named):
        """Runs the program, and returns what a call does; UNUSUAL if nothing was done."""
        if named:
            # Each is given once.
            if len(arguments) + len(named) != len(self._parameters):
                return UNUSUAL
            try:
                arguments += tuple([named[name] for name in self._names[len(arguments):]])
            except KeyError:
                return UNUSUAL
        if len(arguments) != len(self._parameters):
            return UNUSUAL
        library, addresses, written, lists = self._library, [], [], []
        stream, numbers = library.begin(), self._numbers()
        base = ctypes.addressof(numbers)
        for value, expected in zip(arguments, self._parameters):
            if type(expected) is _Tensor and expected.count is not None:
                listed = self._list(value, expected)
                if listed is None:
                    return UNUSUAL
                lists.append(listed)
                addresses.append(_address_of(listed))
                if expected.is_written:
                    written += value
                continue
            if type(expected) is _Tensor:
                address = library.address(value, expected)
                if address is None:
                    return UNUSUAL
                addresses.append(address)
                if expected.is_written:
                    written.append(value)
                continue
            if type(value) not in expected.types:
                return UNUSUAL
            try:
                expected.pack(numbers, expected.offset, value)
            except (OverflowError, struct.error):
                return UNUSUAL
            addresses.append(base + expected.offset)
        results = []
        for expected in self._results:
            results.append(library.allocate(expected))
            addresses.append(library.address(results[-1], expected))
        with self._handle:
            lib.ccn_executor_run_values(self._pointer, self._addresses(*addresses), self._count, stream)
        for value in written:
            library.mark(value)
        return None if not results else results[0] if len(results) == 1 else tuple(results)
