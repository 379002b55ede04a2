# How lit runs the tests of ccn.
import os
import shutil
import subprocess

import lit.formats

config.name = "ccn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ccn", ".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join(
    [config.ccn_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
# Every schedule that a test applies is verified.
config.environment["CCN_VERIFY"] = "1"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

if config.sanitizer:
    # MLIR's allocators are partly in headers, which are compiled with the
    # sanitizer, and partly in its library, which is not.
    config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")

config.environment["CCN_CACHE_DIR"] = config.test_exec_root + "/cache"
tools = config.ccn_tools_dir
config.substitutions += [
    (r"\bccn-opt\b", tools + "/ccn-opt"),
    (r"\bcccompile\b", tools + "/cccompile"),
    ("%ccsynth", tools + "/ccsynth"),
    ("%ccn-format", tools + "/ccn-format"),
    ("%ccn-lsp-server", tools + "/ccn-lsp-server"),
    ("%ccrun", tools + "/ccrun"),
    ("%sample", tools + "/ccn-sample-package"),
    ("%python", config.python),
    ("%examples", config.ccn_source_dir + "/examples"),
    ("%source", config.ccn_source_dir),
    ("%build", config.ccn_binary_dir),
]
# For folders whose tests have every tool write its IR as text and as bytecode,
# and read it back, at each step.
read_back = {r"\bccn-opt\b": " --verify-roundtrip", r"\bcccompile\b": " --round-trip"}
config.read_back_substitutions = [(name, text + read_back.get(name, "")) for name, text in config.substitutions]
if os.path.exists(config.ccn_binary_dir + "/lib/fake-cuda/libcuda.so.1"):
    config.available_features.add("fake-cuda")
# What it makes is loaded into tools without the sanitizer's library.
if os.path.exists(config.ccn_binary_dir + "/lib/fake-nvrtc/libnvrtc.so.13") and not config.sanitizer:
    config.available_features.add("fake-nvrtc")
if shutil.which("node"):
    config.available_features.add("node")
# Where the tests' Python has PyTorch, which Debian's has not.
find = "import importlib.util, sys; found = importlib.util.find_spec('torch'); sys.exit(not (found and found.origin))"
if subprocess.run([config.python, "-c", find], check=False).returncode == 0:
    config.available_features.add("torch")
# Where the tests' Python can make virtual environments and build wheels, which need Python 3.11.
find = "import ensurepip, pip, tomllib, venv"
if subprocess.run([config.python, "-c", find], capture_output=True, check=False).returncode == 0:
    config.available_features.add("venv")
if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")
# Only the compiler knows whether it finds CUDA's.
kernels = subprocess.run(
    [tools + "/cccompile", "-", "--emit", "ptx", "--target", "sm_80"], capture_output=True,
    input=b"mesh m (dp = 1)\nprogram p(inout x: f32[1]) { x <- x + x }\n", check=False)
if kernels.returncode == 0:
    config.available_features.add("nvrtc")
if config.sanitizer:
    config.available_features.add("sanitizer")
# MPI's library leaks on purpose, and its processes have limited time.
elif shutil.which("mpirun") and os.path.exists(config.ccn_binary_dir + "/lib/libccn-mpi.so"):
    config.available_features.add("mpi")
    # LLVM's allocators, inlined in our code, mark free memory for the sanitizer;
    # those in the shared library, not instrumented, use it all the same.
    config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
