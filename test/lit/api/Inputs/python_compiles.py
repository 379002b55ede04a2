"""Compiles in this process: what works, what is refused, and from several threads.

    python_compiles.py FOLDER SOURCE CCCOMPILE...
"""

import concurrent.futures
import copy
import os
import pathlib
import pickle
import re
import sys
import threading
import warnings

from python_util import call, fresh, np, refused

import ccn
from ccn import _cache, _compiler

folder, source, *cccompile = sys.argv[1:]
fresh(folder)
adam = os.path.join(source, "examples", "adam.ccn")
os.environ["CCN_CACHE_DIR"] = os.path.join(folder, "cache")
os.environ["CCN_VERIFY"] = "0"
F32 = np.float32

# Nothing of the compiler is loaded before something is compiled.
def is_loaded(name):
    with open("/proc/self/maps") as file:
        return name in file.read()


assert is_loaded("libccn.so") and not is_loaded("LLVM")

AXPY = """mesh m (r = 1)
param N = 7
param scale = 1.0
program axpy(a: f32, x: f32[N], inout y: f32[N]) {
  y <- scale * (a * x) + y
  let s = sum(y, 0)
  return s
}
"""
axpy = ccn.compile(AXPY, params={"N": np.int64(5), "scale": F32(2)})
x, y = np.arange(5, dtype=F32), np.ones(5, F32)
assert axpy(1, x, y) == 25 and y.tolist() == [1, 3, 5, 7, 9]
assert axpy.text == AXPY and axpy.schedule == "" == axpy.schedule_text and axpy.target == "cpu"
assert repr(axpy) == "<ccn.CompiledProgram 'axpy': 1 ranks, cpu>" and isinstance(axpy, ccn.Program)
assert is_loaded("libLLVM")
assert ccn.load(axpy.package).hash == axpy.hash
# A copy is the program itself; what pickle makes runs, too, and is what the team has, if there is one.
assert copy.copy(axpy) is axpy and copy.deepcopy({"p": axpy})["p"] is axpy
again = pickle.loads(pickle.dumps(axpy))
assert again is not axpy and again.text == AXPY and again(1, x, np.ones(5, F32)) == 25 and again.emit("plan") == axpy.emit("plan")
with refused(TypeError, "program 'axpy' was loaded from a package; expected a program of ccn.compile to pickle"):
    pickle.dumps(ccn.load(axpy.package))
assert 'plan.program "axpy"' in axpy.emit("plan") and "GpuAbi.h" in axpy.emit("cuda")
assert "axpy_run" in axpy.emit("header")

# How notebooks show it: the text with its layouts, what the arguments are and what the schedule did.
tp = ccn.compile(os.path.join(source, "examples", "mlp_tp.ccn"), {"tp": 2}, {"T": 5, "H": 3, "F": 4}, "fused")
shown = tp._repr_html_()
for expected in ("<b>mlp_tp</b>, schedule <b>fused</b>, mesh (tp = 2), on the CPU",
                 "<tr><td>x</td><td>input</td><td>f16[5, 3] sliced(0, tp)</td><td>3 × 3</td></tr>",
                 "  let tokens = all_gather(x)             // f16[5, 3]\n", "sliced(0, tp)\n  return y",
                 "<details><summary>what the schedule did</summary>", "applied fuse",
                 "<details><summary>the kernels on GPUs</summary><pre>launch 0 "):
    assert expected in shown, (expected, shown)
shown = ccn.load(tp.package)._repr_html_()
assert "<b>mlp_tp</b>" in shown and "let tokens" not in shown and "the kernels" not in shown and "<td>f16[5, 3] sliced(0, tp)</td>" in shown
shown = ccn.compile("mesh m (r = 1)\nprogram p(a: f32) {\n  // a < 1 & b\n  let y = a\n  return y\n}\n")._repr_html_()
assert "// a &lt; 1 &amp; b" in shown and "<td>a</td><td>input</td><td>f32</td><td>scalar</td>" in shown, shown

