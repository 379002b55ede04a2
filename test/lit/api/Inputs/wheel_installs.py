"""Builds the wheel of a build, installs it in a fresh virtual environment without a network, and uses it there, where
neither the build nor LLVM is found.

    wheel_installs.py FOLDER SOURCE BUILD
"""

import glob
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile

folder, source, build = (os.path.abspath(path) for path in sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
# Nothing that the tests' environment says.
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "PIP_NO_INDEX": "1",
         "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}


def call(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=500, env={**CLEAN, **more})
    assert done.returncode == code, (command, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


call(sys.executable, "-m", "pip", "wheel", "--no-deps", f"--config-settings=build={build}",
     "--config-settings=compress=1", "-w", "wheels", source)
wheel, = os.listdir("wheels")
assert re.fullmatch(r"ccn-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_\w+\.whl", wheel), wheel
with zipfile.ZipFile(f"wheels/{wheel}") as archive:
    names = archive.namelist()
info = next(name.split("/")[0] for name in names if name.endswith("/METADATA"))
for name in ("ccn/__init__.py", "ccn/py.typed", "ccn/torch/__init__.py" if "ccn/torch/__init__.py" in names else
             "ccn/torch.py", "ccn/_native/bin/cccompile", "ccn/_native/include/ccn.hpp", f"{info}/LICENSE",
             "ccn/_native/lib/cmake/ccn/ccnConfig.cmake", "ccn/_native/lib/libLLVM.so.22.1"):
    assert name in names, (name, names)
# Of all that others made there is a licence.
own = ("libccn.so", "libccn_compiler", "libccn-mpi")
others = [name for name in names if name.startswith("ccn/_native/lib/lib") and not
          name.split("/")[-1].startswith(own)]
licences = [name for name in names if name.startswith(f"{info}/licenses/")]
assert len(others) > 5 and len(licences) > 5, (others, licences)

# Debian's NumPy is seen there, and nothing of ccn.
call(sys.executable, "-m", "venv", "--system-site-packages", "venv")
call("venv/bin/python", "-m", "pip", "install", f"wheels/{wheel}")
assert "Version: " + wheel.split("-")[1] in call("venv/bin/python", "-m", "pip", "show", "ccn")

# LLVM is hidden, where this may be done, and so is CUDA.
HIDE = """
for folder in /usr/lib/llvm-22 /usr/local/cuda*/; do
  if [ -d "$folder" ]; then mount -t tmpfs none "$(readlink -f "$folder")" || exit 1; fi
done
exec "$@"
"""
hide = ["unshare", "-rm", "sh", "-c", HIDE, "sh"]
can_hide = subprocess.run([*hide, "true"], capture_output=True, check=False).returncode == 0
hide = hide if can_hide else []
print("LLVM is hidden" if can_hide else "LLVM cannot be hidden here")

version = wheel.split("-")[1]
for tool in ("cccompile", "ccn-opt", "ccrun", "ccsynth"):
    assert call(*hide, f"venv/bin/{tool}", "--version") == f"{tool} {version}\n", tool
for tool in ("ccn-format", "ccn-lsp-server"):
    call(*hide, f"venv/bin/{tool}", "--help")
call("venv/bin/cccompile", "no-such-file.ccn", code=2)

# Whatever is loaded came with the wheel, but for what every Linux has.
SCRIPT = """
import os, re, sys
import numpy as np
import ccn
program = ccn.compile('''
mesh m (dp = 2)
program total(x: f32[3] local) {
  let y = all_reduce(sum, x)
  return y
}
''')
assert program.package and os.path.isdir(os.environ["CCN_CACHE_DIR"])
with ccn.Team(program) as team:
    y = team.run(lambda rank: program.on(team, rank)(np.arange(3, dtype=np.float32) + rank))
assert [part.tolist() for part in y] == [[1, 3, 5]] * 2, y
with open("/proc/self/maps") as file:
    loaded = {line.split(maxsplit=5)[5].strip() for line in file if ".so" in line}
of_wheel = [path for path in loaded if "/ccn/_native/lib/" in path]
assert any("libccn.so" in path for path in of_wheel) and any("libMLIR" in path for path in of_wheel), loaded
wrong = [path for path in loaded if path not in of_wheel and
         re.search("LLVM|MLIR|libz3|Clp|Coin|pugi|zstd|libmd|xml|icu|edit|ccn", os.path.basename(path))]
assert not wrong, wrong
"""
call(*hide, "venv/bin/python", "-c", SCRIPT, CCN_CACHE_DIR=f"{folder}/cache")
native, = glob.glob(f"{folder}/venv/lib/python*/site-packages/ccn/_native")
SYSTEM = re.compile(r"(linux-vdso|.*ld-linux-x86-64|lib(c|m|dl|rt|pthread|z|gcc_s|stdc\+\+))\.so.*")
for tool in os.listdir(f"{native}/bin"):
    for line in call(*hide, "ldd", f"{native}/bin/{tool}").splitlines():
        name, _, place = (word.strip() for word in line.partition("=>"))
        assert SYSTEM.fullmatch(name.split()[0]) or f"{native}/lib/" in os.path.normpath(place), (tool, line)

# NVRTC, where pip puts it: from Python and from the tools.
GPU = """
import ccn
program = ccn.compile("mesh m (r = 1)\\nprogram p(inout x: f32[2]) { x <- x + x }\\n", target="sm_80", run_on="cpu")
try:
    print("PTX" if ".entry" in program.emit("ptx") else "none")
except ccn.CompileError as error:
    print(error)
"""
nvrtc = glob.glob("/usr/local/cuda/lib64/libnvrtc.so.1[0-9]") + glob.glob("/usr/local/cuda/lib64/libnvrtc-builtins.so.1*")
if can_hide and len(nvrtc) == 2:
    with open("gpu.ccn", "w") as file:
        file.write("mesh m (r = 1)\nprogram p(inout x: f32[2]) { x <- x + x }\n")
    tool = [*hide, "venv/bin/cccompile", "gpu.ccn", "--target", "sm_80", "--emit", "ptx"]
    call(*tool, code=1)
    assert "cannot open NVRTC" in call(*hide, "venv/bin/python", "-c", GPU)
    place = f"{os.path.dirname(os.path.dirname(native))}/nvidia/cu13/lib"
    os.makedirs(place)
    for library in nvrtc:
        shutil.copy(library, place)
    assert call(*hide, "venv/bin/python", "-c", GPU) == "PTX\n"
    assert ".entry" in call(*tool)
    print("with NVRTC")

# The first page of the tutorial.
call(*hide, sys.executable, f"{source}/test/lit/docs/run_page.py", f"{source}/examples/tutorials/01-layouts.md",
     f"{folder}/page", f"{folder}/venv")

# Two processes, started as torchrun does, take a step of training.
STEP = """
import sys
import numpy as np
import ccn
step = ccn.compile(sys.argv[1], mesh={"dp": 2}, params={"N": 7}, schedule="fused")
with ccn.join(step) as team:
    rank, n = team.rank, 7
    p, part = np.ones(n, np.float32), step.argument("mom").part(team.rank)
    mom, var = np.zeros(part.shape, np.float32), np.zeros(part.shape, np.float32)
    step(np.full(n, 1 + rank, np.float16), p, mom, var, lr=0.5, t=1)
    assert np.abs(p - 0.5).max() < 1e-4, p
    print(rank)
"""
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
launch = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
          "TORCHELASTIC_RUN_ID": "none"}
ranks = [subprocess.Popen([*hide, "venv/bin/python", "-c", STEP, f"{source}/examples/adam.ccn"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env={**CLEAN, **launch, "RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0"})
         for rank in range(2)]
for rank, process in enumerate(ranks):
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0 and out == f"{rank}\n", (out, err)

# Applications in C and C++ find it in the wheel, too.
if shutil.which("cmake"):
    prefix = call("venv/bin/python", "-c", "import ccn; print(ccn.prefix())").strip()
    assert os.path.exists(f"{prefix}/lib/cmake/ccn/ccnConfig.cmake"), prefix
    os.makedirs("app")
    with open("app/CMakeLists.txt", "w") as file:
        file.write("cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfind_package(ccn REQUIRED)\n"
                   "add_executable(app app.c)\ntarget_link_libraries(app ccn::runtime)\n")
    with open("app/app.c", "w") as file:
        file.write('#include <ccn.h>\n#include <stdio.h>\nint main(void) { return puts(ccn_version()) < 0; }\n')
    call("cmake", "-S", "app", "-B", "app/build", f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", "app/build")
    assert call("app/build/app") == version + "\n"
print("right")
shutil.rmtree("venv")
shutil.rmtree("wheels")
