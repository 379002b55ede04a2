"""As much of PyTorch as ccn.torch needs, for machines without it: tensors of NumPy's memory, and operators."""

import types

import numpy as np

strided = "torch.strided"
float32 = "torch.float32"
cuda = types.SimpleNamespace(is_initialized=lambda: False)


def is_grad_enabled():
    return False


class _Graph:
    @staticmethod
    def increment_version(tensor):
        tensor.version += 1


autograd = types.SimpleNamespace(graph=_Graph)


class Tensor:
    layout, dtype, requires_grad = strided, float32, False
    device = types.SimpleNamespace(type="cpu", index=None)

    def __init__(self, array):
        self.array, self.shape, self.version = np.asarray(array, np.float32), np.shape(array), 0

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size

    def tolist(self):
        return self.array.tolist()

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def is_neg(self):
        return False

    is_conj = is_inference = is_neg


def empty(shape, dtype, device):
    return Tensor(np.empty(shape, np.float32))


class _Namespace:
    """Its operators are attributes; one that is not there is an AttributeError."""


class _Ops:
    def __getattr__(self, name):
        setattr(self, name, _Namespace())
        return getattr(self, name)


ops = _Ops()


class _Operator:
    def __init__(self, function):
        self.function = function

    def register_fake(self, function):
        self.fake = function

    def __call__(self, *values):
        return self.function(*values)


class library:
    @staticmethod
    def custom_op(name, function, mutates_args, schema):
        namespace, own = name.split("::")
        operator = _Operator(function)
        setattr(getattr(ops, namespace), own, operator)
        return operator
