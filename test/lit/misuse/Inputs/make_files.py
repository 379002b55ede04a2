"""Writes the files of misuses that are too large, too deep or no text.

    make_files.py KIND FOLDER

KIND is `limits` or `garbage`. Of these, NAME.ccn is written where FOLDER has a
NAME.out, which is what the compiler says about it.
"""

import os
import random
import sys

HEAD = "mesh m (dp = 4)\n"


def program(statement, functions=""):
    return f"{HEAD}{functions}program p(x: f32[8]) {{\n  {statement}\n}}\n"


def doubling(count, base, body):
    """Functions that each call the one before twice."""
    text = f"fn g0(a) = {base}\n"
    for i in range(1, count):
        text += f"fn g{i}(a) {body.format(f'g{i - 1}')}\n"
    return text


def limits():
    """Programs that nest, repeat or double more than any real one."""
    statements = "{{\n  let b = {0}(a)\n  let c = {0}(b)\n  return b + c\n}}"
    deep = "".join(f"fn g{i}(a) = {'neg(' * 200}{f'g{i - 1}(a)' if i else 'a'}{')' * 200}\n"
                   for i in range(60))
    calls = "fn g0(a) = a + 1\n" + "".join(f"fn g{i}(a) = g{i - 1}(a)\n" for i in range(1, 80))
    constants = "fn g0(a) = a\n" + "".join(f"fn g{i}(a) = g{i - 1}(a) + g{i - 1}(a)\n"
                                            for i in range(1, 60))
    return {
        "deep-parens": program(f"let y = {'(' * 300}x{')' * 300}"),
        "deep-parens-huge": program(f"let y = {'(' * 1000000}x{')' * 1000000}"),
        "deep-calls": program(f"let y = {'exp(' * 300}x{')' * 300}"),
        "deep-unary": program(f"let y = {'-' * 300}x"),
        "deep-lists": program(f"let y = reshape(x, {'[' * 300}8{']' * 300})"),
        "long-chain": program(f"let y = x{' + x' * 10000}"),
        "many-operations": program("\n  ".join(
            f"let y{i} = {'exp(' * 250}x{')' * 250}" for i in range(401))),
        "doubling-operations": program("let y = g59(x)", doubling(
            60, "a + 1", "= {0}(a) + {0}(a)")),
        "doubling-statements": program("let y = g59(x)", doubling(60, "a + 1", statements)),
        "doubling-nested": program("let y = g59(x)", doubling(60, "a + 1", "= {0}({0}(a))")),
        "doubling-constants": program("let y = x + g59(0)", constants),
        "doubling-param": constants + "param N = g59(0)\n",
        "doubling-size": HEAD + constants + "program p(x: f32[g59(0)]) {\n}\n",
        "deep-functions": program("let y = g59(x)", deep),
        "deep-inlining": program("let y = g79(x)", calls),
        "nested-max": "param N = " + "max(" * 200 + "1" + ", 2)" * 200 + "\n"
                      + program("let y = x + N + z"),
        "many-errors": program("\n  ".join(f"let y{i} = z{i}" for i in range(2000))),
        "many-names": program("\n  ".join(f"let value{i} = x" for i in range(20000))
                              + "\n  let y = valeu7"),
        "long-name": program("let y = " + "x" * 1000000),
        "long-line": program("let y = x " + " " * 100000 + "+ z"),
        "many-axes": "mesh m (" + ", ".join(f"a{i} = 2" for i in range(40)) + ")\n",
    }


def garbage():
    """What writes each file that is no program: some are large."""
    letters = [chr(c) for c in range(32, 127)] + ["\n"]
    words = ["mesh", "param", "fn", "program", "let", "return", "x", "0", "(", ")", "[", "]",
             "{", "}", ",", "=", "<-", "+", "\n", "//", '"', "f32", "sliced", "schedule"]

    def drawn():
        return random.Random(2)

    return {
        "letters": lambda: "".join(drawn().choices(letters, k=10_000_000)),
        "words": lambda: " ".join(drawn().choices(words, k=2_500_000)),
        "brackets": lambda: "".join(drawn().choices("()[]{}", k=10_000_000)),
        "one-line": lambda: "x" * 10_000_000,
        "bytes": lambda: drawn().randbytes(10_000_000),
        "zeros": lambda: bytes(1_000_000),
        "elf": lambda: b"\x7fELF" + drawn().randbytes(5000),
        "utf16": lambda: program("let y = x").encode("utf-16"),
        "latin1": lambda: program("let größe = x").encode("latin-1"),
        "carriage-returns": lambda: program("let y = x").replace("\n", "\r"),
        "nothing": lambda: b"",
        "blanks": lambda: " \n\t\n\r\n" * 100,
        "byte-order-mark": lambda: b"\xef\xbb\xbf",
    }


def main():
    kind, folder = sys.argv[1:]

    def is_wanted(name):
        return os.path.exists(os.path.join(folder, name + ".out"))

    for name, text in {"limits": limits, "garbage": garbage}[kind]().items():
        if not is_wanted(name):
            continue
        text = text() if callable(text) else text
        with open(os.path.join(folder, name + ".ccn"), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
    if kind == "garbage" and is_wanted("too-large"):
        with open(os.path.join(folder, "too-large.ccn"), "wb") as file:
            file.truncate(2**31 + 1)


if __name__ == "__main__":
    main()
