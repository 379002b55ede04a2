"""Ranks in Python that mpirun starts: they join, run, and end, however one of them ends.

    python_mpi.py FOLDER EXAMPLES CCCOMPILE...

Each process is this script again, with the topic in the environment.
"""

import os
import sys
import time

from python_util import call, fresh, np, part_of, refused

import ccn

topic = os.environ.get("CCN_TEST_TOPIC")


def child():
    adam = ccn.load("adam.ccnpkg")
    with refused(ccn.ArgumentError, "program 'adam' has 4 ranks; expected program.on(team, rank) with a ccn.Team, or "
                 "ccn.join"):
        adam()
    team = ccn.join(adam, time_limit=30)
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
    folder, examples, *cccompile = sys.argv[1:]
    fresh(folder)
    size = 103
    call(*cccompile, os.path.join(examples, "adam.ccn"), f"-DN={size}", "--schedule", "fused", "--emit", "package", "-o",
         "adam.ccnpkg", env={**os.environ, "CCN_VERIFY": "0"})
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

    def launch(topic, processes=4, transport="auto", code=None):
        environment = {**os.environ, "CCN_TEST_TOPIC": topic, "CCN_TRANSPORT": transport}
        begin = time.monotonic()
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", processes,
                   sys.executable, os.path.abspath(__file__)]
        done = call("sh", "-c", '"$@"; echo "code $?"', "sh", *command, env=environment)
        # A rank waits for 30 seconds for one that does not come.
        assert time.monotonic() - begin < 25, topic
        assert (f"code {code}\n" in done.stdout) if code is not None else "code 0\n" not in done.stdout, done
        return done

    for transport in ("shared", "messages"):
        done = launch("run", transport=transport, code=0)
        assert sorted(done.stdout.split("\n"))[-4:] == [f"rank {rank} is done" for rank in range(4)], done
        for rank in range(4):
            for name in ("p", "mom", "var"):
                found = np.load(f"{name}-{rank}.npy")
                assert found.tobytes() == expected[rank][name].tobytes(), (transport, rank, name)
                os.remove(f"{name}-{rank}.npy")
    # Whoever ends, the others are told why, and do not wait.
    text = launch("raise").stderr
    assert "ValueError: no gradients here" in text, text
    text = launch("exit").stderr
    assert "no gradients" not in text, text
    text = launch("wrong").stderr
    assert "ValueError: program 'adam': argument 'p': expected shape [103]" in text, text
    text = launch("run", processes=3).stderr
    assert "the program's mesh has 4 ranks, but MPI started 3" in text and "ArgumentError" in text, text
    print("same bits")


parent() if topic is None else child()
