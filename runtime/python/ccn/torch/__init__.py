"""Programs in PyTorch: as operators with gradients, on DTensors, and modules and optimizers that are made of them.

    import ccn.torch

    mlp = ccn.compile("mlp.ccn", program="mlp", mesh=ccn.torch.mesh(device_mesh))
    backward = ccn.compile("mlp.ccn", program="mlp_backward", mesh=ccn.torch.mesh(device_mesh))
    ccn.torch.join(mlp, backward)                                     # of torch.distributed's ranks, a team
    operator = ccn.torch.register(mlp, "ccn::mlp", backward=backward)
    y, _ = operator(x, w1, w2)                                        # or torch.ops.ccn.mlp: each rank's own parts, or DTensors
"""

from ._attention import RingAttention
from ._dtensors import placements_of, with_dtensors
from ._modules import AllReduceRMSNorm, TensorParallelMLP
from ._operators import register
from ._optimizers import FusedAdamW, FusedLAMB
from ._ranks import join, mesh

__all__ = ["AllReduceRMSNorm", "FusedAdamW", "FusedLAMB", "RingAttention", "TensorParallelMLP", "join", "mesh",
           "placements_of", "register", "with_dtensors"]

# As which they are imported.
for _name in __all__:
    globals()[_name].__module__ = __name__
