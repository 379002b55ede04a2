"""What the tests of ranks that a launcher starts have in common."""

import os
import re
import signal
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "Inputs"))
import temporary

TRANSPORTS = ["shared", "messages"]


def enter(folder):
    """Makes an empty folder, and goes there."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    temporary.use_own()


def packages(sample):
    """A function that makes a package by hand."""

    def package(name, *arguments):
        subprocess.run([sample, name, *map(str, arguments)], check=True)
        return name

    return package


def messages(text):
    """What ccrun says among what a launcher says."""
    return re.findall(r"^ccrun: error: (.*)$", text, re.M)


def is_running(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def has_signal_handler(pid):
    """Whether SIGTERM is handled: then the rank has joined."""
    caught = re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{pid}/status").read())[1]
    return int(caught, 16) >> (signal.SIGTERM - 1) & 1


def await_joined(pids):
    """Waits until all have joined, and are about their work."""
    deadline = time.monotonic() + 30
    while not all(map(has_signal_handler, pids)):
        assert time.monotonic() < deadline, "the ranks did not join"
        time.sleep(0.02)
    time.sleep(0.2)


def elsewhere():
    """The begin of a command that gives a process a system of its own, as on another host; None if it may not."""
    command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /dev/shm && echo elsewhere >/dev/shm/boot && "
               'mount --bind /dev/shm/boot /proc/sys/kernel/random/boot_id && exec "$@"', "sh"]
    return command if subprocess.run([*command, "true"], capture_output=True).returncode == 0 else None


def assert_no_names(pids):
    """Nothing of the memory of these processes stays behind."""
    left = [name for name in os.listdir("/dev/shm") if any(f"-{pid}-" in name for pid in pids)]
    assert not left, left
