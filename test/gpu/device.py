"""A GPU by CUDA's driver alone, for scripts that do without PyTorch: tensors that speak DLPack, a stream, graphs."""

import ctypes
import math
from ctypes import POINTER, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p

# Codes of DLPack, and bits.
ELEMENTS = {"f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i32": (0, 32), "i64": (0, 64)}
GPU = 2
NON_BLOCKING = THREAD_LOCAL = 1

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = (c_void_p, ctypes.c_char_p, c_void_p), ctypes.py_object


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device", c_int32), ("dims", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("offset", c_uint64), ("manager", c_void_p), ("deleter", c_void_p)]


class Tensor:
    """Memory, which is never given back."""

    def __init__(self, address, device, shape, element):
        self.address, self.device = address, device
        self._shape = (c_int64 * len(shape))(*shape)
        self._managed = _Managed(address, GPU, device, len(shape), *ELEMENTS[element], 1, self._shape)

    def __dlpack_device__(self):
        return GPU, self.device

    def __dlpack__(self, **_):
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor", None)


class Graph:
    def __init__(self, device, runner):
        self._device, self._runner = device, runner

    def replay(self):
        self._device.call("cuGraphLaunch", self._runner, self._device.stream)


class Device:
    """The GPU whose turn it is of so many, with a stream; it is this thread's current one."""

    def __init__(self, turn=0):
        self._driver = ctypes.CDLL("libcuda.so.1")
        count, context, stream = ctypes.c_int(), c_void_p(), c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self.number = turn % count.value
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.number)
        self.call("cuCtxPushCurrent_v2", context)
        self.call("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
        self.stream = stream

    def call(self, name, *arguments):
        status = getattr(self._driver, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown').decode()}")

    def zeros(self, shape, element):
        size = max(math.prod(shape) * ELEMENTS[element][1] // 8, 1)
        address = c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), c_size_t(size))
        self.call("cuMemsetD8Async", address, c_uint8(0), c_size_t(size), self.stream)
        return Tensor(address.value, self.number, shape, element)

    def capture(self, run):
        """A graph of what run() puts into the stream."""
        graph, runner = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, THREAD_LOCAL)
        run()
        self.call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        self.call("cuGraphInstantiateWithFlags", ctypes.byref(runner), graph, c_uint64(0))
        return Graph(self, runner)
