"""What ccn.compile keeps on disk: it is found by what it was made from, shared by processes, bounded, and mended.

    python_kept.py FOLDER SOURCE
"""

import os
import shutil
import subprocess
import sys
import time

from python_util import fresh, np, refused

import ccn
from ccn import _cache, _compiler

folder, source = sys.argv[1:3]
fresh(folder)
TEXT = "mesh m (r = 1)\nparam N = 5\nprogram p(inout x: f32[N]) {\n  x <- x + x\n}\n"
cache = os.path.join(folder, "cache")
kept = os.path.join(cache, "compiled")
runs = []
original = _compiler.run


def counted(source, options):
    runs.append(options)
    return original(source, options)


_compiler.run = counted


def compiled(how=1, **options):
    """How often a compilation runs the compiler."""
    before = len(runs)
    program = ccn.compile(options.pop("source", TEXT), **options)
    x = np.ones(program.arguments[0].shape, np.float32)
    program(x)
    assert (x == 2).all() and len(runs) - before == how, (options, runs[before:])
    return program


# Where it is.
for name in ("CCN_CACHE_DIR", "CCN_VERIFY", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
os.environ["HOME"] = folder
assert _cache.folder() == os.path.join(folder, ".cache", "ccn", "compiled")
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "xdg")
assert _cache.folder() == os.path.join(folder, "xdg", "ccn", "compiled")
os.environ["CCN_CACHE_DIR"] = ""
assert _cache.folder() is None
compiled(), compiled(), ccn.clear_cache()
assert os.listdir(folder) == []
os.environ["CCN_CACHE_DIR"] = cache

# The same is compiled once, and what differs in anything is not the same.
first = compiled()
assert compiled(0).package == first.package
with open("program.ccn", "w") as file:
    file.write(TEXT)
with open("schedule.ccn", "w") as file:
    file.write("schedule s for p {\n}\n")
for options in (dict(params={"N": 6}), dict(source=TEXT + "\n"), dict(cpu="x86-64"), dict(source="program.ccn"),
                dict(schedule="schedule.ccn"), dict(target="sm_90a", run_on="cpu")):
    compiled(**dict(options)), compiled(0, **dict(options))
with open("schedule.ccn", "a") as file:
    file.write("// changed\n")
compiled(schedule="schedule.ccn")
os.environ["CCN_VERIFY"] = "0"
compiled()
del os.environ["CCN_VERIFY"]
version, _compiler._build = _compiler._build, lambda: "another build"
compiled()
_compiler._build = version
compiled(0)
# What is named by options, by the text and by a file of schedules counts, too, wherever it lies.
shutil.copy(os.path.join(source, "lib", "Target", "machines", "cpu.json"), "cpu.json")
NAMED = TEXT + 'schedule s for p {\n  // "named.txt"\n}\n'
os.makedirs("below")
for path, options in (("cpu.json", dict(machine="cpu.json")), ("cpu.json", dict(options=["--machine=cpu.json"])),
                      ("named.txt", dict(source=NAMED)), ("named.txt", dict(schedule="below/s.ccn")),
                      ("below/named.txt", dict(schedule="below/s.ccn"))):
    with open("below/s.ccn", "w") as file:
        file.write('schedule s for p {\n  // "named.txt"\n}\n')
    rest = dict(options)
    ccn.compile(rest.pop("source", TEXT), **rest)
    compiled(0, **dict(options))
    with open(path, "a") as file:
        file.write("\n")
    compiled(**dict(options)), compiled(0, **dict(options))
# Wrong programs are not kept.
before = len(runs)
for _ in range(2):
    with refused(ccn.CompileError, "unmatched"):
        ccn.compile(TEXT + "}")
assert len(runs) - before == 2, runs[before:]
# Another process neither compiles nor loads the compiler.
SCRIPT = """
import sys, ccn
p = ccn.compile(sys.argv[1])
with open("/proc/self/maps") as file:
    assert "LLVM" not in file.read()
print(p.hash)
"""
done = subprocess.run([sys.executable, "-c", SCRIPT, TEXT], capture_output=True, text=True, check=False)
assert done.stdout == first.hash + "\n", done

# What is damaged is made again: cut, changed, empty, too long, a folder, a pipe.
ccn.clear_cache()
assert os.listdir(kept) == []
compiled()
path, = (os.path.join(kept, name) for name in os.listdir(kept))
with open(path, "rb") as file:
    whole = file.read()
for content in (whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], b"", whole + b"\0", whole[:20]):
    with open(path, "wb") as file:
        file.write(content)
    compiled(), compiled(0)
    with open(path, "rb") as file:
        assert file.read() == whole
os.unlink(path)
os.mkfifo(path)
compiled(), compiled(0)
os.unlink(path)
os.mkdir(path)
compiled(), compiled()
os.rmdir(path)
compiled(), compiled(0)
assert os.listdir(kept) == [os.path.basename(path)]
# A folder that cannot be: nothing is kept, and all works.
shutil.rmtree(cache)
with open(cache, "w"):
    pass
compiled(), compiled(), ccn.clear_cache()
os.unlink(cache)

# It is bounded: what was not used for longest goes first, and what killed processes have left.
_cache.MAX_BYTES = 4000
for i in range(4):
    _cache.keep(f"entry{i}", bytes(900))
    os.utime(os.path.join(kept, f"entry{i}"), (1000 + i, 1000 + i))
assert _cache.find("entry0") == bytes(900)
stale = os.path.join(kept, "entry9.tmp-1-2-3")
with open(stale, "w"):
    pass
os.utime(stale, (0, 0))
_cache.keep("entry4", bytes(900))
assert not os.path.exists(stale)
assert sorted(os.listdir(kept)) == ["entry0", "entry3", "entry4"], os.listdir(kept)
_cache.keep("large", bytes(1001))
assert _cache.find("large") is None
_cache.MAX_BYTES = 1 << 30

# Processes and threads at once: each finds nothing or all of it.
WRITER = """
import sys
from ccn import _cache
for i in range(200):
    key = f"shared{i % 5}"
    found = _cache.find(key)
    assert found is None or found == key.encode() * 5000, (key, found and len(found))
    _cache.keep(key, key.encode() * 5000)
"""
writers = [subprocess.Popen([sys.executable, "-c", WRITER]) for _ in range(3)]
while any(writer.poll() is None for writer in writers):
    ccn.clear_cache()
    time.sleep(0.01)
assert [writer.returncode for writer in writers] == [0] * 3
assert not [name for name in os.listdir(kept) if ".tmp-" in name]
print("kept")
