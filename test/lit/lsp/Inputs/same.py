"""What cccompile reports of texts, the language server reports: the same
messages and notes, at the same places.
  same.py CCCOMPILE CCN-LSP-SERVER TEMPORARY-FOLDER FOLDERS...
The texts are the .ccn parts of the tests in the folders.
"""

import json
import pathlib
import re
import subprocess
import sys

from client import Client

cccompile, tool, temporary, *folders = sys.argv[1:]
files = []
for test in sorted(p for folder in folders for p in pathlib.Path(folder).rglob("*.test")):
    parts = re.split(r"^(?:#|//)--- (\S+)\n", test.read_text(errors="replace"), flags=re.M)
    for name, text in zip(parts[1::2], parts[2::2]):
        if name.endswith(".ccn"):
            files.append(pathlib.Path(temporary) / test.stem / name)
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            files[-1].write_text(text)
client = Client(tool)
client.start()
compared = 0
for file in files:
    text = file.read_text()
    command = [cccompile, str(file), "--diagnostics", "json", "-o", "/dev/null"]
    result = subprocess.run(command, capture_output=True, timeout=60, check=False)
    if not result.stderr:
        continue
    uri = file.absolute().as_uri()
    client.notify("textDocument/didOpen", textDocument={"uri": uri, "text": text})
    here = []
    for d in client.diagnostics()["diagnostics"]:
        notes = [(n["message"], n["location"]["range"]["start"]["line"] + 1) for n in d["relatedInformation"]]
        here.append((d["message"], d["range"]["start"]["line"] + 1, notes))
    for d in json.loads(result.stderr):
        # Without a place, it is about the whole text or says that there is more.
        if "line" not in d:
            continue
        expected = (d["message"], d["line"], [(n["message"], n.get("line", d["line"])) for n in d["notes"]])
        if expected not in here:
            sys.exit(f"{file}: {expected} is not in {here}")
        compared += 1
    client.notify("textDocument/didClose", textDocument={"uri": uri})
    client.diagnostics()
print(f"{compared} diagnostics are the same")
if compared < 50 or client.end() != 0:
    sys.exit("too few, or the server did not end")
