"""How often a command opens a file: opens.py FILE COMMAND... prints that after what the command does."""

import ctypes
import os
import struct
import subprocess
import sys

OPENED, CLOSED, CLOSED_WRITTEN = 0x20, 0x10, 0x8

libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
# With what comes between, as equal events in succession become one.
assert libc.inotify_add_watch(watch, os.fsencode(sys.argv[1]), OPENED | CLOSED | CLOSED_WRITTEN) >= 0
code = subprocess.run(sys.argv[2:], check=False).returncode
events, count = os.read(watch, 1 << 16), 0
while events:
    _, mask, _, name = struct.unpack_from("iIII", events)
    count += bool(mask & OPENED)
    events = events[16 + name:]
print(f"opened {count} times, exit code {code}")
