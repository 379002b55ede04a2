"""Tensors on GPUs that speak DLPack, on a driver whose devices are threads and whose memory is the host's.

    python_gpus.py AVERAGE NEIGHBOUR

The packages are those of SamplePackages.h. `average`, on 4 ranks, is y <- y + scale * all_reduce(sum, x), and s is a
slice of y; `neighbour`, on 2, is y = x of the other.
"""

import ctypes
import sys
import types

from python_util import np, refused

import ccn
from dlpack_tensors import Speaker

F32 = np.float32
cuda = ctypes.CDLL("libcuda.so.1")
for name in ("cuMemAlloc_v2", "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRetain", "cuStreamCreate"):
    getattr(cuda, name).restype = ctypes.c_int


def check(result):
    assert result == 0, result


def use(device):
    """Makes a device current in this thread."""
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), ctypes.c_int(device)))
    check(cuda.cuCtxPushCurrent_v2(context))


def stream():
    made = ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(made), 1))
    return made.value


def on_gpu(values, device, flags=None):
    """A tensor with these values on a device, `host` of which is the same memory."""
    values = np.asarray(values, F32)
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(values.nbytes, 4))))
    tensor = Speaker(address.value, values.shape, 2, 32, device=(2, device), flags=flags)
    memory = (ctypes.c_float * values.size).from_address(address.value)
    tensor.host = np.frombuffer(memory, F32).reshape(values.shape)
    tensor.host[...] = values
    return tensor


check(cuda.cuInit(0))
average = ccn.load(sys.argv[1])
assert average.target == "gpu" and average.ranks == 4 and ccn.load(sys.argv[1], "cpu").target == "cpu"
count = average.argument("x").shape[0]
rng = np.random.default_rng(5)
x = rng.standard_normal((4, count)).astype(F32)
total = ((x[0] + x[1]) + x[2]) + x[3]
y = np.arange(count, dtype=F32)


def of_rank(rank, bind, device_scalar):
    executor = average.on(team, rank)
    assert executor.device is None
    use(rank)
    own = {"x": on_gpu(x[rank], rank), "y": on_gpu(y, rank), "scale": on_gpu(F32(0.25), rank)}
    s = on_gpu(np.zeros(average.argument("s").part(rank).shape), rank, flags=0)
    where = stream()
    # A host's tensor, one of another GPU, and no place for the result.
    with refused(ValueError, "argument 'x': expected a tensor on a GPU, found one on the CPU"):
        executor(x[rank], own["y"], 0.25, out=s)
    with refused(ValueError, f"argument 'y': expected a tensor on cuda:{rank}, as the others, found one on "
                 f"cuda:{rank ^ 1}"):
        executor(own["x"], Speaker(own["y"].managed.tensor.data, (count,), 2, 32, device=(2, rank ^ 1)), 0.25, out=s)
    with refused(TypeError, "expected 's' in 'out', since results like tensors of type Speaker cannot be allocated"):
        executor(own["x"], own["y"], 0.25)
    if rank % 2:
        executor.prepare(rank)
    if bind:
        # The scalar need not be given.
        assert executor.bind(own["x"], y=own["y"], out=s) is s
    executor.prepare(rank if bind else None)
    expected = y.copy()
    for number in (0.25, 2.0):
        scale = own["scale"] if device_scalar else number
        if device_scalar:
            own["scale"].host[...] = number
        assert executor(own["x"], own["y"], scale=scale, out=[s], stream=where) is s
        executor.synchronize(where)
        expected += F32(number) * total
        assert np.array_equal(own["y"].host, expected), rank
        offset, shape = executor.part("s")
        assert np.array_equal(s.host, expected[offset[0]:offset[0] + shape[0]]), rank
    # Producers are told the stream; the default one has a number of its own in DLPack.
    assert own["x"].streams[-1] == where and s.streams[-1] == where
    other = on_gpu(y, rank)
    executor(own["x"], other, 0.25, out=s, stream=where)
    executor.synchronize(where)
    assert np.array_equal(other.host, y + F32(0.25) * total)
    # This driver has none to run on.
    with refused(TypeError, "argument 'y': expected a tensor, found int"):
        executor(own["x"], 7, 0.25)
    assert own["x"].streams[-1] == 1
    assert executor.device == rank
    with refused(ValueError, f"expected cuda:{rank}, on which it has been prepared, found cuda:{rank ^ 1}"):
        executor.prepare(rank ^ 1)
    with refused(ValueError, f"argument 'x': expected a tensor on cuda:{rank}, as the others"):
        executor(Speaker(1024, (count,), 2, 32, device=(2, rank ^ 1)), other, 0.25, out=s)

    # Streams of other kinds.
    class Wrapped:
        ptr = where

    class Protocol:
        def __cuda_stream__(self):
            return 0, where

    for kind in (Wrapped(), Protocol()):
        executor(own["x"], other, 0.25, out=s, stream=kind)
        assert own["x"].streams[-1] == where
        executor.synchronize(kind)


