"""Builds examples/cpp out of tree, against a build of ccn and an installed one, and runs it.

    run_application.py SOURCE BUILD FOLDER
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import temporary

temporary.use_own()
source, build, folder = (pathlib.Path(path) for path in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
# It is to be found without.
environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def run(*command, code=0, env=environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500, env=env)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def make(name, *options, examples=source / "examples"):
    run("cmake", "-S", examples / "cpp", "-B", folder / name, "-DCMAKE_BUILD_TYPE=Release", *options)
    run("cmake", "--build", folder / name)
    return folder / name / "adam-example"


# With GPUs where CUDA's toolkit is.
example = make("of-build", f"-Dccn_DIR={build}", "-DADAM_SIZE=1003")
assert run(example).stdout == "adam: 4 ranks, 5 steps: right\n"
assert run(example, "--steps", 1).stdout == "adam: 4 ranks, 1 steps: right\n"
run(example, "--steps", 0, code=2)
# No GPU is a message, not a crash.
lost = run(example, "--gpu", code=4, env={**environment, "CUDA_VISIBLE_DEVICES": ""})
assert lost.stderr.startswith("adam-example: program 'adam': "), lost.stderr
# What the application takes is not LLVM's.
needed = run("ldd", example).stdout
assert "libccn.so" in needed and "LLVM" not in needed and "MLIR" not in needed, needed
if (build / "lib/libccn-mpi.so").exists() and shutil.which("mpirun"):
    mpirun = ["mpirun", "--oversubscribe", "-n", 4]
    as_root = {**environment, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for transport in ("shared", "messages"):
        env = {**as_root, "CCN_TRANSPORT": transport}
        assert run(*mpirun, example, "--launched", env=env).stdout == "adam: 4 ranks, 5 steps: right\n"

# As torchrun would start it.
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
ranks = [subprocess.Popen([example, "--launched"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**environment, "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank),
                               "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
         for rank in range(4)]
found = [rank.communicate(timeout=100) for rank in ranks]
assert [rank.returncode for rank in ranks] == [0] * 4 and found[0][0] == "adam: 4 ranks, 5 steps: right\n", found
alone = run(example, "--launched", code=4, env={**environment, "CCN_LAUNCHER": "none"}).stderr
assert "no launcher has started this process" in alone, alone

# A changed program is compiled again, and so is what uses it; a mistake is an error of the build.
project = folder / "changing"
project.mkdir()
(project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(changing LANGUAGES C)
find_package(ccn REQUIRED)
ccn_add_program(sums sums.ccn PROGRAM two SCHEDULE own.ccn MACHINE cpu CPU x86-64)
add_executable(use use.c)
target_link_libraries(use sums)
""")
(project / "use.c").write_text("""#include "sums.h"
#include <stdio.h>
int main(void) {
  ccn_program *program;
  ccn_program_info info;
  if (two_load(CCN_TARGET_DEFAULT, &program) || ccn_program_check(program, two_signature) ||
      ccn_program_describe(program, &info))
    return 1;
  printf("%d ranks, schedule %s\\n", two_ranks, info.schedule);
  ccn_program_release(program);
  return 0;
}
""")
sums = """mesh m (dp = %d)
program one() {}
program two(x: f32[7] local) {
  let y = all_reduce(%s, x)
  return y
}
"""
(project / "own.ccn").write_text("schedule own for two {\n  split y\n}\n")
(project / "sums.ccn").write_text(sums % (2, "sum"))
run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}")
run("cmake", "--build", project / "build")
assert run(project / "build/use").stdout == f"2 ranks, schedule {project / 'own.ccn'}\n"
(project / "sums.ccn").write_text(sums % (5, "sum"))
run("cmake", "--build", project / "build")
assert run(project / "build/use").stdout.startswith("5 ranks"), run(project / "build/use").stdout
(project / "own.ccn").write_text("schedule own for two {\n  split x\n}\n")
failed = run("cmake", "--build", project / "build", code=2)
assert "own.ccn:2:" in failed.stdout + failed.stderr, failed

# Installed, without CUDA's toolkit, and other ranks and sizes: slices are empty or short.
run("cmake", "--install", build, "--prefix", folder / "installed")
tools = folder / "installed/bin"
assert "adam" in run(tools / "cccompile", source / "examples/adam.ccn").stdout
run(tools / "ccrun", "--help")
package = next((folder / "installed").rglob("python/ccn/__init__.py")).parents[1]
found = run(sys.executable, "-c", "import ccn; print(ccn._library.lib._name); "
            "ccn.compile('mesh m (r = 1)\\nprogram p(inout x: f32[2]) { x <- x + x }\\n'); "
            "print(ccn._compiler._opened._name)", env={**environment, "PYTHONPATH": str(package), "CCN_CACHE_DIR": ""})
assert [line.startswith(str(folder / "installed")) for line in found.stdout.splitlines()] == [True] * 2, found
example = make("of-installed", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}", "-DADAM_SIZE=5", "-DADAM_RANKS=3",
               "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON", examples=folder / "installed/share/doc/ccn/examples")
assert run(example).stdout == "adam: 3 ranks, 5 steps: right\n"
assert run(example, "--gpu", code=4).stderr.startswith("adam-example: program 'adam': the package holds no kernels")

# Two of one program link into one target with a prefix only; in two targets they need none.
project = folder / "two"
project.mkdir()
(project / "sums.ccn").write_text("mesh m (dp = 2)\nparam N = 7\n" + "".join((sums % (2, "sum")).splitlines(True)[2:])
                                  .replace("[7]", "[N]"))
(project / "use.c").write_text("""#include <a.h>
#include <b.h>
#include <stdio.h>
int main(void) {
  ccn_program *program, *other;
  if (two_load(CCN_TARGET_DEFAULT, &program) || ccn_program_check(program, two_signature) ||
      b_load(CCN_TARGET_DEFAULT, &other) || ccn_program_check(other, b_signature))
    return 1;
  puts(b_signature);
  return 0;
}
""")
(project / "one.c").write_text("#include <a.h>\nint main(void) { return two_ranks != 2; }\n")
two = """cmake_minimum_required(VERSION 3.25)
project(two LANGUAGES C)
find_package(ccn REQUIRED)
ccn_add_program(a sums.ccn CPU x86-64)
ccn_add_program(b sums.ccn DEFINES N=5 CPU x86-64 %s)
add_executable(use use.c)
target_link_libraries(use %s)
add_executable(one one.c)
target_link_libraries(one a)
"""
(project / "CMakeLists.txt").write_text(two % ("PREFIX b", "a b"))
run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}")
run("cmake", "--build", project / "build")
assert run(project / "build/use").stdout == "two (dp = 2): in x f32[5] local(dp), out y f32[5]\n"
(project / "CMakeLists.txt").write_text(two % ("", "a b"))
found = run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}", code=1).stderr
assert "CCN_PREFIX_two" in found and "does not agree" in " ".join(found.split()), found
(project / "CMakeLists.txt").write_text(two % ("", "a"))
run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}")

# The function says what is wrong in a project.
project = folder / "wrong"
project.mkdir()
for call, text in (("ccn_add_program(a a.ccn SCHEDULES b)", "unexpected 'SCHEDULES;b'"),
                   ("ccn_add_program(a a.ccn SCHEDULE)", "without a value 'SCHEDULE'")):
    (project / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES C)\nfind_package(ccn REQUIRED)\n{call}\n")
    found = run("cmake", "-S", project, "-B", project / "build", f"-Dccn_DIR={build}", code=1).stderr
    assert text in " ".join(found.split()), found
