"""CUDA's libraries as pip installs them (nvidia-cuda-nvrtc, and PyTorch's others): in nvidia/*/lib beside this package,
where the dynamic linker does not look."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import glob
import os
from typing import List

# Of which libccn and the compiler open those that they need; NVRTC opens its builtins.
_NAMES = ("libnvrtc-builtins.so.*", "libnvrtc.so.*", "libcublasLt.so.*", "libnccl.so.*")


def library_folders() -> List[str]:
    """The folders that have such libraries."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return sorted(glob.glob(os.path.join(glob.escape(beside), "nvidia", "*", "lib")))


@functools.lru_cache(maxsize=None)
def load() -> None:
    """Loads them, so that they are found by their names from then on. What is loaded already, by PyTorch for one, and what the
    linker finds by itself come first."""
    for folder in library_folders():
        for name in _NAMES:
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), name))):
                try:
                    ctypes.CDLL(os.path.basename(path))
                except OSError:
                    with contextlib.suppress(OSError):
                        ctypes.CDLL(path)
