"""Runs a command and checks its exit code: exit_code.py CODE COMMAND..."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit("expected exit code %s, found %d" % (sys.argv[1], code))
