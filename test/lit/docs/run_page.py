"""Runs what a page of examples/tutorials shows, and compares with the output that it shows.

    run_page.py PAGE FOLDER BUILD [--update]

Blocks of the page are

    ```console      commands, each after `$ `, with what they print below; a line `...` is any lines, `...` in a line
                    any text. A command may fail, but then it prints why
    `name`:         and a block after it: lines of that file, which stands beside the page

and no others. FOLDER gets a copy of the page's folder, and commands run there, with the tools of BUILD. --update
writes what commands print into the page, where it is something else.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

page, folder, build = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
update = sys.argv[4:] == ["--update"]

shutil.rmtree(folder, ignore_errors=True)
shutil.copytree(page.parent, folder / "page")
(folder / "bin").mkdir()
# As the tests' Python, which has NumPy.
(folder / "bin/python3").symlink_to(sys.executable)
environment = {name: value for name, value in os.environ.items() if name not in ("CCN_VERIFY", "LD_LIBRARY_PATH")}
environment.update(
    PATH=os.pathsep.join([str(folder / "bin"), str(build / "bin"), os.environ["PATH"]]),
    PYTHONPATH=str(build / "lib/python"),
    PKG_CONFIG_PATH=str(build),
    CCN_CACHE_DIR=str(folder / "cache"))


def pattern_of(shown):
    """What the output is compared with."""
    lines = []
    for line in shown:
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(r".*?".join(re.escape(part) for part in line.split("...")) + "\n")
    return "".join(lines)


def run(command, shown):
    """The lines that the page shows of the command's output, or should."""
    done = subprocess.run(["bash", "-c", command], cwd=folder / "page", env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if done.returncode and (not done.stdout or not 0 < done.returncode < 126):
        sys.exit(f"{page.name}: '{command}' ends with {done.returncode}:\n{done.stdout}")
    if re.fullmatch(pattern_of(shown), done.stdout):
        return shown
    found = done.stdout.splitlines()
    if not update:
        sys.exit("\n".join([f"{page.name}: '{command}' prints", *found, "but the page shows", *shown]))
    return found


def run_block(lines):
    new, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            sys.exit(f"{page.name}: expected '$ ', found '{lines[at]}'")
        command = [lines[at][2:]]
        while command[-1].endswith("\\"):
            at += 1
            command.append(lines[at])
        end = at + 1
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        new += ["$ " + command[0], *command[1:], *run("\n".join(command), lines[at + 1:end])]
        at = end
    return new


def check_file(lead, lines):
    named = re.search(r"`([^`]+)`[^`]*:$", lead)
    if not named:
        sys.exit(f"{page.name}: expected a block of commands, or '`file`:' before it, found '{lead}'")
    text = (page.parent / named.group(1)).read_text()
    if "\n" + "\n".join(lines) + "\n" not in "\n" + text:
        sys.exit(f"{page.name}: {named.group(1)} has other lines than the page shows")


lines, out, at, ran = page.read_text().splitlines(), [], 0, 0
while at < len(lines):
    out.append(lines[at])
    if not lines[at].startswith("```"):
        at += 1
        continue
    end = lines.index("```", at + 1)
    block = lines[at + 1:end]
    if lines[at] == "```console":
        block = run_block(block)
        ran += 1
    else:
        check_file(next(line for line in reversed(lines[:at]) if line), block)
    out += [*block, "```"]
    at = end + 1
if not ran:
    sys.exit(f"{page.name}: shows no commands")
if update:
    page.write_text("\n".join(out) + "\n")
print(f"{page.name}: {ran} blocks of commands")
