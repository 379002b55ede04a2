"""Renames what is marked in a text, and back: `N$0` is renamed to `N0`.
  names.py CCN-LSP-SERVER TEXT
"""

import pathlib
import re
import sys

from client import Client, apply, place

client = Client(sys.argv[1])
client.start()
marked = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
text = re.sub(r"\$\d", "", marked)
document = {"uri": "file:///tmp/names.ccn"}
client.notify("textDocument/didOpen", textDocument={**document, "text": text})
print("diagnostics:", client.diagnostics()["diagnostics"])
for mark in sorted(set(re.findall(r"\$\d", marked))):
    # The mark's own place is where the cursor is, at the end of the name.
    one = re.sub(r"\$\d", lambda m: m[0] if m[0] == mark else "", marked)  # noqa: B023
    position = place(one, mark)
    result = client.request("textDocument/rename", textDocument=document, position=position, newName="new" + mark[1:])
    if "changes" not in result:
        print(f"{mark}: {result['message']}")
        continue
    renamed = apply(text, result["changes"][document["uri"]])
    print(f"{mark}:")
    for before, after in zip(text.split("\n"), renamed.split("\n")):
        if before != after:
            print(" ", after)
print("exit:", client.end())
