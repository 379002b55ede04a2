"""Fails if a relative link of a Markdown file leads nowhere: to no file, or to no heading of one.

    check_links.py SOURCE-FOLDER
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def anchors_of(text):
    """What GitHub calls the headings."""
    heads = re.findall(r"^#{1,6} (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


wrong = 0
files = [path for path in root.rglob("*.md") if not {"build", ".git"} & set(path.relative_to(root).parts)]
for file in files:
    for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists():
            print(f"{file.relative_to(root)}: '{link}' leads to no file")
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target.read_text()):
            print(f"{file.relative_to(root)}: '{link}' leads to no heading")
        else:
            continue
        wrong += 1
print(f"{len(files)} files, {wrong} wrong")
sys.exit(1 if wrong or not files else 0)
