"""Runs a command whose standard output is a terminal, and prints its exit code and standard error.

    on_terminal.py COMMAND...
"""

import os
import subprocess
import sys

_, terminal = os.openpty()
done = subprocess.run(sys.argv[1:], stdout=terminal, stderr=subprocess.PIPE, check=False)
print("exit", done.returncode)
print(done.stderr.decode(), end="")
