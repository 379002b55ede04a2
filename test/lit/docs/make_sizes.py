"""Writes files that are just too long, and some that are just not, for check-sizes.

    make_sizes.py FOLDER
"""

import os
import sys


def body(lines, statement="  f();"):
    """So many lines of a function, its first line and its last brace among them."""
    return "\n".join([statement] * (lines - 2)) + "\n}\n"


FILES = {
    "Long.mlir": "\n" * 601,
    "Whole.mlir": "\n" * 600,
    "short.py": "def short():\n" + "    f()\n" * 99,
    "long.py": "def long():\n" + "    f()\n" * 100,
    "short.cpp": "void f() {\n" + body(100),
    # What has braces and is no function.
    "tables.cpp": "int t[] = {\n" + "  1,\n" * 200 + "};\n"
                  "namespace n {\nclass C : D<int> {\n" + "  int x;\n" * 200
                  + "  int y() { return 1; }\n};\n} // namespace n\n",
    "classes.cpp": "namespace n {\n\nint A::operator()(int x) const {\n" + body(101) + "}\n",
    "constructors.cpp": "\nB::B(int x)\n    : x{x}, y(1) {\n" + body(100),
    "methods.h": "struct M {\n  int get() {\n" + body(101) + "};\n",
    "results.cpp": "template <class T>\nstruct S f(T x) {\n" + body(100),
    "tests.cpp": "TEST(Suite, Name) {\n" + body(101),
    # Braces in text and comments count for nothing.
    "texts.cpp": '\nvoid h() {\n  // }\n' + body(100, "  f(\"}\", '}', R\"(})\", 1'000);"),
}


def main():
    for name, text in FILES.items():
        with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
