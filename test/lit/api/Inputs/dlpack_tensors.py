"""Tensors that speak DLPack and nothing else, of either version of its capsules."""

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object

_new = ctypes.pythonapi.PyCapsule_New
_new.argtypes, _new.restype = (c_void_p, c_char_p, c_void_p), py_object


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", c_void_p), ("deleter", c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", Tensor)]


class Speaker:
    """Memory as a tensor; `code` and `bits` are of DLPack. `streams` has the streams that were asked for."""

    def __init__(self, address, shape, code, bits, device=(1, 0), strides=None, flags=None, major=1, lanes=1, offset=0,
                 name=None):
        self.device, self.streams, self.is_versioned = device, [], flags is not None
        shape_array = (c_int64 * len(shape))(*shape)
        strides_array = None if strides is None else (c_int64 * len(strides))(*strides)
        tensor = Tensor(address, *device, len(shape), code, bits, lanes, shape_array, strides_array, offset)
        self.keep = shape_array, strides_array
        self.managed = (ManagedVersioned(major, 0, None, None, flags, tensor) if self.is_versioned else
                        Managed(tensor, None, None))
        self.name = name or (b"dltensor_versioned" if self.is_versioned else b"dltensor")

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, **options):
        if options and not self.is_versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        return _new(ctypes.addressof(self.managed), self.name, None)


def speaker(array, code, **options):
    """A NumPy array as a Speaker."""
    made = Speaker(array.ctypes.data, array.shape, code, 8 * array.itemsize,
                   strides=[stride // array.itemsize for stride in array.strides], **options)
    made.array = array
    return made
