"""Builds examples/cpp out of tree, against a build of ccn and an installed one, and runs it.

    run_application.py SOURCE BUILD FOLDER
"""

import os
import pathlib
import shutil
import subprocess
import sys

source, build, folder = (pathlib.Path(path) for path in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
# It is to be found without.
environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def run(*command, code=0, env=environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500, env=env)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def make(name, *options):
    run("cmake", "-S", source / "examples/cpp", "-B", folder / name, "-DCMAKE_BUILD_TYPE=Release", *options)
    run("cmake", "--build", folder / name)
    return folder / name / "adam-example"


# With GPUs where CUDA's toolkit is.
example = make("of-build", f"-Dccn_DIR={build}", "-DADAM_SIZE=1003")
assert run(example).stdout == "adam: 4 ranks, 5 steps: right\n"
assert run(example, "--steps", 1).stdout == "adam: 4 ranks, 1 steps: right\n"
run(example, "--steps", 0, code=2)
has_cuda = (folder / "of-build/CMakeFiles/adam-example.dir/OnGpu.cpp.o").exists()
# No GPU is a message, not a crash.
lost = run(example, "--gpu", code=4, env={**environment, "CUDA_VISIBLE_DEVICES": ""})
assert lost.stderr.startswith("adam-example: the program: program 'adam': " if has_cuda else
                              "adam-example: the program: "), lost.stderr
# What the application takes is not LLVM's.
needed = run("ldd", example).stdout
assert "libccn.so" in needed and "LLVM" not in needed and "MLIR" not in needed, needed
if (build / "lib/libccn-mpi.so").exists() and shutil.which("mpirun"):
    mpirun = ["mpirun", "--oversubscribe", "-n", 4]
    as_root = {**environment, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for transport in ("shared", "messages"):
        env = {**as_root, "CCN_TRANSPORT": transport}
        assert run(*mpirun, example, "--launched", env=env).stdout == "adam: 4 ranks, 5 steps: right\n"

# A change of the program is compiled again; a mistake in it is an error of the build.
run("cmake", "--build", folder / "of-build")

# Installed, without CUDA's toolkit, and other ranks and sizes: slices are empty or short.
run("cmake", "--install", build, "--prefix", folder / "installed")
tools = folder / "installed/bin"
assert "adam" in run(tools / "cccompile", source / "examples/adam.ccn").stdout
run(tools / "ccrun", "--help")
example = make("of-installed", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}", "-DADAM_SIZE=5", "-DADAM_RANKS=3",
               "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
assert run(example).stdout == "adam: 3 ranks, 5 steps: right\n"
assert run(example, "--gpu", code=4).stderr.startswith("adam-example: the program: "), "no kernels"

# The function says what is wrong in a project.
project = folder / "wrong"
project.mkdir()
for call, text in (("ccn_add_program(a a.ccn SCHEDULES b)", "unexpected 'SCHEDULES;b'"),
                   ("ccn_add_program(a a.ccn SCHEDULE)", "without a value 'SCHEDULE'")):
    (project / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES C)\nfind_package(ccn REQUIRED)\n{call}\n")
    found = run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}", code=1).stderr
    assert text in " ".join(found.split()), found
