"""What was compiled, kept on disk: files that are named by a hash of what they were made from.

Processes may use it at once: a file appears under its name when it is whole. What is damaged counts as not there.
"""

import contextlib
import hashlib
import itertools
import os
import threading
import time

# When all files together have more, those that were not used for longest go.
MAX_BYTES = 1 << 30
_MAGIC = b"ccn compiled 1\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_TEMPORARY = ".tmp-"
_numbers = itertools.count()


def folder():
    """Below what CCN_CACHE_DIR says, else below the user's cache folder, as for all of ccn (runtime/base/CacheFolder.h);
    None where CCN_CACHE_DIR is empty, and nothing is kept."""
    own = os.environ.get("CCN_CACHE_DIR")
    if own is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        own = os.path.join(base, "ccn") if os.path.isabs(base) else ""
    return os.path.join(own, "compiled") if own else None


def find(key):
    """What was kept under a key, None if there is nothing."""
    place = folder()
    if place is None:
        return None
    path = os.path.join(place, key)
    try:
        # A pipe would not be waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            entry = file.read(MAX_BYTES)
    except OSError:
        return None
    content = entry[_HEAD:]
    if entry[:_HEAD] != _MAGIC + hashlib.sha256(content).digest():
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return content


def keep(key, content):
    """Keeps something under a key, if that is possible and it is not too large."""
    place = folder()
    if place is None or len(content) > MAX_BYTES // 4:
        return
    path = os.path.join(place, key)
    own = f"{path}{_TEMPORARY}{os.getpid()}-{threading.get_ident()}-{next(_numbers)}"
    try:
        os.makedirs(place, exist_ok=True)
        try:
            with open(own, "xb") as file:
                file.write(_MAGIC + hashlib.sha256(content).digest())
                file.write(content)
            os.replace(own, path)
        except OSError:
            os.unlink(own)
        _bound(place)
    except OSError:
        # A full disk, or a folder that may not be written: then nothing is kept.
        pass


def _files(place):
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            # Others may remove files meanwhile.
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False)


def _bound(place):
    """Removes what is too much, and what processes have left that were killed while they wrote."""
    files = list(_files(place))
    for path, info in files:
        if _TEMPORARY in path and info.st_mtime < time.time() - 3600:
            with contextlib.suppress(OSError):
                os.unlink(path)
    total = sum(info.st_size for _, info in files)
    if total <= MAX_BYTES:
        return
    for path, info in sorted(files, key=lambda file: file[1].st_mtime):
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= info.st_size
        # Not at every call from here on.
        if total <= MAX_BYTES * 3 // 4:
            return


def clear_cache() -> None:
    """Removes all programs that ccn.compile keeps on disk: in the folder `compiled` of CCN_CACHE_DIR, else of
    $XDG_CACHE_HOME/ccn, else of ~/.cache/ccn. It has 1 GiB at most; what was not used for longest goes first. Programs
    that are loaded stay as they are."""
    place = folder()
    for path, _ in _files(place) if place else ():
        with contextlib.suppress(OSError):
            os.unlink(path)
