"""Formats every .ccn file below folders, and texts that are made of them with
other blanks, line breaks, comments and `;`: formatting twice is formatting once,
and comments stay.
  mangle.py CCN-FORMAT ROUNDS FOLDER...
"""

import pathlib
import random
import re
import subprocess
import sys

TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|<-|->|[=!<>]=|\d+(?:\.\d+)?[eE][+-]\d+|[\w.]+|\n|\S')
GOES_ON = set("= <- -> , + - * / % == != < <= > >=".split())


def mangle(text, rng):
    """The same tokens, placed at random."""
    out, open_brackets, previous, number = [], 0, "\n", 0
    for token in TOKEN.findall(text):
        if token == "\n" and not open_brackets and previous not in GOES_ON and rng.random() < 0.2:
            # A comment would take the `;` in.
            token = "\n" if previous.startswith("//") else ";"
        elif (open_brackets or previous in GOES_ON) and rng.random() < 0.15:
            number += 1
            out.append(rng.choice(["\n", "\n\n\n", f" // comment {number}\n", f"\n// {number}  \n"]))
        before = rng.choice(["", " ", " ", "  ", "\t"])
        # What would be another token without a blank.
        if previous + token in GOES_ON or previous + token == "//" or re.fullmatch(r"[\w.]+", previous + token):
            before = before or " "
        # A minus keeps its blanks: `a <- b` is no `a < -b`.
        out += [before, token]
        open_brackets += (token in "([") - (token in ")]") if len(token) == 1 else 0
        previous = token
    return "".join(out)


def run(tool, text):
    result = subprocess.run([tool], input=text.encode(), capture_output=True, timeout=60, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def comments(text):
    return [c.rstrip() for c in TOKEN.findall(text) if c.startswith("//")]


def main(tool, rounds, folders):
    rng = random.Random(1)
    formatted = 0
    for path in sorted(p for folder in folders for p in pathlib.Path(folder).rglob("*.ccn")):
        try:
            original = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if run(tool, original)[0]:
            continue
        for text in [original] + [mangle(original, rng) for _ in range(rounds)]:
            code, once, errors = run(tool, text)
            # What was mangled may not parse, but the formatter is never wrong.
            if "fault" in errors or (text is original and code):
                sys.exit(f"{path}: {errors}\n{text}")
            if code:
                continue
            formatted += 1
            if comments(text) != comments(once):
                sys.exit(f"{path}: comments differ\n{text}\n---\n{once}")
            if run(tool, once)[1] != once:
                sys.exit(f"{path}: not the same the second time\n{once}---\n{run(tool, once)[1]}")
    print(f"{formatted} texts")
    if formatted < 60 * (rounds + 1):
        sys.exit("too few of them parse")


main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
