"""Reads where tensors of NumPy, PyTorch and all that speaks DLPack are, and allocates results like them.

NumPy and PyTorch are never imported here: whoever passes their tensors has done so.
"""

import ctypes
import sys
from ctypes import (POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p,
                    py_object)
from typing import Any, NamedTuple, Optional

from ._elements import BY_DLPACK, BY_TORCH, ElementType

# Of DLDeviceType.
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_DEVICES = {CPU: "the CPU", CUDA_HOST: "the CPU (pinned by CUDA)", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm",
            14: "oneAPI"}
# Of DLManagedTensorVersioned.
_READ_ONLY, _IS_COPIED = 1, 2


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", _DLTensor)]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (py_object, c_char_p), c_int
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = (py_object, c_char_p), c_void_p


class View(NamedTuple):
    """Where a tensor is. `element` is None if it has elements that ccn does not have, which `found` names."""

    address: int
    element: Optional[ElementType]
    found: str
    shape: tuple
    is_contiguous: bool
    device: tuple
    read_only: bool
    # What keeps the memory while this is in use.
    owner: Any


def device_name(device):
    kind, number = device
    if kind == CUDA:
        return f"cuda:{number}"
    return _DEVICES.get(kind, kind if isinstance(kind, str) else f"a device of DLPack's type {kind}")


def _is_contiguous(shape, strides):
    """Whether a tensor is row-major without gaps; strides are in the unit in which the last is 1."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _module(name, attribute):
    """A module whose tensors there may be: one that has been imported, to its end."""
    module = sys.modules.get(name)
    return module if hasattr(module, attribute) else None


def torch_of(value):
    """PyTorch, if this is one of its tensors."""
    torch = _module("torch", "Tensor")
    return torch if torch is not None and isinstance(value, torch.Tensor) else None


def mark_written(value):
    """Tells PyTorch that the tensor has changed, so that no gradient is computed from what it was."""
    torch = torch_of(value)
    if torch is not None and not value.is_inference():
        torch.autograd.graph.increment_version(value)


def numpy_of(value):
    """NumPy, if this is one of its arrays."""
    numpy = _module("numpy", "ndarray")
    return numpy if numpy is not None and isinstance(value, numpy.ndarray) else None


def torch_stream(device):
    """The CUDA stream that PyTorch currently uses of a GPU, None if it uses none."""
    torch = _module("torch", "Tensor")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return torch.cuda.current_stream(device).cuda_stream


def _torch_address(value):
    """Where a tensor of PyTorch is. Subclasses that only stand for others have no memory."""
    try:
        address = value.data_ptr()
    except RuntimeError:
        address = 0
    if address == 0 and value.numel() > 0:
        raise TypeError(f"expected a tensor with memory of its own, found {type(value).__name__}")
    return address


def _read_torch(torch, value, is_abstract):
    # DTensors: what ranks hold of them says nothing of how.
    if hasattr(value, "to_local") and hasattr(value, "placements"):
        raise TypeError(f"expected the rank's own part as a plain tensor, found {type(value).__name__}; its to_local() "
                        "is that part, if its placements are the program's")
    if value.layout is not torch.strided:
        raise TypeError(f"expected a dense tensor, found {value.layout}")
    if value.requires_grad and torch.is_grad_enabled():
        raise ValueError("it requires a gradient, which ccn does not compute; expected torch.no_grad() or detach()")
    if value.is_neg() or value.is_conj():
        raise ValueError("expected a tensor without pending negation or conjugation: resolve_neg(), resolve_conj()")
    kind = value.device.type
    device = (CPU, 0) if kind == "cpu" else (CUDA if kind == "cuda" else kind, value.device.index or 0)
    name = str(value.dtype)
    element = BY_TORCH.get(name)
    address = 0 if is_abstract or kind not in ("cpu", "cuda") else _torch_address(value)
    return View(address, element, element.name if element else name, tuple(value.shape),
                value.is_contiguous(), device, False, value)


def _numpy_element(value, typestr):
    order, code = typestr[0], typestr[1:]
    if order == ">" or value.dtype.fields:
        return None
    candidates = [element for element in BY_DLPACK.values() if element.numpy == code]
    # Void elements can be any of their size, those of ml_dtypes are what they are called.
    if code[0] == "V" and value.dtype.name != "void" + str(8 * int(code[1:])):
        candidates = [element for element in candidates if element.torch == value.dtype.name]
    return tuple(candidates)


def _read_numpy(value, expected):
    if hasattr(value, "mask"):
        raise TypeError("expected an array without a mask")
    interface = value.__array_interface__
    address, read_only = interface["data"]
    candidates = _numpy_element(value, interface["typestr"]) or ()
    element = expected if expected in candidates else (candidates[0] if len(candidates) == 1 else None)
    return View(address, element, element.name if element else f"dtype {value.dtype}", value.shape,
                value.flags.c_contiguous, (CPU, 0), read_only, value)


def _capsule(value, stream):
    """What value.__dlpack__ gives, if it can as of DLPack 1.0, which knows of read-only tensors."""
    options = {} if stream is None else {"stream": stream}
    try:
        return value.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        # An older producer does not know max_version.
        return value.__dlpack__(**options)


def _read_dlpack(value, stream):
    kind, number = (int(part) for part in value.__dlpack_device__())
    on_gpu = kind in (CUDA, CUDA_MANAGED)
    # The capsule is not taken over, so it keeps the memory as long as it lives. None of CUDA's streams is 0 in
    # DLPack, the default one is 1.
    capsule = _capsule(value, (stream or 1) if on_gpu else None)
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        if managed.major != 1:
            raise TypeError(f"expected a tensor of DLPack 1, found one of DLPack {managed.major}.{managed.minor}")
        tensor, flags = managed.tensor, managed.flags
    elif _is_valid(capsule, b"dltensor"):
        tensor, flags = _DLTensor.from_address(_pointer_of(capsule, b"dltensor")), 0
    else:
        raise TypeError(f"expected a capsule of DLPack, found {capsule!r}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    is_contiguous = not tensor.strides or 0 in shape or _is_contiguous(
        shape, [tensor.strides[i] for i in range(tensor.ndim)])
    element = BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    found = element.name if element else (f"DLPack's type of code {tensor.code}, {tensor.bits} bits, {tensor.lanes} "
                                          "lanes")
    # What is written to a copy is lost.
    return View((tensor.data or 0) + tensor.byte_offset, element, found, shape, is_contiguous,
                (tensor.device_type, tensor.device_id), bool(flags & (_READ_ONLY | _IS_COPIED)), capsule)


def read(value, expected, stream=None, is_abstract=False):
    """The view of a tensor, None if this is none. `expected` is the element type to take for NumPy's void elements,
    `stream` the CUDA stream by whose order the tensor is about to be used. An abstract tensor, as PyTorch's compiler
    has, has no address."""
    torch = torch_of(value)
    if torch is not None:
        return _read_torch(torch, value, is_abstract)
    if numpy_of(value) is not None:
        return _read_numpy(value, expected)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _read_dlpack(value, stream)
    return None


def allocate(like, element, shape):
    """A tensor of what `like` is, on its device; None if that is neither NumPy's nor PyTorch's."""
    torch = torch_of(like)
    if torch is not None:
        return torch.empty(shape, dtype=getattr(torch, element.torch), device=like.device)
    numpy = numpy_of(like)
    if numpy is not None:
        return numpy.empty(shape, element.numpy)
    return None
