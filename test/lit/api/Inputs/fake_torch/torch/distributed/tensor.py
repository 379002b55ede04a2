"""DTensors that are what they are made of: parts, and what is said of them."""

from typing import NamedTuple

from .. import Tensor


class Shard(NamedTuple):
    dim: int


class Replicate(NamedTuple):
    pass


class Partial(NamedTuple):
    reduce_op: str = "sum"


class DeviceMesh:
    def __init__(self, sizes, names, rank):
        self.shape, self.mesh_dim_names, self.rank = sizes, names, rank

    def get_coordinate(self):
        at, rank = [], self.rank
        for size in reversed(self.shape):
            at.insert(0, rank % size)
            rank //= size
        return at


class DTensor(Tensor):
    def __init__(self, local, device_mesh, placements, shape):
        self.local, self.device_mesh, self.placements, self.whole = local, device_mesh, tuple(placements), shape
        self.dtype, self.grad_placements = local.dtype, None

    @property
    def shape(self):
        return self.whole

    @staticmethod
    def from_local(local, device_mesh, placements, *, run_check, shape, stride):
        assert run_check is False and len(stride) == len(shape)
        return DTensor(local, device_mesh, placements, shape)

    def to_local(self, grad_placements=None):
        self.grad_placements = grad_placements
        return self.local
