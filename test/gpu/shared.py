#!/usr/bin/env python3
"""Ranks that share a GPU: whether their kernels, which wait for each other, always come to run; and if not, why.

    shared.py queues [--streams N]             which streams of a process wait for each other, by the driver's choice of queues
    shared.py run FOLDER [--times N] [--at-once N[,N...]] [--timeout S] [--gpus LIST] [--only REGEX]

`run` checks the packages named `once-...` that pack.py packed, each so often, with so many processes at once: on one GPU,
on two (--gpus 0 and --gpus 0,1), with products by ccn's kernels and by cuBLASLt. What fails is printed with all that tells
why: the error, which says what each rank's GPU was given, has begun and has done; and of a process that takes longer
than half of its time limit the state of its threads, and what the GPU was doing. Ends with 1 if anything failed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

#===----------------------------------------------------------------------===#
# Queues
#===----------------------------------------------------------------------===#


class Cuda:
    """The driver, with a context."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.use()

    def use(self):
        """In the thread that calls this."""
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        if result:
            sys.exit(f"{name} failed: error {result}")

    def stream(self):
        made = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(made), 1)
        return made

    def words(self, count):
        """Words that host and device see: the address for each."""
        host, device = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(4 * count), 2)
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(device), host, 0)
        words = (ctypes.c_uint32 * count).from_address(host.value)
        words[:] = [0] * count
        return words, device.value

    def set(self, stream, address, value):
        self.call("cuMemsetD32Async", ctypes.c_uint64(address), ctypes.c_uint(value), ctypes.c_size_t(1), stream)

    def block(self, stream, address):
        """Until the word there is not 0."""
        self.call("cuStreamWaitValue32_v2", stream, ctypes.c_uint64(address), ctypes.c_uint32(1), 0)

    def is_done(self, stream):
        return self.driver.cuStreamQuery(stream) == 0


