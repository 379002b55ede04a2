"""Which variant of a package ranks in Python run that a launcher starts: variant 1 adds one too much.

    python_tuned.py FOLDER CCRUN CCN-SAMPLE-PACKAGE

What torchrun does is done here: each process is this script again, with its variables.
"""

import os
import re
import socket
import subprocess
import sys

from python_util import fresh, np

import ccn


def child():
    program = ccn.load("tuned.ccnpkg")
    with ccn.join(program, time_limit=60) as team:
        x, y = (np.ones(5, dtype=np.float32) for _ in range(2))
        program(x, y, 1.0)
        print(y[0])


def run(caches):
    """What the elements of y, which are 1, become by ranks that know of these caches."""
    with socket.create_server(("127.0.0.1", 0)) as agent:
        processes = [subprocess.Popen(
            [sys.executable, __file__], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
                 "MASTER_ADDR": "localhost", "MASTER_PORT": str(agent.getsockname()[1]), "TORCHELASTIC_RUN_ID": "tuned",
                 "TORCHELASTIC_USE_AGENT_STORE": "True", "CCN_CACHE_DIR": cache}) for rank, cache in enumerate(caches)]
        found = [float(process.communicate(timeout=120)[0]) for process in processes]
        assert not any(process.returncode for process in processes)
    assert found[0] == found[1], found
    return found[0]


def parent():
    folder, ccrun, sample = sys.argv[1:]
    fresh(folder)
    subprocess.run([sample, "tuned.ccnpkg", "variants", "2", "5"], check=True)
    for cache, number in (("one", 1), ("other", 0)):
        done = subprocess.run([ccrun, "tuned.ccnpkg", "--tune", "1"], env={**os.environ, "CCN_CACHE_DIR": cache},
                              check=True, capture_output=True, text=True)
        file = re.search(r"as '(.*)' says", done.stdout)[1]
        text = re.sub('"variant": .*', f'"variant": {number}', open(file).read())
        with open(file, "w") as out:
            out.write(text)
    # 1 + 1 * (1 + 1), and 1 more.
    assert run(("one", "one")) == 4
    assert run(("one", "other")) == run(("other", "one")) == 3
    print("right")


parent() if len(sys.argv) > 1 else child()
