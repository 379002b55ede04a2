"""As much of PyTorch as ccn.torch needs, for machines without it: tensors of NumPy's memory, operators, and what calls them
as autograd would. No operations on tensors, so nothing here computes but ccn."""

import contextlib
import copy
import types

import numpy as np

strided = "torch.strided"
float64, float32, float16, bfloat16, int64 = (f"torch.{name}" for name in ("float64", "float32", "float16", "bfloat16",
                                                                           "int64"))
contiguous_format = "torch.contiguous_format"
cuda = types.SimpleNamespace(is_initialized=lambda: False)


def is_grad_enabled():
    return False


class no_grad(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


enable_grad = no_grad
Size = tuple


class _Graph:
    @staticmethod
    def increment_version(tensor):
        tensor.version += 1


class _Function:
    """Not called here: it is for where programs do not fit."""


autograd = types.SimpleNamespace(graph=_Graph, Function=_Function)


class device:
    def __init__(self, name):
        self.type, self.index = (name.type if isinstance(name, device) else name), None

    def __repr__(self):
        return self.type

    def __eq__(self, other):
        return self.type == other.type

    def __hash__(self):
        return hash(self.type)


class Tensor:
    layout, requires_grad, device, grad = strided, False, device("cpu"), None

    def __init__(self, array, dtype=float32):
        self.array, self.dtype, self.version = np.asarray(array, dtype.split(".")[1]), dtype, 0

    @property
    def shape(self):
        return self.array.shape

    def data_ptr(self):
        return self.array.ctypes.data if self.array.size else 0

    def numel(self):
        return self.array.size

    def tolist(self):
        return self.array.tolist()

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def contiguous(self):
        return self if self.is_contiguous() else Tensor(self.array.copy(), self.dtype)

    def uniform_(self, low, high):
        self.array[...] = np.random.default_rng(3).uniform(low, high, self.array.shape)

    def copy_(self, other):
        self.array[...] = other.array

    def __getitem__(self, index):
        return Tensor(self.array[index], self.dtype)

    def __setitem__(self, index, value):
        self.array[index] = value

    def detach(self):
        return self

    def clone(self, memory_format=None):
        return Tensor(self.array.copy(), self.dtype)

    def is_neg(self):
        return False

    is_conj = is_inference = is_neg


def empty(*shape, dtype=float32, device=None):
    shape = shape[0] if shape and isinstance(shape[0], tuple) else shape
    return Tensor(np.empty(shape, dtype.split(".")[1]), dtype)


def zeros(*shape, dtype=float32, device=None):
    made = empty(*shape, dtype=dtype)
    made.array[...] = 0
    return made


def ones(*shape, dtype=float32, device=None):
    made = empty(*shape, dtype=dtype)
    made.array[...] = 1
    return made


class _Module:
    def __call__(self, *values, **named):
        return self.forward(*values, **named)


def _parameter(tensor):
    tensor.requires_grad = True
    return tensor


def _pad(tensor, widths):
    pairs = [(0, 0)] * (len(tensor.shape) - len(widths) // 2) + list(zip(widths[::2], widths[1::2]))[::-1]
    return Tensor(np.pad(tensor.array, pairs), tensor.dtype)


nn = types.SimpleNamespace(Module=_Module, Parameter=_parameter, functional=types.SimpleNamespace(pad=_pad))


class _Optimizer:
    def __init__(self, params, defaults):
        self.param_groups, self.defaults = [], defaults
        listed = list(params)
        for group in listed if isinstance(listed[0], dict) else [{"params": listed}]:
            self.add_param_group(group)

    def add_param_group(self, group):
        self.param_groups.append({**self.defaults, **group, "params": list(group["params"])})

    def state_dict(self):
        # As PyTorch's, whose tensors are those of the optimizer.
        return {"state": {}, "param_groups": [{**group, "params": list(range(len(group["params"])))}
                                              for group in self.param_groups]}

    def load_state_dict(self, state):
        if len(state["param_groups"]) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        self.param_groups = [{**copy.deepcopy(loaded), "params": group["params"]}
                             for group, loaded in zip(self.param_groups, state["param_groups"])]


optim = types.SimpleNamespace(Optimizer=_Optimizer)


class _Namespace:
    """Its operators are attributes; one that is not there is an AttributeError."""


class _Ops:
    def __getattr__(self, name):
        setattr(self, name, _Namespace())
        return getattr(self, name)


ops = _Ops()


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        self.constant = tensors


class _Operator:
    compute = None

    def __init__(self):
        self.rules = {}

    def __call__(self, *values):
        for kind, rule in self.rules.items():
            if any(isinstance(value, kind) for value in values):
                return rule(kind, self, (kind,), values, {})
        return self.function(*values)

    def differentiate(self, values, gradients):
        """What autograd does: the gradients of the values, and what is not differentiable."""
        context = _Context()
        self.save(ctx=context, inputs=tuple(values), output=self.function(*values))
        found = self.compute(context, *gradients)
        return found if isinstance(found, tuple) else (found,), context.constant


class Tag:
    pt2_compliant_tag = "pt2_compliant_tag"


compiler = types.SimpleNamespace(disable=lambda function: function)


def _operator(name):
    namespace, own = name.split("::")
    return getattr(getattr(ops, namespace), own).default


class library:
    class Library:
        def __init__(self, namespace, kind):
            self.namespace = namespace

        def define(self, schema, *, tags):
            made = types.SimpleNamespace(default=_Operator())
            setattr(getattr(ops, self.namespace), schema.partition("(")[0], made)

        def impl(self, name, function, key):
            # Of what torch.func calls nothing is tested here.
            if key == "CompositeExplicitAutograd":
                _operator(f"{self.namespace}::{name}").function = function

    @staticmethod
    def register_fake(name, function, *, lib):
        _operator(name).fake = function

    @staticmethod
    def register_autograd(name, function, *, setup_context=None, lib):
        _operator(name).compute, _operator(name).save = function, setup_context

    @staticmethod
    def register_torch_dispatch(name, kind, function, *, lib):
        _operator(name).rules[kind] = function


from . import distributed  # noqa: E402