# What the guide shows.
with open(os.path.join(source, "runtime", "python", "README.md")) as file:
    blocks = re.findall(r"```(?:python)?\n(.*?)```", file.read(), re.S)
shown = {}
exec(blocks[0], shown)
assert shown["y"].tolist() == [2, 2, 2]
with refused(ccn.CompileError, blocks[1].partition(": ")[2].rstrip("\n")):
    ccn.compile(shown["axpy"].text.replace("+ y", "+ z"))

# A file, its schedules, and ranks that are threads: the package is what cccompile makes, byte for byte.
for path in (adam, pathlib.Path(adam)):
    fused = ccn.compile(path, mesh={"dp": 2}, params={"N": 103}, schedule="fused")
    assert fused.mesh == {"dp": 2} and fused.schedule == "fused"
call(*cccompile, adam, "--mesh", "dp=2", "-DN=103", "--schedule", "fused", "-o", "adam.ccnpkg")
with open("adam.ccnpkg", "rb") as file:
    assert file.read() == fused.package
with ccn.Team(fused) as team:
    p = np.ones((2, 103), F32)
    states = [[np.zeros(fused.argument(name).part(rank).shape, F32) for name in ("mom", "var")] for rank in range(2)]
    team.run(lambda rank: fused.on(team, rank)(np.ones(103, np.float16), p[rank], *states[rank], lr=0.001, t=1))
assert np.allclose(p, 0.999)
with open("fused.mlir", "w") as file:
    file.write(fused.schedule_text)
again = ccn.compile(adam, mesh={"dp": 2}, params={"N": 103}, schedule=pathlib.Path("fused.mlir"))
assert again.schedule == "fused.mlir" and again.package.count(b"adam") and again.schedule_text == fused.schedule_text
assert "remark: applied split" in fused.explain() and f"{adam}:19:" in fused.explain()
assert fused.verify().startswith("program 'adam' with schedule 'fused': same bits on 2 ranks"), fused.verify()
with refused(ValueError, "program 'axpy': expected a schedule to verify, found none"):
    axpy.verify()

# GPUs have a schedule that a search finds, where none is named; what is asked of the program is of that schedule.
found = ccn.compile(adam, {"dp": 2}, {"N": 65536}, target="sm_80", run_on="cpu")
assert found.schedule == "auto" and found.schedule_text.startswith("schedule auto for adam {\n"), found.schedule_text
with open("found.ccn", "w") as file:
    file.write(found.schedule_text)
kept = ccn.compile(adam, {"dp": 2}, {"N": 65536}, "found.ccn", "sm_80", run_on="cpu")
written = ccn.compile(adam, {"dp": 2}, {"N": 65536}, "none", "sm_80", run_on="cpu")
assert written.schedule == "" == written.schedule_text
for kind in ("scheduled", "plan", "kernels", "cuda"):
    assert found.emit(kind) == kept.emit(kind) != written.emit(kind), kind
assert "without this line" in found.explain() and "search:" not in kept.explain()
assert found.verify().startswith("program 'adam' with schedule 'auto': same bits on 2 ranks"), found.verify()
# CPUs execute what is written, and that is what its kernels are of.
plain = ccn.compile(adam, {"dp": 2}, {"N": 65536})
assert plain.schedule == "" and plain.emit("kernels") == written.emit("kernels")

# What is wrong.
with refused(ccn.CompileError, "<program>:2:12: error: expected an argument name, found", "\nprogram p( {", "^"):
    ccn.compile("mesh m (r = 1)\nprogram p( {\n}")
try:
    ccn.compile(adam, schedule="fusd")
except ccn.CompileError as error:
    assert error.status == 2 and isinstance(error, ccn.Error) and "did you mean 'fused'" in str(error), str(error)
