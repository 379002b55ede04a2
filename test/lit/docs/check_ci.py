"""Fails if what the CI workflow and the Dockerfile run is not there: files of the repository, and options of its tools.

    check_ci.py SOURCE-FOLDER
"""

import pathlib
import re
import sys
import tomllib

root = pathlib.Path(sys.argv[1])
checked = 0
for name in (".github/workflows/ci.yml", "Dockerfile"):
    text = (root / name).read_text()
    for path in set(re.findall(r"(?<![\w/.-])(?:test|tools|examples|codegen)/[\w./-]+", text)):
        assert (root / path).exists(), f"{name}: '{path}' is not there"
        checked += 1
assert checked > 5, checked
# What the wheel's builder takes.
sys.path.insert(0, str(root / "tools/wheel"))
sys.dont_write_bytecode = True
import ccn_wheel

for given in re.findall(r"--config-settings=(\w+)=(\S+)", (root / "Dockerfile").read_text()):
    ccn_wheel.settings_of(dict([given]))
try:
    ccn_wheel.settings_of({"compres": "1"})
    raise AssertionError("a setting that is none is taken")
except ValueError as error:
    assert str(error) == "expected the settings build and compress, found compres", error
# Its tools are those that are installed.
with open(root / "pyproject.toml", "rb") as file:
    scripts = tomllib.load(file)["project"]["scripts"]
installed = (root / "tools/CMakeLists.txt").read_text()
assert all(re.search(rf"\b{re.escape(script)}\b", installed) for script in scripts), scripts
print(f"{checked} files")
