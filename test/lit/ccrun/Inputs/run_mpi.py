"""Runs ccrun under mpirun and checks what it does, one topic a call.

    run_mpi.py TOPIC FOLDER CCRUN CCN-SAMPLE-PACKAGE [EXAMPLES CCCOMPILE...]
"""

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np

import ranks as common
from ranks import TRANSPORTS, is_running, messages

topic, folder, ccrun, sample = sys.argv[1:5]
common.enter(folder)
package = common.packages(sample)

# More ranks than cores, by whomever.
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]


def environment(transport, **more):
    # Schedules are verified by other tests.
    return {**os.environ, "CCN_VERIFY": "0", "CCN_TRANSPORT": transport, **more}


def command(ranks, *arguments):
    return [*MPIRUN, "-n", str(ranks), ccrun, *map(str, arguments)]


def finished(arguments, env):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=env)


def run(ranks, *arguments, transport="auto", code=0):
    """What rank 0 prints, or what goes wrong."""
    done = finished(command(ranks, *arguments), environment(transport))
    assert done.returncode == code, (arguments, transport, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def examples():
    """Compiled programs leave the interpreter's bits, on meshes of all sizes, over both transports."""
    programs, *cccompile = sys.argv[5:]
    line = lambda axis: [{axis: 3}, {axis: 4}, {axis: 2}]
    plane = lambda a, b: [{a: 2, b: 2}, {a: 1, b: 2}, {a: 3, b: 1}]
    # By example: sizes, and meshes of which each schedule takes the next.
    cases = {
        "adam": ("N=103", line("dp")),
        "allreduce": ("N=7", line("dp")),
        "attention_tp": ("B=3 S=5 H=7", line("tp")),
        "dp_tp": ("B=7 H=9 F=11", plane("dp", "tp")),
        "lamb": ("N=103", line("dp")),
        "mlp_tp": ("T=7 H=5 F=11", line("tp")),
        "moe": ("E=7 C=5 H=3 F=9", line("ep")),
        "pipeline": ("B=7 H=5", plane("pp", "tp")),
        "rmsnorm_tp": ("T=5 H=9", line("tp")),
        "sgd": ("N=101", line("dp")),
    }
    found = {os.path.basename(path)[:-4] for path in glob.glob(f"{programs}/*.ccn")}
    assert found == set(cases), found ^ set(cases)
    covered = set()
    for example, (sizes, meshes) in cases.items():
        program = f"{programs}/{example}.ccn"
        schedules = re.findall(r"^schedule (\w+) for", open(program).read(), re.M)
        assert schedules, example
        for i, schedule in enumerate([None, *schedules]):
            mesh = meshes[i % len(meshes)]
            ranks = int(np.prod(list(mesh.values())))
            options = [f"-D{size}" for size in sizes.split()]
            options += ["--mesh=" + ",".join(f"{axis}={size}" for axis, size in mesh.items())]
            options += ["--schedule", schedule] if schedule else []
            what = (example, schedule, mesh)

            def compiled(*arguments):
                done = finished([*cccompile, program, *options, *arguments], environment("auto"))
                assert done.returncode == 0, (what, arguments, done.stderr)
                return done.stdout

            compiled("--emit", "package", "-o", "p.ccnpkg")
            info = subprocess.run([ccrun, "p.ccnpkg", "--info"], capture_output=True, text=True, check=True).stdout
            names = re.findall(r"^\s*(?:inout|result) (\w+):", info, re.M)
            assert names, info
            outputs = lambda of: [word for name in names for word in ("--output", f"{name}={of}-{name}.npy")]
            expected = compiled("--run", "--seed", "3", *outputs("expected"))
            # Messages always, shared memory on some, so that each is on all numbers of ranks.
            for transport in TRANSPORTS if i % 2 == 0 else TRANSPORTS[1:]:
                text = run(ranks, "p.ccnpkg", "--seed", 3, *outputs("found"), transport=transport)
                assert text == expected, (what, transport, text, expected)
                for name in names:
                    left, right = (open(f"{of}-{name}.npy", "rb").read() for of in ("found", "expected"))
                    assert left == right, (what, transport, name)
                    os.remove(f"found-{name}.npy")
                covered.add((ranks, transport))
    assert covered == {(ranks, transport) for ranks in (2, 3, 4) for transport in TRANSPORTS}, covered


def runs():
    """Arrays, --check, --bench and --trace are as with threads."""
    for ranks, count in [(2, 100003), (4, 3), (3, 0)]:
        name = package(f"a{ranks}-{count}.ccnpkg", "average", ranks, count)
        generator = np.random.default_rng(count)
        np.save("x.npy", generator.standard_normal((ranks, count)).astype(np.float32))
        np.save("y.npy", generator.standard_normal(count).astype(np.float32))
        given = ["--input", "x=x.npy", "--input", "scale=0.25"]
        for inputs in (given, given + ["--input", "y=y.npy"], ["--seed", 7]):
            outputs = ["--output", "y=out.npy", "--output", "s=s.npy"]
            expected = subprocess.run([ccrun, name, *map(str, inputs + outputs)], capture_output=True, text=True,
                                      check=True).stdout
            files = [open(file, "rb").read() for file in ("out.npy", "s.npy")]
            for transport in TRANSPORTS if inputs == given else ["auto"]:
                assert run(ranks, name, *inputs, *outputs, transport=transport) == expected
                assert files == [open(file, "rb").read() for file in ("out.npy", "s.npy")]

    # One process runs as it does without mpirun.
    alone = subprocess.run([ccrun, "a4-3.ccnpkg"], capture_output=True, text=True, check=True).stdout
    assert run(1, "a4-3.ccnpkg") == alone
    assert run(3, "a4-3.ccnpkg", "--info").count("program average\n") == 1

    name = package("a.ccnpkg", "average", 4, 1000)
    right = package("r.ccnpkg", "average", 4, 1000, "add_scaled", "add_scaled")
    wrong = package("w.ccnpkg", "average", 4, 1000, "add_scaled_wrongly", "add_scaled")
    np.save("y.npy", np.arange(1000, dtype=np.float32))
    for transport in TRANSPORTS:
        assert "check y: same bits\ncheck s: same bits\n" in run(4, right, "--check", transport=transport)
        text = run(4, wrong, "--check", transport=transport, code=4)
        assert messages(text) == ["the results differ from those of the program without its schedule"], text

        run(4, name, "--input", "y=y.npy", "--output", "y=once.npy", transport=transport)
        text = run(4, name, "--input", "y=y.npy", "--output", "y=many.npy", "--bench", 20, "--json", "b.json",
                   transport=transport)
        assert np.array_equal(np.load("once.npy"), np.load("many.npy"))
        assert text.count("of 20 after 3 to warm up") == 1, text
        bench = json.load(open("b.json"))
        seconds = bench["seconds"]
        assert len(seconds["all"]) == 20 and 0 < seconds["min"] <= seconds["median"] <= seconds["max"] < 10, bench
        assert [b["remoteRead"] for b in bench["bytes"]] == [3 * 4000] * 4, bench
        carried = "over shared memory" if transport == "shared" else "by MPI's messages"
        assert bench["ranksAre"] == f"4 processes of one host, {carried}", bench

        run(4, name, "--trace", "t.json", transport=transport)
        events = json.load(open("t.json"))["traceEvents"]
        launches = [(e["pid"], e["name"]) for e in events if e["ph"] == "X" and e["cat"] == "launch"]
        assert sorted(launches) == sorted((rank, launch) for rank in range(4)
                                          for launch in ("publish", "all_reduce + update", "slice")), launches


def hosts():
    """Ranks that share no memory, as on other hosts, send messages."""
    name = package("a.ccnpkg", "average", 4, 1003)
    elsewhere = common.elsewhere()
    if not elsewhere:
        print("skipped: no permission to make a mount namespace")
        return
    start = lambda *arguments: [*MPIRUN, "--mca", "btl", "tcp,self", "-n", "3", ccrun, name, *arguments, ":", "-n", "1",
                                *elsewhere, ccrun, name, *arguments]
    expected = subprocess.run([ccrun, name, "--seed", "3"], capture_output=True, text=True, check=True).stdout
    done = finished(start("--seed", "3", "--trace", "t.json"), environment("auto"))
    assert done.returncode == 0 and done.stdout == expected, done
    # Each rank's times are from its own first run.
    spans = [e for e in json.load(open("t.json"))["traceEvents"] if e["ph"] == "X"]
    assert {e["pid"] for e in spans} == set(range(4)) and max(e["ts"] for e in spans) < 60e6, spans
    done = finished(start("--bench", "3", "--json", "b.json"), environment("auto"))
    bench = json.load(open("b.json"))
    assert done.returncode == 0 and 0 < bench["seconds"]["min"] <= bench["seconds"]["max"] < 60, (done, bench)
    assert bench["ranksAre"] == "4 processes of several hosts, by MPI's messages", bench
    done = finished(start(), environment("shared"))
    assert done.returncode == 4 and messages(done.stderr) == \
        ["CCN_TRANSPORT: 'shared' needs all ranks on one host, where they share memory; rank 3 is on another than "
         "rank 0"], done


def misuse():
    """Ranks that do not fit each other, or the program, are refused before anything runs."""
    one = package("one.ccnpkg", "average", 3, 10)
    other = package("other.ccnpkg", "average", 3, 11)
    two = package("two.ccnpkg", "average", 2, 10)
    of = lambda name: re.search("hash (.*)", subprocess.run([ccrun, name, "--info"], capture_output=True, text=True,
                                                            check=True).stdout)[1]

    text = run(2, one, code=2)
    assert messages(text) == ["the program's mesh has 3 ranks, but MPI started 2"], text
    text = run(4, one, code=2)
    assert messages(text) == ["the program's mesh has 3 ranks, but MPI started 4"], text
    for option in (["--nproc", 3], ["--threads"]):
        said = messages(run(3, one, *option, code=2))
        assert said and all("expected without a launcher of MPI" in line for line in said), said
    said = messages(run(3, one, transport="pigeons", code=2))
    assert said and all("CCN_TRANSPORT: expected auto, shared or messages, found 'pigeons'" in line
                        for line in said), said

    # What differs is named, with who has what.
    for transport in TRANSPORTS:
        for first, second in ((one, other), (one, two)):
            done = finished([*command(1, first), ":", "-n", "2", ccrun, second], environment(transport))
            assert done.returncode == 4 and done.stdout == "", done
            assert re.fullmatch(rf"the ranks of this run differ: expected one program, found '{of(first)}.*' on rank "
                                rf"0, '{of(second)}.*' on ranks 1 and 2", "\n".join(messages(done.stderr))), done
    done = finished([*command(2, one), ":", "-n", "1", ccrun, one, "--seed", "4"], environment("auto"))
    assert done.returncode == 4 and "seed 4, 1 runs' on rank 2" in messages(done.stderr)[0], done
    done = finished([*MPIRUN, "-n", "2", "-x", "CCN_TRANSPORT=messages", ccrun, one, ":", "-n", "1", "-x",
                     "CCN_TRANSPORT=auto", ccrun, one], environment("auto"))
    assert done.returncode == 4 and messages(done.stderr) == \
        ["the ranks of this run differ: expected one CCN_TRANSPORT, found 'messages' on ranks 0 and 1, 'auto' on "
         "rank 2"], done

    # One that never comes.
    begin = time.monotonic()
    done = finished([*command(2, one, "--timeout", 1), ":", "-n", "1", "sleep", "100"], environment("auto"))
    assert done.returncode == 4 and time.monotonic() - begin < 10, done
    assert set(messages(done.stderr)) == {"MPI: not all ranks that were started came to it within 1 s"}, done

    # A launcher of an MPI that is not there.
    done = finished([ccrun, one], environment("auto", PMI_RANK="0", PMI_SIZE="3"))
    assert done.returncode == 4 and messages(done.stderr) == \
        ["expected 3 ranks, as were started, found 1 in MPI: the launcher is of another MPI than ccn was built with"], \
        done


def ranks_of(process, count):
    """The process of each rank, when all have begun."""
    deadline = time.monotonic() + 30
    while True:
        found = {}
        for path in glob.glob("/proc/[0-9]*/environ"):
            pid = int(path.split("/")[2])
            try:
                parent = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
                variables = open(path).read().split("\0")
                begun = "ccrun" in os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            for variable in variables:
                if parent == process.pid and begun and variable.startswith("OMPI_COMM_WORLD_RANK="):
                    found[int(variable.split("=")[1])] = pid
        if len(found) == count:
            return found
        assert process.poll() is None and time.monotonic() < deadline, ("the ranks did not start", found)
        time.sleep(0.02)


def lose(name, count, victim, how, transport, *arguments):
    """What is said when something is done to a rank that has joined, and how long that takes."""
    process = subprocess.Popen(command(count, name, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment(transport))
    ranks = {}
    try:
        ranks = ranks_of(process, count)
        common.await_joined(ranks.values())
        begin = time.monotonic()
        os.kill(ranks[victim], how)
        out, err = process.communicate(timeout=60)
        seconds = time.monotonic() - begin
        assert out == "" and process.returncode != 0, (out, err)
        # They may take a moment to end after they have closed what mpirun reads.
        deadline = time.monotonic() + 10
        while any(map(is_running, ranks.values())):
            assert time.monotonic() < deadline, "ranks still run"
            time.sleep(0.02)
    except BaseException:
        for pid in [process.pid, *filter(is_running, ranks.values())]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise
    return messages(err), seconds, process.returncode, err


def lost():
    """A rank that fails, is killed or stopped ends the others, with its name."""
    failing = package("f.ccnpkg", "failing", 3, 1)
    diverging = package("d.ccnpkg", "diverging", 3, 5)
    sleeper = package("s.ccnpkg", "sleeper", 3)
    np.save("none.npy", np.zeros((3, 1), np.float32))
    np.save("long.npy", np.full((3, 1), 40, np.float32))
    np.save("one.npy", np.array([[0], [40], [0]], np.float32))
    for transport in TRANSPORTS:
        text = run(3, failing, "--input", "seconds=none.npy", transport=transport, code=4)
        assert messages(text) == ["rank 1: division by zero at sample.ccn:7:3"], text
        text = run(3, diverging, transport=transport, code=4)
        assert "should be the same on rank 0 (dp = 0) and rank 2 (dp = 2)" in messages(text)[0], text
        begin = time.monotonic()
        text = run(3, sleeper, "--input", "seconds=one.npy", "--timeout", 5, transport=transport, code=4)
        assert time.monotonic() - begin < 25 and all("rank 1" in line for line in messages(text)) and messages(text), \
            text
        # While the others wait, and while they compute; the one that speaks, and another.
        for file, victim in (("one.npy", 1), ("long.npy", 0)):
            said, seconds, code, err = lose(sleeper, 3, victim, signal.SIGKILL, transport, "--input",
                                            f"seconds={file}")
            assert len(set(said)) == 1 and f"rank {victim} has ended" in said[0] and seconds < 10, (said, seconds, err)
            assert code in (4, 128 + signal.SIGKILL), code
        # One that is stopped holds the others for a limited time only.
        said, seconds, code, err = lose(sleeper, 3, 1, signal.SIGSTOP, transport, "--input", "seconds=one.npy",
                                        "--timeout", 1)
        assert said and all("rank 1" in line for line in said) and seconds < 15 and code == 4, (said, seconds, code, err)


globals()[topic]()
