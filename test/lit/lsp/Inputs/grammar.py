"""Holds the TextMate grammar against the words that the compiler knows, and
against texts: of each word that a text has, the grammar says what it is.
  grammar.py EXTENSION CCN-LSP-SERVER TEXTS...
"""

import json
import pathlib
import re
import subprocess
import sys

extension, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
grammar = json.loads((extension / "syntaxes/ccn.tmLanguage.json").read_text())
package = json.loads((extension / "package.json").read_text())
json.loads((extension / "language-configuration.json").read_text())
words = json.loads(subprocess.run([tool, "--words"], capture_output=True, check=True).stdout)
rules = grammar["repository"]
problems = []


def words_of(*names):
    found = set()
    for name in names:
        found |= set(re.search(r"\(([a-z0-9_|]{10,})\)", rules[name]["match"])[1].split("|"))
    return found


for kind, names in {
    "keywords": ["keywords", "constants"], "types": ["types"], "layouts": ["layouts"],
    "primitives": ["primitives"], "clauses": ["clauses"],
}.items():  # fmt: skip
    if words_of(*names) != set(words[kind]):
        problems.append(f"{kind}: {sorted(words_of(*names) ^ set(words[kind]))} are in one list only")

# Functions are what is called, those of the program too.
problems += [f"{name} is no function" for name in words["functions"] if not re.match(rules["functions"]["match"], name + "(")]


def check_patterns(rule):
    for key in ("match", "begin", "end"):
        if key in rule:
            re.compile(rule[key])
    for part in rule.get("patterns", []):
        if "include" in part and part["include"].lstrip("#") not in rules:
            problems.append(f"{part['include']} is not there")
        check_patterns(part)


for rule in [grammar, *rules.values()]:
    check_patterns(rule)

version = subprocess.run([tool, "--version"], capture_output=True, check=True, text=True).stdout.split()[1]
if package["version"] != version:
    problems.append(f"package.json has version {package['version']}, the server {version}")
for path in [package["main"], *(l["configuration"] for l in package["contributes"]["languages"]), *(g["path"] for g in package["contributes"]["grammars"])]:
    if not (extension / path).is_file():
        problems.append(f"{path} is not there")


def names_in(line, patterns):
    """What each byte of a line is, by the patterns alone, the first that matches the earliest."""
    at, names = 0, [None] * len(line)
    while at < len(line):
        found = []
        for name in patterns:
            match = re.compile(rules[name].get("match") or rules[name]["begin"]).search(line, at)
            if match and match.end() > match.start():
                found.append((match.start(), name, match))
        if not found:
            break
        _, name, match = min(found, key=lambda f: f[0])
        end = len(line) if name == "comments" else line.index('"', match.end()) + 1 if name == "strings" else match.end()
        names[match.start() : end] = [name] * (end - match.start())
        at = end
    return names


code = [p["include"][1:] for p in rules["code"]["patterns"]]
schedule = [p["include"][1:] for p in rules["schedule"]["patterns"]]
seen = set()
for text in sys.argv[3:]:
    inside = False
    for line in pathlib.Path(text).read_text().split("\n"):
        names = names_in(line, schedule if inside else code)
        for match in re.finditer(r"[A-Za-z_]\w*|//", line):
            name = names[match.start()]
            seen.add(name)
            if match[0] in words["keywords"] and name not in ("keywords", "definitions", "constants", "comments"):
                problems.append(f"{text}: '{match[0]}' is {name} in: {line}")
            if inside and match[0] in words["primitives"] and name not in ("primitives", "comments"):
                problems.append(f"{text}: '{match[0]}' is {name} in: {line}")
        if names and line.startswith("schedule"):
            inside = True
        if line.startswith("}"):
            inside = False
for name in ["comments", "keywords", "definitions", "types", "layouts", "functions", "reductions", "primitives", "clauses"]:
    if name not in seen:
        problems.append(f"no text shows {name}")
print("\n".join(problems) or "the grammar is right")
sys.exit(bool(problems))