def begin(cuda, streams, address, how):
    """Uses streams for the first time: one after the other, or four threads at once."""
    def some(part):
        cuda.use()
        for stream in part:
            cuda.set(stream, address, 0)
    if how == "in turns":
        some(streams)
    else:
        threads = [threading.Thread(target=some, args=(streams[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    while not all(cuda.is_done(stream) for stream in streams):
        time.sleep(0.001)


def shared_queues(count, how):
    """For each stream those that wait while it does."""
    cuda = Cuda()
    words, address = cuda.words(2)
    streams = [cuda.stream() for _ in range(count)]
    begin(cuda, streams, address + 4, how)
    behind = []
    for blocked in streams:
        words[0] = 0
        cuda.block(blocked, address)
        others = [stream for stream in streams if stream is not blocked]
        for stream in others:
            cuda.set(stream, address + 4, 1)
        end = time.monotonic() + 0.02
        while time.monotonic() < end and not all(cuda.is_done(stream) for stream in others):
            time.sleep(0.001)
        behind.append([i for i, stream in enumerate(streams) if stream is not blocked and not cuda.is_done(stream)])
        words[0] = 1
        while not all(cuda.is_done(stream) for stream in streams):
            time.sleep(0.001)
    return behind


def print_queues(options):
    if options.how:
        behind = shared_queues(options.streams, options.how)
        groups = {tuple(sorted([i, *others])) for i, others in enumerate(behind) if others}
        print(f"  begun {options.how}: {len(groups)} queues are shared: {sorted(groups)}", flush=True)
        return 0
    for connections in (None, 8, 32):
        print(f"{options.streams} streams, CUDA_DEVICE_MAX_CONNECTIONS {connections or 'not set'}:", flush=True)
        for how in ("in turns", "at once"):
            env = {key: value for key, value in os.environ.items() if key != "CUDA_DEVICE_MAX_CONNECTIONS"}
            env |= {"CUDA_DEVICE_MAX_CONNECTIONS": str(connections)} if connections else {}
            subprocess.run([sys.executable, __file__, "queues", "--streams", str(options.streams), "--how", how], env=env)
    return 0


#===----------------------------------------------------------------------===#
# Runs
#===----------------------------------------------------------------------===#


def read(path):
    with contextlib.suppress(OSError), open(path) as file:
        return file.read().strip()
    return "?"


def threads_of(process):
    """How often a process has threads in a state: what they are, the system call that they are in, and whether they run."""
    counts = collections.Counter()
    for task in glob.glob(f"/proc/{process}/task/*"):
        before = read(f"{task}/stat").rpartition(")")[2].split()
        time.sleep(0.01)
        after = read(f"{task}/stat").rpartition(")")[2].split()
        busy = "runs" if len(after) > 12 and before[11:13] != after[11:13] else "is idle"
        call = (read(f"{task}/syscall").split() or ["?"])[0]
        counts[f"{read(f'{task}/comm')} {busy}, call {call} ({read(f'{task}/wchan')})"] += 1
    return "; ".join(f"{count} x {what}" for what, count in counts.most_common())


def stacks_of(process):
    """Where its threads are, if there is a debugger."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(["gdb", "-p", str(process), "-batch", "-ex", "thread apply all bt 12"], capture_output=True,
                              text=True, timeout=60)
        return "\n".join(row for row in done.stdout.splitlines() if re.match(r"Thread|#", row))
    return "no debugger"


def gpu():
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(["nvidia-smi", "--query-gpu=index,utilization.gpu,memory.used,compute_mode", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=20).stdout.strip().replace("\n", "; ")
    return "?"


def check(folder, package, products, options):
    """What is wrong with one run; empty if nothing is."""
    env = {**os.environ, "CCN_PRODUCTS": products, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    if options.gpus:
        env["CUDA_VISIBLE_DEVICES"] = options.gpus
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryFile("w+") as out:
        # A trace makes ranks say what their GPUs have begun.
        traced = ["--trace", f"{made}/trace.json"] if options.trace else []
        process = subprocess.Popen([f"{folder}/ccrun", package, "--check", "--timeout", str(options.timeout), *traced], env=env,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out, text=True)
        begin, said = time.monotonic(), ""
        # Compiling is over by then, as packages are warmed up.
        try:
            process.wait(timeout=options.timeout / 2)
        except subprocess.TimeoutExpired:
            said = (f"\n  after {time.monotonic() - begin:.0f} s: threads: {threads_of(process.pid)}\n  GPUs: {gpu()}\n"
                    f"{stacks_of(process.pid)}")
            try:
                process.wait(timeout=5 * options.timeout + 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                said += "\n  killed, as it did not end"
        out.seek(0)
        text = out.read()
    # What is only slow is told too.
    if process.returncode == 0 and not said:
        return ""
    rows = [row for row in text.splitlines() if "error" in row or (row.startswith("check") and "same bits" not in row)]
    return f"exit {process.returncode} after {time.monotonic() - begin:.1f} s: {' | '.join(rows)}{said}"


def run(options):
    folder = os.path.abspath(options.folder)
    if os.path.exists(f"{folder}/packages.tar.xz"):
        subprocess.run(["tar", "xf", f"{folder}/packages.tar.xz", "-C", folder], check=True)
    packages = [path for path in sorted(glob.glob(f"{folder}/once-*.ccnpkg"))
                if re.search(options.only, os.path.basename(path))]
    if not packages:
        sys.exit(f"{folder}: no package 'once-...' of that name")
    failed = 0
    for package in packages:
        check(folder, package, "auto", options)
    for jobs in map(int, options.at_once.split(",")):
        for products in ("auto", "kernels"):
            work = [package for _ in range(options.times) for package in packages]
            begin = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                wrong = [(package, said) for package, said in
                         zip(work, pool.map(lambda package: check(folder, package, products, options), work)) if said]
            failed += len(wrong)
            print(f"{jobs} at once, products {products}: {len(work)} runs, {len(wrong)} failed or slow, "
                  f"{time.monotonic() - begin:.0f} s", flush=True)
            for package, said in wrong:
                print(f"{os.path.basename(package)}: {said}", flush=True)
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    queues = commands.add_parser("queues")
    queues.add_argument("--streams", type=int, default=40)
    queues.add_argument("--how", help=argparse.SUPPRESS)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--times", type=int, default=20, help="how often each package is checked in each way")
    running.add_argument("--at-once", default="1,5", help="how many processes share the GPUs")
    running.add_argument("--timeout", type=float, default=20, help="how long a rank waits for another, in seconds")
    running.add_argument("--gpus", help="CUDA_VISIBLE_DEVICES")
    running.add_argument("--only", default="", help="a regular expression for the packages' names")
    running.add_argument("--trace", action="store_true", help="so that errors say what GPUs have begun and done; changes what is timed")
    options = parser.parse_args()
    return print_queues(options) if options.command == "queues" else run(options)


if __name__ == "__main__":
    sys.exit(main())
