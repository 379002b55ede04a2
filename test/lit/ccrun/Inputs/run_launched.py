"""Starts ccrun as torchrun and Slurm do, by their variables, and checks what it does, one topic a call.

    run_launched.py TOPIC FOLDER CCRUN CCN-SAMPLE-PACKAGE [FOLDER-OF-A-DRIVER-WITHOUT-GPUS]
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

import numpy as np

import ranks as common
from ranks import is_running, messages

topic, folder, ccrun, sample = sys.argv[1:5]
common.enter(folder)
package = common.packages(sample)
# Of whoever runs the tests.
OTHERS = re.compile("RANK|WORLD_SIZE|(LOCAL|MASTER|OMPI|PMI|PMIX|SLURM|TORCHELASTIC)_.*|CCN_(LAUNCHER|MASTER_.*)")
TRANSPORTS = {"shared": "over shared memory", "messages": "by messages over TCP"}


class Torchrun:
    """Its variables. Its agent has the port that they name."""

    name = "torchrun"

    def __init__(self):
        self.agent = socket.create_server(("127.0.0.1", 0))
        self.run = str(random.random())

    def variables(self, rank, ranks):
        return {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": ranks,
                "MASTER_ADDR": "localhost", "MASTER_PORT": self.agent.getsockname()[1],
                "TORCHELASTIC_RUN_ID": self.run, "TORCHELASTIC_USE_AGENT_STORE": "True"}


class OnTwoHosts(Torchrun):
    """Of two hosts, which are both this one."""

    def variables(self, rank, ranks):
        return {**super().variables(rank, ranks), "LOCAL_RANK": rank % 2, "LOCAL_WORLD_SIZE": 2}


class Slurm:
    name = "Slurm"

    def __init__(self):
        self.job = random.randrange(1, 1 << 31)

    def variables(self, rank, ranks):
        return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": ranks, "SLURM_NTASKS": 77, "SLURM_LOCALID": rank,
                "SLURM_JOB_ID": self.job, "SLURM_STEP_ID": 0, "SLURM_STEP_NODELIST": "localhost,node[02-03]"}


LAUNCHERS = [Torchrun, OnTwoHosts, Slurm]


class Job:
    """Processes that a launcher has started."""

    def __init__(self, launcher, ranks, *arguments, of=None, transport="auto", before=lambda rank: [],
                 package_of=None, **more):
        launcher = launcher() if isinstance(launcher, type) else launcher
        self.launcher = launcher
        self.processes = []
        for rank in range(ranks) if of is None else of:
            told = {**launcher.variables(rank, ranks), "CCN_TRANSPORT": transport, **more}
            environment = {name: value for name, value in os.environ.items() if not OTHERS.fullmatch(name)}
            environment.update({name: str(value) for name, value in told.items()})
            words = list(map(str, arguments))
            if package_of:
                words[0] = package_of(rank)
            self.processes.append(subprocess.Popen([*before(rank), ccrun, *words], stdin=subprocess.DEVNULL,
                                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                                   env=environment))

    def wait(self):
        """The exit codes, and what was printed and said, by process."""
        try:
            texts = [process.communicate(timeout=120) for process in self.processes]
        except BaseException:
            for process in self.processes:
                process.kill()
            raise
        return [process.returncode for process in self.processes], [out for out, _ in texts], [err for _, err in texts]

    def result(self):
        """What rank 0 prints; the others say nothing."""
        codes, out, err = self.wait()
        assert not any(codes) and not any(out[1:]) and not any(err), (self.launcher.name, codes, out, err)
        return out[0]

    def failure(self, code=4):
        """What is said, by process."""
        codes, out, err = self.wait()
        assert set(codes) == {code} and not any(out), (self.launcher.name, codes, out, err)
        return [messages(text) for text in err]

    def said(self, code=4):
        """Likewise what any of them says."""
        return [line for lines in self.failure(code) for line in lines]


def alone(*arguments):
    done = subprocess.run([ccrun, *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def tuned():
    """What was measured to be fastest runs if all ranks know it."""
    name = package("tuned.ccnpkg", "variants", 2, 1001)
    inputs = ["--seed", 3]
    default, fast = (alone(name, *inputs, "--variant", number) for number in (0, 1))
    assert default != fast
    for cache, number in (("one", 1), ("same", 1), ("other", 0)):
        done = subprocess.run([ccrun, name, "--tune", "1"], env={**os.environ, "CCN_CACHE_DIR": cache}, check=True,
                              capture_output=True, text=True)
        file = re.search(r"as '(.*)' says", done.stdout)[1]
        text = re.sub('"variant": .*', f'"variant": {number}', open(file).read())
        with open(file, "w") as out:
            out.write(text)
    os.mkdir("none")

    def run(caches, *more, launcher, transport):
        return Job(launcher, 2, name, *inputs, *more, transport=transport,
                   before=lambda rank: ["env", f"CCN_CACHE_DIR={caches[rank]}"]).result()

    for launcher in LAUNCHERS:
        for transport in TRANSPORTS:
            how = {"launcher": launcher, "transport": transport}
            assert run(("one", "one"), **how) == run(("one", "same"), **how) == fast
            for second in ("other", "none"):
                assert run(("one", second), **how) == run((second, "one"), **how) == default
            assert run(("other", "none"), "--variant", 1, **how) == fast
            assert run(("one", "same"), "--variant", 0, **how) == default


def runs():
    """Arrays, --check, --bench and --trace are as with threads."""
    for ranks, count in [(2, 100003), (4, 3), (3, 0), (8, 1001)]:
        name = package(f"a{ranks}.ccnpkg", "average", ranks, count)
        np.save("x.npy", np.random.default_rng(count).standard_normal((ranks, count)).astype(np.float32))
        for inputs in (["--input", "x=x.npy", "--input", "scale=0.25"], ["--seed", 7]):
            outputs = ["--output", "y=out.npy", "--output", "s=s.npy"]
            expected = alone(name, *inputs, *outputs)
            files = [open(file, "rb").read() for file in ("out.npy", "s.npy")]
            for launcher in LAUNCHERS:
                for transport in TRANSPORTS:
                    for file in ("out.npy", "s.npy"):
                        os.remove(file)
                    assert Job(launcher, ranks, name, *inputs, *outputs, transport=transport).result() == expected
                    assert files == [open(file, "rb").read() for file in ("out.npy", "s.npy")]

    # One process is not launched, nor is one whose launcher is not to be believed.
    four = package("a4.ccnpkg", "average", 4, 3)
    expected = alone(four)
    for launcher in (Torchrun, Slurm):
        assert Job(launcher, 1, four).result() == expected
        assert Job(launcher, 4, four, of=[0], CCN_LAUNCHER="none").result() == expected
        assert Job(launcher, 4, four, "--info").result().count("program average\n") == 1

    # Jobs side by side that have the same ports.
    torchrun, other = Torchrun(), Torchrun()
    other.agent.close()
    other.agent = torchrun.agent
    jobs = [Job(launcher, 4, four, transport="messages") for launcher in (torchrun, other)]
    assert [job.result() for job in jobs] == [expected, expected]

    # A place that is chosen.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for launcher in LAUNCHERS:
        assert Job(launcher, 4, four, CCN_MASTER_ADDR="127.0.0.1", CCN_MASTER_PORT=port).result() == expected

    right = package("r.ccnpkg", "average", 4, 1000, "add_scaled", "add_scaled")
    wrong = package("w.ccnpkg", "average", 4, 1000, "add_scaled_wrongly", "add_scaled")
    for launcher in LAUNCHERS:
        for transport, how in TRANSPORTS.items():
            assert "check y: same bits\ncheck s: same bits\n" in Job(launcher, 4, right, "--check",
                                                                     transport=transport).result()
            codes, _, err = Job(launcher, 4, wrong, "--check", transport=transport).wait()
            assert codes[0] == 4 and messages("".join(err)) == \
                ["the results differ from those of the program without its schedule"], (codes, err)
            text = Job(launcher, 4, right, "--bench", 20, "--json", "b.json", transport=transport).result()
            assert text.count("of 20 after 3 to warm up") == 1, text
            assert json.load(open("b.json"))["ranksAre"] == f"4 processes of one host, {how}"
            Job(launcher, 4, right, "--trace", "t.json", transport=transport).result()
            events = json.load(open("t.json"))["traceEvents"]
            assert {e["pid"] for e in events if e["ph"] == "X"} == set(range(4))


def hosts():
    """Ranks that share no memory, as on other hosts, send messages."""
    name = package("a.ccnpkg", "average", 4, 1003)
    elsewhere = common.elsewhere()
    if not elsewhere:
        print("skipped: no permission to make a mount namespace")
        return
    before = lambda rank: elsewhere if rank == 3 else []
    for launcher in (OnTwoHosts, Slurm):
        assert Job(launcher, 4, name, "--seed", 3, before=before).result() == alone(name, "--seed", 3)
        Job(launcher, 4, name, "--bench", 3, "--json", "b.json", before=before).result()
        assert json.load(open("b.json"))["ranksAre"] == "4 processes of several hosts, by messages over TCP"
        assert Job(launcher, 4, name, transport="shared", before=before).failure()[0] == \
            ["CCN_TRANSPORT: 'shared' needs all ranks on one host, where they share memory; rank 3 is on another than "
             "rank 0"]


def gpus():
    """Ranks take turns at GPUs by their number on the host."""
    driver = {"LD_LIBRARY_PATH": sys.argv[5], "CCN_CACHE_DIR": os.path.join(folder, "cache")}
    name = package("g.ccnpkg", "gpu", 4, 1003)
    for launcher in LAUNCHERS:
        assert "check y: same bits\ncheck s: same bits\n" in Job(launcher, 4, name, "--check", **driver).result()
    # Rank 3 takes the last of the four, unless it is another on its host.
    broken = {**driver, "CCN_FAKE_BROKEN_GPU": 3}
    for launcher in LAUNCHERS:
        if launcher is OnTwoHosts:
            Job(launcher, 4, name, **broken).result()
        else:
            said = Job(launcher, 4, name, **broken).said()
            assert len(said) == 1 and said[0].startswith("rank 3: ") and "cuDeviceGet" in said[0], said
            Job(launcher, 4, name, **broken, LOCAL_RANK=1, SLURM_LOCALID=1).result()


def misuse():
    """Ranks that do not fit each other, the program, or their launcher, are refused before anything runs."""
    one = package("one.ccnpkg", "average", 3, 10)
    other = package("other.ccnpkg", "average", 3, 11)
    for launcher in LAUNCHERS:
        name = launcher.name
        for ranks in (2, 4):
            assert Job(launcher, ranks, one).said(2) == [f"the program's mesh has 3 ranks, but {name} started {ranks}"]
        for option in (["--nproc", 3], ["--threads"]):
            said = Job(launcher, 3, one, *option).failure(2)
            assert said == [[f"{who}{option[0]}: expected without {name}, which has started the ranks"]
                            for who in ("", "rank 1: ", "rank 2: ")], said
        said = Job(launcher, 3, one, package_of=lambda rank: one if rank < 2 else other).said()
        assert len(said) == 1 and re.fullmatch("the ranks of this run differ: expected one program, found '.*' on "
                                               "ranks 0 and 1, '.*' on rank 2", said[0]), said

        # One that never comes, and rank 0 that does not.
        begin = time.monotonic()
        said = Job(launcher, 3, one, "--timeout", 1, of=[0, 2]).said()
        assert said == ["rank 1 did not join within 1 s"] * 2, said
        said = Job(launcher, 3, one, "--timeout", 1, of=[1, 2]).said()
        assert len(said) == 2 and all("rank 0 was not found at " in line and " within 1 s" in line
                                      for line in said), said
        assert time.monotonic() - begin < 15

        # One twice, and one of another number of ranks.
        said = Job(launcher, 3, one, "--timeout", 2, of=[0, 1, 1]).said()
        assert all("expected each rank once, found two processes that are rank 1" in line for line in said), said
        assert sum("rank 2 did not join within 2 s; " in line for line in said) == 2, said

        more = launcher()
        jobs = [Job(more, 3, one, "--timeout", 2, of=[0]), Job(more, 4, one, of=[3])]
        expected = "rank 0 was started as one of 3 ranks: expected the same of rank 3, found that it is one of 4"
        assert [job.said() for job in jobs] == [[expected]] * 2

    # What there is no room for, with limits so that ranks that do not look do no harm.
    huge = package("huge.ccnpkg", "average", 3, 10**12)
    for launcher in LAUNCHERS:
        for transport in ["auto"] if launcher is OnTwoHosts else TRANSPORTS:
            said = Job(launcher, 3, huge, transport=transport,
                       before=lambda rank: ["sh", "-c", 'ulimit -v 64000000; ulimit -f 100; exec "$@"', "sh"]).said(4)
            assert len(said) == 1 and re.match(
                r"there is not enough memory for rank 0: expected \d+ bytes: \d+ for symmetric memory, \d+ for "
                r"arguments, results and private memory; found \d+, which the limit of its process's addresses leaves", said[0]), said

    # Variables that make no sense.
    for launcher, variable, value, expected in [
            (Torchrun, "RANK", "one", "RANK: expected a rank from 0 to 1023, found 'one'"),
            (Torchrun, "RANK", "3", "RANK: expected a rank below WORLD_SIZE, which is 3, found '3'"),
            (Torchrun, "MASTER_PORT", "", "MASTER_PORT: expected a port from 1 to 65535, found ''"),
            (Slurm, "SLURM_PROCID", "3", "SLURM_PROCID: expected a rank below SLURM_STEP_NUM_TASKS, which is 3, "
                                         "found '3'"),
            (Slurm, "SLURM_STEP_NODELIST", "n[3-1]", "SLURM_STEP_NODELIST: expected a range that does not go down, "
                                                     "found '3-1' at character 3, in 'n[3-1]'"),
            (Slurm, "CCN_LAUNCHER", "pigeons", "CCN_LAUNCHER: expected auto, mpi, torchrun, slurm or none, found "
                                               "'pigeons'"),
            (Slurm, "CCN_MASTER_PORT", "x", "CCN_MASTER_PORT: expected a port from 1 to 65535, found 'x'")]:
        assert Job(launcher, 3, one, of=[1], **{variable: value}).failure(2) == [[expected]]


def lose(launcher, name, count, victim, how, transport, *arguments, ends_all=False):
    """What is said when something is done to a rank that has joined, how long that takes, and the others' codes.
    A launcher may end the others when one has ended."""
    job = Job(launcher, count, name, *arguments, transport=transport)
    processes = job.processes
    try:
        common.await_joined([process.pid for process in processes])
        begin = time.monotonic()
        processes[victim].send_signal(how)
        others = [process for process in processes if process is not processes[victim]]
        if ends_all:
            processes[victim].wait()
            for process in others:
                process.send_signal(signal.SIGTERM)
        texts = [process.communicate(timeout=60) for process in others]
        seconds = time.monotonic() - begin
        codes = [process.returncode for process in others]
        assert not any(out for out, _ in texts), texts
    finally:
        for process in processes:
            if is_running(process.pid):
                process.kill()
            process.communicate()
    return [line for _, err in texts for line in messages(err)], seconds, codes


def lost():
    """A rank that fails, is killed or stopped ends the others, with its name."""
    failing = package("f.ccnpkg", "failing", 3, 1)
    sleeper = package("s.ccnpkg", "sleeper", 3)
    np.save("none.npy", np.zeros((3, 1), np.float32))
    np.save("long.npy", np.full((3, 1), 40, np.float32))
    np.save("zero.npy", np.array([[40], [0], [0]], np.float32))
    np.save("one.npy", np.array([[0], [40], [0]], np.float32))
    for launcher in (Torchrun, Slurm):
        for transport in TRANSPORTS:
            said = Job(launcher, 3, failing, "--input", "seconds=none.npy", transport=transport).said()
            assert said == ["rank 1: division by zero at sample.ccn:7:3"], said
            # While the others wait, be it ended by the launcher or by themselves; the one that speaks, and another.
            for file, victim, ends_all in (("one.npy", 1, False), ("one.npy", 1, True), ("long.npy", 0, True),
                                           ("zero.npy", 0, False)):
                said, seconds, codes = lose(launcher, sleeper, 3, victim, signal.SIGKILL, transport, "--input",
                                            f"seconds={file}", ends_all=ends_all)
                assert len(set(said)) == 1 and f"rank {victim} has ended" in said[0] and seconds < 10, (said, seconds)
                assert set(codes) <= ({4, -signal.SIGTERM} if ends_all else {4}), codes
            # One that is stopped holds the others for a limited time only.
            said, seconds, codes = lose(launcher, sleeper, 3, 1, signal.SIGSTOP, transport, "--input",
                                        "seconds=one.npy", "--timeout", 1)
            assert said and all("rank 1" in line for line in said) and seconds < 15 and codes == [4, 4], \
                (said, seconds, codes)

    # At any time of their begin. Who has not met rank 0 yet cannot know that it will not come.
    for delay in np.linspace(0, 0.3, 8):
        for how in (signal.SIGTERM, signal.SIGKILL):
            job = Job(Torchrun, 4, package("four.ccnpkg", "sleeper", 4), "--timeout", 3)
            time.sleep(delay)
            job.processes[0].send_signal(how)
            begin = time.monotonic()
            codes, _, texts = job.wait()
            common.assert_no_names([process.pid for process in job.processes])
            said = [line for text in texts for line in messages(text)]
            if not any("rank 0 was not found" in line for line in said):
                assert time.monotonic() - begin < 2.5 and set(codes[1:]) == {4}, (delay, codes, said)


globals()[topic]()