for bind in (False, True):
    for device_scalar in (False, True):
        with ccn.Team(average, time_limit=30) as team:
            team.run(lambda rank: of_rank(rank, bind, device_scalar))



class TorchTensor:
    """What ccn uses of PyTorch's tensors; PyTorch itself does not run on this driver."""

    requires_grad, layout, dtype, is_cuda = False, "strided", "torch.float32", True

    def __init__(self, values, device):
        self.memory = on_gpu(values, device)
        self.shape, self.device = self.memory.host.shape, types.SimpleNamespace(type="cuda", index=device)

    def data_ptr(self):
        return self.memory.managed.tensor.data

    is_contiguous = is_inference = lambda self: True
    is_neg = is_conj = lambda self: False


def torch_rank(rank):
    """PyTorch's current stream is taken, of the rank's device, and results are PyTorch's."""
    use(rank)
    streams[rank] = stream()
    executor = average.on(team, rank)
    own_x, own_y = TorchTensor(x[rank], rank), TorchTensor(y, rank)
    s = executor(own_x, own_y, 0.25)
    executor.synchronize()
    expected = y + F32(0.25) * total
    offset, shape = executor.part("s")
    assert type(s) is TorchTensor and np.array_equal(s.memory.host, expected[offset[0]:offset[0] + shape[0]])
    assert np.array_equal(own_y.memory.host, expected)
    with refused(ValueError, "expected no stream besides PyTorch's current one"):
        executor(own_x, own_y, 0.25, stream=stream())
    assert executor(own_x, own_y, 0.25, stream=streams[rank], out=s) is s
    # Later calls are checked in another way.
    assert executor._quick is not None
    run, ran = executor._quick.run, []
    executor._quick.run = lambda *values: ran.append(run(*values)) or ran[0]
    executor.synchronize()
    own_y.memory.host[...] = y
    again = executor(own_x, own_y, 0.25)
    executor.synchronize()
    part = expected[offset[0]:offset[0] + shape[0]]
    assert type(again) is TorchTensor and np.array_equal(again.memory.host, part), (again, part)
    assert again is ran[0] and again is not s and np.array_equal(own_y.memory.host, expected)
    executor._quick.run = run
    # Tensors of others go by this stream as well.
    mixed = on_gpu(y, rank)
    executor(own_x, mixed, 0.25, out=s)
    executor.synchronize()
    assert mixed.streams == [streams[rank]] and np.array_equal(mixed.host, expected)
    # For all scalars or for none.
    executor(own_x, mixed, TorchTensor(F32(0), rank), out=s)
    executor.synchronize()
    assert np.array_equal(mixed.host, expected)


streams = {}
sys.modules["torch"] = types.SimpleNamespace(
    Tensor=TorchTensor, nn=types.SimpleNamespace(Parameter=TorchTensor), _C=None, strided="strided", float32="torch.float32", is_grad_enabled=lambda: True,
    empty=lambda shape, dtype, device: TorchTensor(np.zeros(shape), device.index),
    cuda=types.SimpleNamespace(is_initialized=lambda: True, current_stream=lambda device: types.SimpleNamespace(
        cuda_stream=streams[device])))
with ccn.Team(average, time_limit=30) as team:
    team.run(torch_rank)
del sys.modules["torch"]

# What others access is copied, unless it is bound.
neighbour = ccn.load(sys.argv[2])


def neighbour_rank(rank):
    use(rank)
    executor = neighbour.on(team, rank)
    assert executor.copied == []
    own, y, where = on_gpu(x[rank], rank), on_gpu(np.zeros(count), rank), stream()
    executor.prepare(rank)
    assert executor.copied == ["x"]
    for bound in (False, True):
        y.host[...] = 0
        executor(own, out=y, stream=where)
        executor.synchronize(where)
        assert np.array_equal(y.host, x[1 - rank])
        executor.bind(own, out=y)
        assert executor.copied == []


with ccn.Team(neighbour, time_limit=30) as team:
    team.run(neighbour_rank)

# A rank's failure ends those that wait.
with refused(ZeroDivisionError, "division by zero"):
    with ccn.Team(average, time_limit=30) as team:
        team.run(lambda rank: 1 / (rank - 3) and of_rank(rank, False, False))
# What is not closed: at the end of Python.
team = ccn.Team(average, time_limit=30)
team.run(lambda rank: of_rank(rank, True, False))
print("right")
