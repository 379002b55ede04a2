"""Kills a rank while graphs are replayed: the others must end in time, with an error that names it.

    killed.py PACKAGE [--time-limit SECONDS]

The package is for two ranks or more, of which each has a process and a GPU of its own. Once they reach each other's
memory as they can, once they send messages by NCCL. It needs the package ccn on PYTHONPATH, with its libccn, and NCCL
where the system or LD_LIBRARY_PATH has it. However ranks end, the script ends within some minutes.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import ccn

from device import Device

# To compile kernels, to meet, and to connect.
START_SECONDS = 50
SAYS_IT_REPLAYS = "replaying"


def be_rank(package, time_limit):
    """What each process does until it is ended."""
    program = ccn.load(package, "gpu")
    team = ccn.join(program, time_limit=time_limit)
    device = Device(int(os.environ["LOCAL_RANK"]))
    given, results = [], []
    for argument in program.arguments:
        tensor = 0.001 if argument.is_value else device.zeros(argument.part(team.rank).shape, argument.type)
        (results if argument.kind == "result" else given).append(tensor)
    executor = program.on(team)
    executor.bind(*given, out=results)

    def run():
        executor(*given, out=results, stream=device.stream.value)

    run()
    executor.synchronize(device.stream.value)
    team.meet()
    graph = device.capture(run)
    # Making a graph may wait for devices, which must not wait for other ranks then.
    team.meet()
    print(SAYS_IT_REPLAYS, flush=True)
    end = time.monotonic() + 2 * START_SECONDS
    while time.monotonic() < end:
        for _ in range(50):
            graph.replay()
        executor.synchronize(device.stream.value)
    sys.exit("no rank was lost")


class Ranks:
    """Processes as a launcher would start them, and what they print."""

    def __init__(self, count, command, variables, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.files = [(f"{folder}/{rank}.out", f"{folder}/{rank}.err") for rank in range(count)]
        self.processes = []
        for rank, (out, err) in enumerate(self.files):
            told = {"CCN_LAUNCHER": "torchrun", "TORCHELASTIC_RUN_ID": "killed", "TORCHELASTIC_USE_AGENT_STORE": "False",
                    "RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count,
                    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            environment = {**os.environ, **variables, **{name: str(value) for name, value in told.items()}}
            with open(out, "w") as stdout, open(err, "w") as stderr:
                self.processes.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                                       stderr=stderr))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                print(f"process {process.pid} cannot be ended", flush=True)

    def said(self, rank):
        return "".join(open(file, errors="replace").read() for file in self.files[rank])

    def wait(self, seconds, are_there, what):
        """Waits until are_there()."""
        end = time.monotonic() + seconds
        while not are_there():
            late = time.monotonic() > end
            if late or (what == SAYS_IT_REPLAYS and any(process.poll() is not None for process in self.processes)):
                said = "\n".join(f"rank {rank} ({process.poll()}): {self.said(rank)[-800:]}"
                                 for rank, process in enumerate(self.processes))
                raise AssertionError(f"not all ranks are {what}" + (f" after {seconds:.0f} s" if late else "") + f"\n{said}")
            time.sleep(0.02)


def kill_one(package, ranks, transport, time_limit):
    """What the others say of the last rank, and after how many seconds all had ended."""
    lost = ranks - 1
    command = [sys.executable, os.path.abspath(__file__), package, "--time-limit", str(time_limit), "--be-rank"]
    with tempfile.TemporaryDirectory() as folder, Ranks(ranks, command, {"CCN_GPU_TRANSPORT": transport}, folder) as team:
        team.wait(START_SECONDS, lambda: all(SAYS_IT_REPLAYS in team.said(rank) for rank in range(ranks)), SAYS_IT_REPLAYS)
        time.sleep(1)
        team.processes[lost].send_signal(signal.SIGKILL)
        begin = time.monotonic()
        team.wait(time_limit, lambda: all(process.poll() is not None for process in team.processes), "ended")
        seconds = time.monotonic() - begin
        assert team.processes[lost].returncode == -signal.SIGKILL, team.processes[lost].returncode
        for rank in range(lost):
            told = re.findall(r"^ccn\.TeamError: (.*)$", team.said(rank), re.M)
            assert team.processes[rank].returncode and told and re.search(rf"\brank {lost}\b", told[-1]), (
                f"rank {rank} ended with {team.processes[rank].returncode}: {team.said(rank)[-800:]}")
        return told[-1], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--time-limit", type=float, default=30, help="how long ranks wait for each other, and may take to end")
    parser.add_argument("--be-rank", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_rank:
        be_rank(options.package, options.time_limit)
    ranks = ccn.load(options.package, "gpu").ranks
    failed = 0
    for transport in ("auto", "nccl"):
        try:
            told, seconds = kill_one(options.package, ranks, transport, options.time_limit)
            print(f"transport {transport}: rank {ranks - 1} of {ranks} was killed, the others had ended {seconds:.1f} s later: "
                  f"{told}", flush=True)
        except AssertionError as error:
            failed = 1
            print(f"transport {transport}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
