"""Starts a program once for each rank, as torchrun does, and prints what rank 0 says, then all exit codes.

    launch_ranks.py RANKS PROGRAM ARGUMENT...
"""

import os
import subprocess
import sys

ranks, command = int(sys.argv[1]), sys.argv[2:]
# Not a port that the system gives to others meanwhile.
shared = {**os.environ, "CCN_LAUNCHER": "torchrun", "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
          "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(10000 + os.getpid() % 20000)}
processes = [subprocess.Popen(command, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(ranks)]
texts = [process.communicate()[0] for process in processes]
print(texts[0], end="")
print("exit codes", *(process.returncode for process in processes))
