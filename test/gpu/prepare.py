"""How long it takes to make programs ready on a GPU: where kernels are compiled, and where they come from the cache.

    prepare.py PACKAGE [PACKAGE ...]

Of each package of one rank, the milliseconds of NVRTC and everything else the first time, and the second. CCN_CACHE_DIR
should be empty before. It needs PyTorch, and the package ccn on PYTHONPATH, with its libccn.
"""

import os
import sys
import time

import torch

import ccn

torch.zeros(1, device="cuda")
for path in sys.argv[1:]:
    times = []
    for _ in range(2):
        with ccn.Team(ccn.load(path, "gpu")) as team:
            torch.cuda.synchronize()
            begin = time.monotonic()
            team.programs[0].on(team, 0).prepare(0)
            times.append((time.monotonic() - begin) * 1e3)
    print(f"{os.path.basename(path)}: {times[0]:.0f} ms, then {times[1]:.1f} ms", flush=True)
