"""Runs ccrun on packages made by hand and checks what it does, one topic a call.

    run_packages.py TOPIC FOLDER CCRUN CCN-SAMPLE-PACKAGE [PROGRAM CCCOMPILE]
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

topic, folder, ccrun, sample = sys.argv[1:5]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)


def package(name, *arguments):
    subprocess.run([sample, name, *map(str, arguments)], check=True)
    return name


def run(*arguments, code=0, env=None):
    done = subprocess.run([ccrun, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(env or {})})
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def children(process):
    """The ids of the ranks that a process has started, in the order of their start."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path).read()
        except OSError:
            continue
        state, parent = text[text.rindex(")") + 2:].split()[:2]
        if int(parent) == process.pid and state != "Z":
            # Between its fork and its exec it is no rank yet, but soon.
            found.append(int(path.split("/")[2]))
    return sorted(found)


def is_running(pid):
    try:
        text = open(f"/proc/{pid}/stat").read()
    except OSError:
        return False
    return text[text.rindex(")") + 2] != "Z"


def start(*arguments):
    return subprocess.Popen([ccrun, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, start_new_session=True)


def await_children(process, count):
    deadline = time.monotonic() + 30
    while len(found := children(process)) < count:
        assert process.poll() is None and time.monotonic() < deadline, "the ranks did not start"
    return found


def await_joined(process):
    """Waits until the ranks have met: then each has mapped the blocks of all, which come after the heap's head."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if all(re.search(r" (?!0{8} )[0-9a-f]{8} .*/memfd:ccn-heap", open(f"/proc/{pid}/maps").read())
               for pid in children(process)):
            return
        time.sleep(0.01)
    raise AssertionError("the ranks did not join")


def finish(process, within, code):
    """Checks how it ends, and that it leaves nothing."""
    begin = time.monotonic()
    ranks = children(process)
    out, err = process.communicate(timeout=60)
    seconds = time.monotonic() - begin
    assert seconds < within, (seconds, err)
    assert process.returncode == code, (process.returncode, out, err)
    left = [pid for pid in ranks if is_running(pid)]
    assert not left, f"ranks {left} still run"
    names = [name for name in os.listdir("/dev/shm") if f"-{process.pid}-" in name]
    assert not names, names
    return err


def expected_average(x, y, scale):
    total = np.zeros(y.shape, np.float32)
    for part in x:
        total = total + part
    return y + np.float32(scale) * total


def arrays():
    """Arrays go in and come out, on threads and on processes, of any sizes."""
    for ranks, count in [(1, 5), (4, 10), (4, 3), (3, 0), (2, 100003)]:
        name = package(f"a{ranks}-{count}.ccnpkg", "average", ranks, count)
        generator = np.random.default_rng(count)
        x = generator.standard_normal((ranks, count)).astype(np.float32)
        y = generator.standard_normal(count).astype(np.float32)
        np.save("x.npy", x)
        np.save("y.npy", y)
        texts = []
        for how in ([], ["--threads"], ["--nproc", ranks]):
            texts.append(run(name, "--input", "x=x.npy", "--input", "y=y.npy", "--input", "scale=0.25",
                             "--output", "y=out.npy", "--output", "s=s.npy", *how))
            expected = expected_average(x, y, 0.25)
            for file in ("out.npy", "s.npy"):
                found = np.load(file)
                assert found.dtype == np.float32 and np.array_equal(found, expected), (ranks, count, how, file)
                os.remove(file)
        assert texts[0] == texts[1] == texts[2]
    # Shown is what is written.
    text = run("a4-3.ccnpkg", "--seed", 7, "--output", "y=y.npy")
    first = re.match(r"y: f32\[3\] = (.*)\n", text)
    assert [np.float32(v) for v in first[1].split(", ")] == list(np.load("y.npy")), text
    assert "y: f32[0] = (empty)" in run("a3-0.ccnpkg")
    # y may come in several buffers, and goes to as many.
    package("s4-10.ccnpkg", "scattered", 4, 10)
    whole = np.arange(10, dtype=np.float32)
    np.save("b0.npy", whole[:3])
    np.save("b1.npy", whole[3:])
    np.save("whole.npy", whole)
    run("s4-10.ccnpkg", "--input", "y=b0.npy,b1.npy", "--output", "y=o0.npy,o1.npy")
    run("s4-10.ccnpkg", "--input", "y=whole.npy", "--output", "y=o.npy")
    assert len(np.load("o0.npy")) == 3
    assert np.array_equal(np.concatenate([np.load("o0.npy"), np.load("o1.npy")]), np.load("o.npy"))
    assert "expected one file or 2 for 'y'" in \
        run("s4-10.ccnpkg", "--input", "y=b0.npy,b1.npy", "--output", "y=1.npy,2.npy,3.npy", code=2)
    assert "expected buffers of 10 elements together for 'y', found 6" in \
        run("s4-10.ccnpkg", "--input", "y=b0.npy,b0.npy", code=2)


def compiler():
    """The same seed and arrays give the same text and bits as the compiler's interpreter."""
    program, *cccompile = sys.argv[5:]
    name = package("a.ccnpkg", "average", 4, 1003)
    for arguments in (["--seed", "5"], ["--input", "scale=0x10"], ["--seed", "9", "--input", "scale=1e-3"]):
        expected = subprocess.run([*cccompile, program, "--run", *arguments, "--output", "y=expected.npy"],
                                  capture_output=True, text=True, check=True).stdout
        for how in ([], ["--nproc", "4"]):
            assert run(name, *arguments, *how, "--output", "y=y.npy") == expected
            assert open("y.npy", "rb").read() == open("expected.npy", "rb").read()


def misuse():
    """Usage that is wrong is refused before anything runs."""
    name = package("a.ccnpkg", "average", 4, 10)

    def refused(*arguments, env=None):
        text = run(*arguments, code=2, env=env)
        assert text.startswith("ccrun: error: ") and text.count("\n") == 1, text
        return text[len("ccrun: error: "):-1]

    assert refused() == "expected a PACKAGE; see --help"
    assert refused(name, "--nproc", 3) == "--nproc: program 'average' has a mesh of 4 ranks, found 3"
    assert "expected a number of ranks from 1 to 1024, found '0'" in refused(name, "--nproc", 0)
    assert "expected without --nproc" in refused(name, "--nproc", 4, "--threads")
    assert "expected 'cpu' or 'cuda', found 'sm_90a'" in refused(name, "--target", "sm_90a")
    assert refused(name, "--what") == "unknown argument '--what'; see --help"
    assert refused(name, "--chek") == "unknown argument '--chek'; did you mean '--check'"
    assert refused(name, "--input", "z=1") == "program 'average' has no argument 'z'"
    assert refused(name, "--input", "scal=1") == \
        "program 'average' has no argument 'scal'; did you mean 'scale'"
    assert refused(name, "--input", "x=1") == \
        "input 'x': expected a .npy file of 'f32[10] local(dp)', found '1'"
    assert refused(name, "--input", "scale=much") == \
        "input 'scale': expected a number or a .npy file, found 'much'"
    assert refused(name, "--input", "scale=1e60") == "input 'scale': 1e60 is too large for type 'f32'"
    np.save("x.npy", np.zeros((4, 11), np.float32))
    assert refused(name, "--input", "x=x.npy") == "input 'x': 'x.npy': expected f32[4, 10], found f32[4, 11]"
    assert refused(name, "--output", "x=x.npy") == "program 'average' has no inout argument or result 'x'"
    assert "there is no folder 'no'" in refused(name, "--output", "y=no/y.npy")
    # Without a schedule it is compared with itself.
    assert "check y: same bits\n" in run(name, "--check")
    assert "expected --bench beside it" in refused(name, "--json", "b.json")
    assert "CCN_TIMEOUT" in refused(name, env={"CCN_TIMEOUT": "soon"})
    assert "expected seconds from 0.001 to 1e6" in refused(name, "--timeout", 0)

    assert refused("no.ccnpkg") == "'no.ccnpkg': cannot open: No such file or directory"
    assert refused("x.npy") == "'x.npy': expected a package of ccn, found something else"
    data = open(name, "rb").read()
    for size in (0, 10, 63, 64, len(data) // 2, len(data) - 1):
        open("cut.ccnpkg", "wb").write(data[:size])
        text = refused("cut.ccnpkg")
        assert text.startswith("'cut.ccnpkg': ") and ("truncated" in text or size < 8), text
    changed = bytearray(data)
    changed[len(data) // 2] ^= 4
    open("changed.ccnpkg", "wb").write(changed)
    assert "corrupt: expected content of hash" in refused("changed.ccnpkg")
    assert "expected a package for target 'cpu' or 'cuda', found one for 'sm_90a'" in \
        refused(package("t.ccnpkg", "foreign", "target"))
    assert "expected a CPU with 'warp_drive'" in refused(package("f.ccnpkg", "foreign", "feature"))
    assert "expected object code in ELF" in refused(package("g.ccnpkg", "foreign", "garbage"))
    # A plan whose loops name no function of the object code.
    assert "no_such" in run(package("n.ccnpkg", "average", 2, 4, "no_such"), code=4)


def measure():
    """--info, --check, --bench and --trace."""
    name = package("a.ccnpkg", "average", 4, 1000)
    text = run(name, "--info")
    for part in ("program average\n", "mesh dp = 4, 4 ranks", "x: f32[1000] local(dp); array f32[4, 1000]",
                 "inout y: f32[1000]; array f32[1000]", "result s: f32[1000] sliced(0, dp); array f32[1000]",
                 "1 all_reduce + update: stream 0; 1 rows, 1 barrier", "hash "):
        assert part in text, (part, text)
    # A package for elsewhere can be looked at.
    run(package("t.ccnpkg", "foreign", "target"), "--info")

    right = package("r.ccnpkg", "average", 4, 1000, "add_scaled", "add_scaled")
    wrong = package("w.ccnpkg", "average", 4, 1000, "add_scaled_wrongly", "add_scaled")
    for how in ([], ["--nproc", 4]):
        assert "check y: same bits\ncheck s: same bits\n" in run(right, "--check", *how)
        text = run(wrong, "--check", *how, code=4)
        assert text == ("ccrun: error: the results differ from those of the program without its "
                        "schedule\n"), text
        done = subprocess.run([ccrun, wrong, "--check", *map(str, how)], capture_output=True, text=True)
        assert re.search(r"check y: off by 1(\.0\d*)? at \[\d+\], \S+ instead of \S+, "
                         r"expected at most 0, and 999 others\n", done.stdout), done.stdout

        # A run may start only with the arguments as they were.
        np.save("y.npy", np.arange(1000, dtype=np.float32))
        run(name, "--input", "y=y.npy", "--output", "y=once.npy", *how)
        text = run(name, "--input", "y=y.npy", "--output", "y=many.npy", "--bench", 20, "--json", "b.json",
                   *how)
        assert np.array_equal(np.load("once.npy"), np.load("many.npy"))
        assert "median" in text and "of 20 after 3 to warm up" in text, text
        bench = json.load(open("b.json"))
        seconds = bench["seconds"]
        assert len(seconds["all"]) == 20 and seconds["min"] == min(seconds["all"]) and \
            seconds["min"] <= seconds["median"] <= seconds["max"] < 10, bench
        # Each reads 1000 elements of each of the others.
        assert [b["remoteRead"] for b in bench["bytes"]] == [3 * 4000] * 4, bench
        assert bench["ranksAre"] == ("processes" if how else "threads")

        run(name, "--trace", "t.json", *how)
        events = json.load(open("t.json"))["traceEvents"]
        names = {(e["pid"], e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"}
        assert {(r, "process_name", f"rank {r} (dp = {r})") for r in range(4)} <= names, names
        spans = [e for e in events if e["ph"] == "X"]
        for rank in range(4):
            launches = [e["name"] for e in spans if e["pid"] == rank and e["cat"] == "launch"]
            assert launches == ["publish", "all_reduce + update", "slice"], launches
            for part in (e for e in spans if e["pid"] == rank and e["cat"] == "part"):
                # A part lies within its launch.
                launch = next(e for e in spans if e["pid"] == rank and e["cat"] == "launch" and
                              e["args"]["index"] == part["args"]["index"])
                assert launch["ts"] <= part["ts"] + 1e-3 and \
                    part["ts"] + part["dur"] <= launch["ts"] + launch["dur"] + 1e-3, (launch, part)
        assert min(e["ts"] for e in spans) == 0
        # From whoever came to a barrier last, an arrow to each of the others.
        barriers = [e for e in spans if e["name"] == "barrier"]
        begins, ends = ({e["id"]: e for e in events if e["ph"] == kind} for kind in "sf")
        assert barriers and len(begins) == len(ends) == len(barriers) * 3 // 4, (len(begins), len(barriers))
        for i, begin in begins.items():
            came, went = (next(e for e in barriers if e["pid"] == at["pid"] and e["ts"] - 2e-3 <= at["ts"] <=
                               e["ts"] + e["dur"] + 2e-3) for at in (begin, ends[i]))
            assert came["pid"] != went["pid"] and came["args"] == went["args"] and came["ts"] >= went["ts"], (came, went)
    assert len(json.load(open("t.json"))["traceEvents"]) > 20


def failures():
    """A rank that fails, or is late, is named, and nothing hangs."""
    # Ranks that should hold the same do not.
    for how in ([], ["--nproc", 3]):
        text = run(package("d.ccnpkg", "diverging", 3, 5), *how, code=4)
        assert re.fullmatch(r"ccrun: error: 'y' should be the same on rank 0 \(dp = 0\) and rank 2 \(dp = 2\), "
                            r"but element \[0\] is \S+ and \S+\n", text), text
    name = package("f.ccnpkg", "failing", 3, 1)
    np.save("none.npy", np.zeros((3, 1), np.float32))
    sleeper = package("s.ccnpkg", "sleeper", 3)
    np.save("late.npy", np.array([[0], [4], [0]], np.float32))
    for how in ([], ["--nproc", 3]):
        assert run(name, "--input", "seconds=none.npy", *how, code=4) == \
            "ccrun: error: rank 1: division by zero at sample.ccn:7:3\n"
        begin = time.monotonic()
        text = run(sleeper, "--input", "seconds=late.npy", "--timeout", 0.5, *how, code=4)
        assert "rank 1" in text and time.monotonic() - begin < 10, text
        # The environment's limit is the default.
        text = run(sleeper, "--input", "seconds=late.npy", *how, code=4, env={"CCN_TIMEOUT": "0.5"})
        assert "rank 1" in text, text


def lost():
    """A rank that is killed or stopped ends the others, with its name."""
    sleeper = package("s.ccnpkg", "sleeper", 3)
    np.save("long.npy", np.full((3, 1), 40, np.float32))
    np.save("one.npy", np.array([[0], [40], [0]], np.float32))
    # Once the others wait, once they compute.
    for seconds in ("one.npy", "long.npy"):
        process = start(sleeper, "--input", f"seconds={seconds}", "--nproc", 3)
        ranks = await_children(process, 3)
        await_joined(process)
        os.kill(ranks[1], signal.SIGKILL)
        text = finish(process, 10, 4)
        assert text == "ccrun: error: rank 1 (dp = 1) was ended by signal 9 (Killed)\n", text
    # One that is stopped holds the others for the time limit only.
    process = start(sleeper, "--input", "seconds=one.npy", "--nproc", 3, "--timeout", 1)
    ranks = await_children(process, 3)
    await_joined(process)
    os.kill(ranks[1], signal.SIGSTOP)
    text = finish(process, 10, 4)
    assert "rank 1" in text and "killed" not in text, text

    # One that never joins.
    process = start(package("m.ccnpkg", "sleeper", 32), "--nproc", 32, "--timeout", 2)
    last = await_children(process, 32)[-1]
    os.kill(last, signal.SIGSTOP)
    text = finish(process, 12, 4)
    assert "rank 31" in text, text


def memory():
    """What there is no room for is refused with the sizes, before anything is taken."""

    def refused(limits, *words):
        # With limits, so that a ccrun that does not look does no harm.
        done = subprocess.run(["sh", "-c", f'{limits}; exec "$@"', "sh", ccrun, *map(str, words)], capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 4 and not done.stdout, done
        return done.stderr

    huge = package("huge.ccnpkg", "average", 4, 10**12)
    # x and y, and s, which is sliced.
    parts = r"expected \d+ bytes: (3600000000\d{4}) for arguments and results, \d+ for"
    harmless = "ulimit -v 64000000; ulimit -f 100"
    text = refused(harmless, huge)
    assert re.match(rf"ccrun: error: 'huge.ccnpkg': there is not enough memory: {parts}.*; found \d+, which the limit "
                    r"of this process's addresses leaves \(see 'ulimit -v'\)\n$", text), text
    text = refused(harmless, huge, "--nproc", 4)
    assert re.match(rf".*: there is not enough memory: {parts}.*; found \d+, which this machine has available\n$", text) \
        or "control group" in text, text
    # A file that has the right size, all of it a hole.
    with open("holes.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": True, "shape": (10**12,)})
        file.truncate(file.tell() + 4 * 10**12)
    text = refused(harmless, huge, "--input", "y=holes.npy")
    assert "4000000000000 for arrays that are read" in text, text
    os.remove("holes.npy")
    # What would be remembered of a million runs.
    text = refused("ulimit -v 16000000", package("tiny.ccnpkg", "average", 2, 1), "--bench", 10**6, "--trace", "t.json")
    assert re.search(r"\d{11} for the trace\b", text), text
    # Memory that processes share is a file.
    small = package("small.ccnpkg", "average", 4, 10**5)
    run(small, "--nproc", 4)
    text = refused("ulimit -f 100", small, "--nproc", 4)
    assert "for arguments and results: expected at most " in text and "'ulimit -f'" in text, text


def packages():
    """Ranks that find another package than the one that was started are refused."""
    package("one.ccnpkg", "sleeper", 32)
    package("other.ccnpkg", "average", 32, 4)
    hashes = [re.search("hash (.*)", run(name, "--info"))[1] for name in ("one.ccnpkg", "other.ccnpkg")]
    # All ranks may have read the package before it is replaced; not each time.
    for _ in range(30):
        shutil.copy("one.ccnpkg", "link.ccnpkg")
        shutil.copy("other.ccnpkg", "next.ccnpkg")
        process = start("link.ccnpkg", "--nproc", 32, "--timeout", 20)
        await_children(process, 1)
        os.replace("next.ccnpkg", "link.ccnpkg")
        out, text = process.communicate(timeout=30)
        if process.returncode != 0:
            break
    assert process.returncode == 4, (process.returncode, out, text)
    assert re.fullmatch(rf"ccrun: error: rank \d+: .*{hashes[0]}.*{hashes[1]}.*\n", text), text


def signals():
    """Ctrl-C ends all ranks at once and leaves nothing; so does the death of ccrun."""
    sleeper = package("s.ccnpkg", "sleeper", 3)
    np.save("long.npy", np.full((3, 1), 40, np.float32))
    for name, everyone in ((signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGKILL, False)):
        for joined in (True, False):
            process = start(sleeper, "--input", "seconds=long.npy", "--nproc", 3, "--trace", "t.json",
                            "--output", "seconds=out.npy")
            ranks = await_children(process, 3 if joined else 1)
            if joined:
                await_joined(process)
            if everyone:
                os.killpg(process.pid, name)
            else:
                os.kill(process.pid, name)
            if name == signal.SIGKILL:
                process.communicate()
                deadline = time.monotonic() + 5
                while any(map(is_running, ranks)) and time.monotonic() < deadline:
                    time.sleep(0.01)
                assert not any(map(is_running, ranks))
            else:
                finish(process, 3, -name)
    # At any time of their begin; the others wait for it, and notice at once.
    np.save("first.npy", np.array([[40], [0], [0]], np.float32))
    for delay in np.linspace(0, 0.15, 8):
        process = start(sleeper, "--input", "seconds=first.npy", "--nproc", 3)
        ranks = await_children(process, 1)
        time.sleep(delay)
        os.kill(ranks[0], signal.SIGKILL)
        assert "was ended by signal 9 (Killed)" in finish(process, 3, 4)
    assert sorted(os.listdir(".")) == ["first.npy", "long.npy", "s.ccnpkg"], os.listdir(".")


globals()[topic]()