for wrong, kind, *texts in (
        (dict(source=3), TypeError, "expected the text of a program, or the path of a file, found int"),
        (dict(mesh=[4]), TypeError, "mesh: expected a mapping from names of axes to sizes, found list"),
        (dict(mesh={"r": 2.5}), TypeError, "mesh['r']: expected an integer, found float 2.5"),
        (dict(mesh={"r": True}), TypeError, "mesh['r']: expected an integer, found bool True"),
        (dict(mesh={1: 2}), TypeError, "mesh: expected names of axes, found int 1"),
        (dict(mesh={"a=3,r": 2}), ValueError, "mesh: expected names of axes, found 'a=3,r'"),
        (dict(mesh={"q": 2}), ccn.CompileError, "no mesh axis 'q'"),
        (dict(mesh={"r": 0}), ccn.CompileError, "expected a size of at least 1 for axis 'r', found 0"),
        (dict(params=7), TypeError, "params: expected a mapping from names of params to numbers, found int"),
        (dict(params={"N": "7"}), TypeError, "params['N']: expected a number, found str '7'"),
        (dict(params={"N": 2.5}), ccn.CompileError, "2.5"),
        (dict(params={"M": 2}), ccn.CompileError, "no param 'M'"),
        (dict(schedule=3), TypeError, "schedule: expected a str or a path, found int"),
        (dict(schedule="no.mlir"), ccn.CompileError, "cannot read 'no.mlir'"),
        (dict(target="gpu"), ccn.CompileError, "--target: expected 'cpu', 'sm_80' or 'sm_90a', found 'gpu'"),
        (dict(target=None), TypeError, "target: expected a str or a path, found NoneType"),
        (dict(run_on="tpu"), ValueError, "expected target 'cpu', 'gpu' or None, found 'tpu'"),
        (dict(cpu="z80"), ccn.CompileError, "--cpu: expected"),
        (dict(options="--autotune"), TypeError, "options: expected a sequence of str"),
        (dict(options=["-o", "file"]), ccn.CompileError, "expected no file to write"),
        (dict(options=["--emit-header=a.h"]), ccn.CompileError, "expected no file to write"),
        (dict(options=["--mlir-timing"]), ccn.CompileError, "expected no option of MLIR, found '--mlir-timing'"),
        (dict(options=["--nothing"]), ccn.CompileError, "unknown argument '--nothing'"),
        (dict(program="p"), ccn.CompileError, "the file has no program 'p'"),
        (dict(topology="nowhere"), ccn.CompileError, "--topology: ")):
    with refused(kind, *texts):
        ccn.compile(**{"source": AXPY, **wrong})
with refused(FileNotFoundError):
    ccn.compile("nowhere.ccn")
with refused(ccn.CompileError, "expected"):
    ccn.compile("(" * 100000)
assert not os.path.exists("file") and not os.path.exists("a.h")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with refused(ccn.MachineError):
        # 8 TiB.
        ccn.compile(AXPY, params={"N": 2**40}, options=["--cpu=x86-64"])(1, x, y)
    assert [w.category for w in caught] == [ccn.CompileWarning] and "needs more memory" in str(caught[0].message)
    assert caught[0].filename == __file__

# Where the compiler is not, or is another library, that is said when it is needed: what was compiled before is loaded.
SCRIPT = "import ccn, sys; ccn.compile(sys.argv[1], params={'N': 5, 'scale': 2.0})"
for place in ("/nowhere.so", ccn._library.lib._name):
    done = call(sys.executable, "-c", SCRIPT, AXPY + "// other", code=1,
                env={**os.environ, "CCN_COMPILER_LIBRARY": place})
    assert "libccn_compiler cannot be loaded; CCN_COMPILER_LIBRARY may say where it is: " in done.stderr, done.stderr

# Fifty, some wrong, by four threads without the cache: each the same bytes as alone.
os.environ["CCN_CACHE_DIR"] = ""


def one(i):
    n = 1 + i % 5
    if i % 10 == 9:
        with refused(ccn.CompileError, "error: unmatched '}'"):
            ccn.compile(AXPY + "}")
        return n, None
    return n, ccn.compile(AXPY, params={"N": n}, cpu="x86-64").package


# The threads need no large stack.
threading.stack_size(256 << 10)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    made = list(pool.map(one, range(50)))
threading.stack_size(0)
for n in range(1, 6):
    assert len({package for size, package in made if size == n and package}) == 1
assert len(set(made)) == 5 + 1
print("compiled")
