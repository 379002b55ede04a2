"""A folder for temporary files of one test.

Tests that start mpirun need it: several of them would make and remove the same folder.
"""

import atexit
import os
import shutil
import tempfile


def use_own():
    # Sockets are made there, whose names must be short.
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="ccn-", dir="/tmp")
    atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)
