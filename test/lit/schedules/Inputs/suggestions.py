"""Does what --explain suggests, which must then be accepted.

    suggestions.py FOLDER FILE...

Of each program and each of its schedules, and without one, every suggestion that is a
line of a schedule is added to that schedule alone, which is applied.
"""

import json
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r"; ((?:let \(|overlap |fuse |slice_state |bucket ).*)$")


def compile_file(path, *arguments):
    return subprocess.run(["cccompile", path, *arguments, "-o", "/dev/null"], capture_output=True,
                          text=True, timeout=120, check=False)


def suggestions(path, *arguments):
    done = compile_file(path, *arguments, "--explain", "--diagnostics", "json")
    if done.returncode:
        return []  # a schedule that is wrong
    found = [LINE.search(remark["message"]) for remark in json.loads(done.stderr or "[]")
             if remark["message"].startswith("missed ")]
    return [match[1] for match in found if match]


def main():
    folder, *files = sys.argv[1:]
    path = pathlib.Path(folder) / "suggested.ccn"
    tried, wrong = 0, []
    for file in files:
        text = pathlib.Path(file).read_text(encoding="utf-8")
        schedules = {(program, name): body for name, program, body in re.findall(
            r"^schedule (\w+) for (\w+) \{(.*?)^\}", text, re.M | re.S)}
        for program in re.findall(r"^program (\w+)", text, re.M):
            of = [(name, body) for (other, name), body in schedules.items() if other == program]
            for name, body in [("", "")] + of:
                chosen = ["--program", program] + (["--schedule", name] if name else [])
                for line in suggestions(file, *chosen):
                    path.write_text(f"schedule s for {program} {{{body}\n{line}\n}}\n", encoding="utf-8")
                    done = compile_file(file, "--program", program, "--schedule", path)
                    tried += 1
                    if done.returncode:
                        wrong.append(f"{file}, schedule {name or 'of none'}: {line}: {done.stderr}")
    print("\n".join(wrong) or f"{tried} suggestions are accepted")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
