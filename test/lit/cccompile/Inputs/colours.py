"""Runs a command whose standard error is a terminal, and says whether it wrote colours there.

    colours.py COMMAND...
"""

import os
import subprocess
import sys

reader, terminal = os.openpty()
done = subprocess.run(sys.argv[1:], stderr=terminal, check=False, env={**os.environ, "TERM": "xterm-256color"})
os.close(terminal)
written = os.read(reader, 1 << 16)
print("exit", done.returncode, "in colours" if b"\x1b[" in written else "plain", b"error:" in written)
