"""Ranks in Python that a launcher starts: they join, run, and end, however one of them ends.

    python_launched.py mpi|torchrun FOLDER EXAMPLES CCCOMPILE...

What torchrun does is done here: it starts processes with some variables. Each process is this script again, with the
topic in the environment.
"""

import os
import socket
import subprocess
import sys
import time

from python_util import call, fresh, np, part_of, refused

import temporary

import ccn

topic = os.environ.get("CCN_TEST_TOPIC")


def child():
    adam = ccn.load("adam.ccnpkg")
    with refused(ccn.ArgumentError, "program 'adam' has 4 ranks; expected program.on(team, rank) with a ccn.Team, or "
                 "ccn.join"):
        adam()
    team = ccn.join(adam, time_limit=60)
    rank = team.rank
    whole = {name: np.load(f"{name}.npy") for name in ("g", "p", "mom", "var")}
    own = {name: part_of(adam, adam.argument(name), rank, array).copy() for name, array in whole.items()}
    with refused(ccn.ArgumentError, f"expected a rank {rank}, which this process is, found {rank ^ 1}"):
        adam.on(team, rank ^ 1)
    if topic == "raise" and rank == 2:
        raise ValueError("no gradients here")
    if topic == "exit" and rank == 2:
        sys.exit(7)
    if topic == "wrong" and rank == 2:
        own["p"] = own["p"][1:]
    for t in range(1, 4):
        adam(*own.values(), lr=0.001, t=t)
    adam.synchronize()
    team.meet()
    assert team.run(lambda r: r) == [rank] and list(team.own_ranks) == [rank] and team.size == 4
    for name in ("p", "mom", "var"):
        np.save(f"{name}-{rank}.npy", own[name])
    # The one that ends without closing leaves, too.
    if rank != 1:
        team.close()
        with refused(ccn.ArgumentError, "the team is closed" if rank == 3 else "has 4 ranks"):
            adam.on(team)(*own.values(), 0.001, 1) if rank == 3 else adam(*own.values(), 0.001, 1)
    print(f"rank {rank} is done")


def parent():
    launcher, folder, examples, *cccompile = sys.argv[1:]
    fresh(folder)
    temporary.use_own()
    size = 103
    call(*cccompile, os.path.join(examples, "adam.ccn"), f"-DN={size}", "--schedule", "fused",
         "--emit", "package", "-o", "adam.ccnpkg", env={**os.environ, "CCN_VERIFY": "0"})
    rng = np.random.default_rng(3)
    arrays = {"g": rng.standard_normal((4, size)).astype(np.float16)}
    for name in ("p", "mom", "var"):
        arrays[name] = np.abs(rng.standard_normal(size)).astype(np.float32)
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)

    # The same on threads.
    adam = ccn.load("adam.ccnpkg")
    expected = [{name: part_of(adam, adam.argument(name), rank, array).copy() for name, array in arrays.items()}
                for rank in range(4)]
    with ccn.Team(adam) as team:
        team.run(lambda rank: [adam.on(team, rank)(*expected[rank].values(), lr=0.001, t=t) for t in range(1, 4)])

    def by_mpi(processes, environment):
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(processes)]
        done = subprocess.run([*command, *script], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)
        return done.stdout, done.stderr, [done.returncode]

    def by_torchrun(processes, environment):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        ranks = []
        for rank in map(str, range(processes)):
            own = {"RANK": rank, "WORLD_SIZE": str(processes), "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": str(processes),
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            ranks.append(subprocess.Popen(script, env={**environment, **own}, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        texts = [rank.communicate(timeout=120) for rank in ranks]
        return "".join(out for out, _ in texts), "".join(err for _, err in texts), [rank.returncode for rank in ranks]

    script = [sys.executable, os.path.abspath(__file__)]

    def launch(topic, processes=4, transport="auto"):
        """What the ranks print, and whether all have come to their end."""
        environment = {**os.environ, "CCN_TEST_TOPIC": topic, "CCN_TRANSPORT": transport}
        begin = time.monotonic()
        out, err, codes = (by_mpi if launcher == "mpi" else by_torchrun)(processes, environment)
        # A rank waits for 60 seconds for one that does not come.
        assert time.monotonic() - begin < 50, topic
        assert any(codes) == (topic != "run" or processes != 4), (topic, out, err, codes)
        if topic != "run" and launcher != "mpi":
            # mpirun ends them before they can say why.
            assert all(codes) and err.count(f"TeamError: {told[topic]}") == 3, (topic, err, codes)
        return out, err

    told = {"raise": "rank 2: ValueError: no gradients here", "exit": "rank ",
            "wrong": "rank 2: ValueError: program 'adam': argument 'p': expected shape [103]"}
    for transport in ("shared", "messages"):
        out, err = launch("run", transport=transport)
        assert sorted(out.split("\n"))[-4:] == [f"rank {rank} is done" for rank in range(4)], (out, err)
        for rank in range(4):
            for name in ("p", "mom", "var"):
                found = np.load(f"{name}-{rank}.npy")
                assert found.tobytes() == expected[rank][name].tobytes(), (transport, rank, name)
                os.remove(f"{name}-{rank}.npy")
    # Whoever ends, the others are told why, and do not wait.
    assert "ValueError: no gradients here" in launch("raise")[1]
    assert "no gradients" not in launch("exit")[1]
    assert "ValueError: program 'adam': argument 'p': expected shape [103]" in launch("wrong")[1]
    err = launch("run", processes=3)[1]
    assert "ccn.ArgumentError: the program's mesh has 4 ranks, but " in err and " started 3" in err, err
    print("same bits")


parent() if topic is None else child()
