"""Compiles misuses and compares all that the compiler says about each.

    check.py FOLDER [--seconds N] COMMAND... [--update TEST]

FOLDER holds what split-file made of a test: a case is NAME.ccn or NAME.mlir and
NAME.out, which has the exit code and then the whole of standard error. In the case,
a comment `// args: ...` adds arguments, and `// command: ...` gives all of them,
without the file. A case that fails writes nothing to standard output. Each is run a
second time with --diagnostics json, which must say the same. --seconds bounds the
processor time of each.

--update TEST puts what was found into the test itself, for the author to read.
"""

import json
import os
import re
import resource
import shlex
import subprocess
import sys

WALL_SECONDS = 300
PLACE = re.compile(r"(?:(\S[^:]*):(?:(\d+):(\d+):)? )?(error|note|warning): (.*)")


def arguments(path):
    """The arguments of a case."""
    with open(path, "rb") as file:
        text = file.read(4096).decode("utf-8", "replace")
    command = re.search(r"^// command: *(.*)$", text, re.M)
    if command:
        return shlex.split(command[1])
    extra = re.search(r"^// args: *(.*)$", text, re.M)
    return [os.path.basename(path)] + shlex.split(extra[1] if extra else "")


def run(command, folder):
    """Exit code, standard output and standard error. A crash has a negative code."""
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=WALL_SECONDS, check=False)
    return (done.returncode, done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8"))


def said_in_text(text):
    """The messages in text output as (file, line, column, severity, message)."""
    found = [PLACE.fullmatch(line.removeprefix("cccompile: ")) for line in text.splitlines()]
    return [(m[1] or "", int(m[2] or 0), int(m[3] or 0), m[4], m[5]) for m in found if m]


def said_in_json(text):
    """The same of JSON output."""
    said = []
    for error in json.loads(text):
        for one in [error] + error["notes"]:
            said.append((one.get("file", ""), one.get("line", 0), one.get("column", 0),
                         one["severity"], one["message"]))
    return said


def without_machine(text):
    """A message without what differs from machine to machine."""
    text = re.sub(r"produced by: MLIR[\d.]+", "produced by: MLIR", text)
    return re.sub(r"found \d+, which (this machine has available|the limits? of this process[^\"\n]*)", "found fewer",
                  text)


def check(name, folder, command, words, seconds):
    """Runs a case. What came out, and what is wrong whatever was expected."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, out, err = run(command + words, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code not in (0, 1, 2, 4):
        return f"exit {code}\n", [f"{name}: it crashed: {err[:2000]}"]
    err = without_machine(err)
    found = f"exit {code}\n{err}".rstrip() + "\n"
    wrong = []
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    if took > seconds:
        wrong.append(f"it took {took:.1f} s, expected at most {seconds} s")
    if code and out:
        wrong.append(f"it failed but wrote to standard output: {out[:200]!r}")
    if "--diagnostics" not in words:
        again = run(command + ["--diagnostics", "json"] + words, folder)
        try:
            if again[0] != code or said_in_json(without_machine(again[2])) != said_in_text(err):
                wrong.append(f"JSON says something else: exit {again[0]}\n{again[2]}")
        except (ValueError, KeyError, TypeError) as error:
            wrong.append(f"JSON does not parse: {error}\n{again[2]}")
    return found, [f"{name}: {what}" for what in wrong]


def update(test, results):
    """Replaces the expected output of the cases in a test."""
    with open(test, encoding="utf-8", newline="") as file:
        parts = re.split(r"^(//--- \S+\n)", file.read(), flags=re.M)
    text = parts[0].rstrip("\n") + "\n\n"
    heads = parts[1::2]
    for head, body in zip(heads, parts[2::2]):
        name, kind = os.path.splitext(head[6:-1])
        if kind == ".out" and name in results:
            body = results[name]
        text += head + body.rstrip("\n") + "\n"
        if kind == ".out" or name not in results:
            text += "\n"
        elif f"//--- {name}.out\n" not in heads:
            text += f"//--- {name}.out\n{results[name]}\n"
    with open(test, "w", encoding="utf-8", newline="") as file:
        file.write(text.rstrip("\n") + "\n")


def main():
    folder, *command = sys.argv[1:]
    seconds = 60.0
    if command[0] == "--seconds":
        seconds = float(command[1])
        command = command[2:]
    test = None
    if "--update" in command:
        at = command.index("--update")
        test = command[at + 1]
        del command[at:at + 2]
    results, failures = {}, []
    for file in sorted(os.listdir(folder)):
        name, kind = os.path.splitext(file)
        path = os.path.join(folder, file)
        expected_path = os.path.join(folder, name + ".out")
        if kind not in (".ccn", ".mlir") or not (test or os.path.exists(expected_path)):
            continue
        results[name], wrong = check(name, folder, command, arguments(path), seconds)
        failures += wrong
        if test:
            continue
        with open(expected_path, encoding="utf-8") as expected_file:
            expected = expected_file.read().rstrip() + "\n"
        if results[name] != expected:
            failures.append(f"{name}: expected\n{expected}found\n{results[name]}")
    if test:
        update(test, results)
    if not results:
        failures.append("expected cases in " + folder)
    print("\n".join(failures) or f"{len(results)} misuses")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
