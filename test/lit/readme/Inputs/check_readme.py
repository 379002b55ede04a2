"""Compiles the program in the README, then the mistake that the README describes."""

import pathlib
import re
import subprocess
import sys

readme, folder, tool = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[4:]
text = pathlib.Path(readme).read_text()
blocks = re.findall(r"^```\n(.*?)^```", text, re.S | re.M)
program, message = blocks[0], blocks[1].strip()

folder.mkdir(parents=True, exist_ok=True)
path = folder / "mlp.ccn"
path.write_text(program)
run = subprocess.run([*tool, path.name, "--run", "-D", "T=5", "-D", "H=3", "-D", "F=7"],
                     cwd=folder, capture_output=True, text=True)
assert run.returncode == 0, run.stderr
assert re.match(r"y: f16\[5, 3\] sliced\(0, tp\) = ", run.stdout), run.stdout

wrong = program.replace("let y = reduce_scatter(sum, part, 0)", "let y = norm(part)")
assert wrong != program
path.write_text(wrong)
run = subprocess.run([*tool, path.name], cwd=folder, capture_output=True, text=True)
assert run.returncode == 1, run.returncode
# The caret's lines follow; the place depends on where the README puts it.
found, expected = run.stderr.splitlines()[0], message
strip = lambda line: re.sub(r"^mlp\.ccn:\d+:\d+: ", "", line)
assert strip(found) == strip(expected), f"expected {expected}\nfound {found}"
