"""A session with the language server: what it answers is printed.
  session.py CCN-LSP-SERVER EXAMPLE
"""

import sys

from client import Client, apply, place

client = Client(sys.argv[1])
capabilities = client.start()["capabilities"]
print("capabilities:", " ".join(sorted(capabilities)))
uri = "file:///tmp/a%20b.ccn"
document = {"uri": uri}


def show(name, value):
    print(f"{name}: {value}".rstrip(), flush=True)


def spot(range):
    return f"{range['start']['line']}:{range['start']['character']}-{range['end']['line']}:{range['end']['character']}"


def show_diagnostics(name):
    params = client.diagnostics()
    show(name, f"version {params.get('version')}, {len(params['diagnostics'])}")
    for d in params["diagnostics"]:
        print(f"  {spot(d['range'])} {d['severity']} {d['source']}: {d['message']}")
        for note in d["relatedInformation"]:
            print(f"    note {spot(note['location']['range'])} {note['message']}")


def ask(method, what, count=0, **more):
    return client.request(
        f"textDocument/{method}", textDocument=document, position=place(text, what, count), **more
    )


def change(before, after, version):
    """Replaces a part of the text, as an editor does."""
    global text
    begin, end = place(text, before), place(text, before)
    end["character"] += len(before.encode("utf-16-le")) // 2
    text = text.replace(before, after, 1)
    edit = {"range": {"start": begin, "end": end}, "text": after}
    client.notify(
        "textDocument/didChange",
        textDocument={**document, "version": version},
        contentChanges=[edit],
    )


text = open(sys.argv[2], encoding="utf-8").read()
item = {**document, "languageId": "ccn", "version": 1, "text": text}
client.notify("textDocument/didOpen", textDocument=item)
show_diagnostics("opened")

for what, count in [
    ("avg", 0), ("mom: f32", 0), ("all_reduce", 0), ("N =", 0), ("dp =", 0), ("adam(", 0),
    ("split avg", 0), ("rs, part", 0), ("local,", 0), ("Adam with", 0), ("= all_reduce", 0),
]:  # fmt: skip
    hover = ask("hover", what, count)
    show(f"hover {what!r}", hover and hover["contents"]["value"].replace("\n", " "))

show("definition of avg", spot(ask("definition", "avg\n}")["range"]))
show("definition of nothing", ask("definition", "Adam with"))
references = ask("references", "grad =", context={"includeDeclaration": False})
show("references of grad", [spot(r["range"]) for r in references])
all_range = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
hints = client.request("textDocument/inlayHint", textDocument=document, range=all_range)
for hint in hints:
    show("hint", f"{hint['position']['line']}:{hint['position']['character']}{hint['label']}")
for symbol in client.request("textDocument/documentSymbol", textDocument=document):
    show("symbol", f"{symbol['name']} {symbol['kind']} " + " ".join(c["name"] for c in symbol.get("children", [])))

# Renaming: as the text says then.
show("may rename", spot(ask("prepareRename", "grad =")))
edits = ask("rename", "grad =", newName="gradient")["changes"][uri]
show("renamed", apply(text, edits) == text.replace("grad ", "gradient ").replace("fuse grad,", "fuse gradient,").replace("grad\n", "gradient\n"))
for name in ["mom", "N", "1x", "let", "f32", "sum", "local", "", "a b"]:
    show(f"rename to {name!r}", ask("rename", "grad =", newName=name)["message"])
show("rename of nothing", ask("rename", "Adam with", newName="x")["message"])

# Errors and repairs, in a line with characters beyond UTF-16's first 65,536.
change("let mhat = mom", "let mhat = all_reduc(sum, g) + mom", 2)
show_diagnostics("misspelt")
actions = client.request(
    "textDocument/codeAction", textDocument=document,
    range={"start": place(text, "all_reduc(sum"), "end": place(text, "all_reduc(sum")},
    context={"diagnostics": []},
)  # fmt: skip
for action in actions:
    show("action", f"{action['title']}: {apply(text, action['edit']['changes'][uri]).splitlines()[12]}")
show("hover while wrong", ask("hover", "avg")["contents"]["value"].replace("\n", " "))
change("all_reduc(sum, g) + mom", "mom", 3)
show_diagnostics("repaired")
change("// compute on slices", "// \U0001f600 compute \u00e4 on slices", 4)
show_diagnostics("emoji")
change("compute \u00e4", "COMPUTE", 5)
show_diagnostics("behind an emoji")
change("fuse rs, part, agp", "fuse rs, agp", 6)
show_diagnostics("refused schedule")
change("fuse rs, agp", "fuse rs, part, agp", 7)
show_diagnostics("schedule")


def complete(before, name):
    line = text[: text.index(before)].count("\n")
    labels = {
        i["label"]: i.get("detail")
        for i in client.request(
            "textDocument/completion", textDocument=document,
            position={"line": line, "character": place(text, before)["character"]},
        )
    }  # fmt: skip
    show(f"complete {name}", " ".join(l for l in ["mesh", "inout", "f16", "sliced", "let", "matmul", "lr", "avg", "p", "N", "dp", "rs", "fuse", "rs_ag", "nccl", "adam"] if l in labels))
    return labels


show("detail", complete("all_reduce(sum", "in a body")["matmul"])
show("detail", complete("fuse rs", "in a schedule")["split"])
complete("mesh m", "in the file")
complete("f16[N]", "at a type")
complete("inout p", "in a head")

# Formatting.
change("  let grad = cast(avg, f32)", "     let grad=cast( avg,f32 );", 8)
show_diagnostics("ugly")
edits = client.request("textDocument/formatting", textDocument=document, options={"tabSize": 8, "insertSpaces": False})
show("edits", [(spot(e["range"]), e["newText"]) for e in edits])
text = apply(text, edits)
client.notify("textDocument/didChange", textDocument={**document, "version": 9}, contentChanges=[{"text": text}])
show_diagnostics("formatted")
show("edits", client.request("textDocument/formatting", textDocument=document, options={}))
client.notify("textDocument/didChange", textDocument={**document, "version": 10}, contentChanges=[{"text": "program p( {\n"}])
show_diagnostics("broken")
show("edits", client.request("textDocument/formatting", textDocument=document, options={}))
client.notify("textDocument/didClose", textDocument=document)
show_diagnostics("closed")
show("exit", client.end())
