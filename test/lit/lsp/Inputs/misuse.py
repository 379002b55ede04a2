"""What a language server must answer with an error, or bear.
  misuse.py CCN-LSP-SERVER
"""

import sys

from client import Client

tool = sys.argv[1]


def show(name, value):
    print(f"{name}: {value}", flush=True)


def refused(name, client, send):
    send()
    message = client.answer()
    show(name, f"{message['id']} {message['error']['code']} {message['error']['message'][:70]}")


client = Client(tool)
raw = lambda text: lambda: client.send_text(text)  # noqa: E731
refused("early request", client, lambda: client.send(id="a", method="textDocument/hover", params={}))
client.notify("textDocument/didOpen", textDocument={})
for name, text in [
    ("no JSON", "{"), ("no UTF-8", b'{"jsonrpc": "2.0", "id": "\xff"}'), ("empty", ""), ("a batch", "[]"),
    ("too deep", "[" * 100000), ("no version", '{"id": 1, "method": "initialize"}'),
    ("no method", '{"jsonrpc": "2.0", "id": 2}'), ("a wrong id", '{"jsonrpc": "2.0", "id": {}, "method": "x"}'),
    ("wrong params", '{"jsonrpc": "2.0", "id": 3, "method": "x", "params": 7}'),
]:  # fmt: skip
    refused(name, client, raw(text))
header = b'Content-Length: %s\r\n\r\n'
for name, data in [("no length", b"X: 1\r\n\r\n"), ("a wrong length", header % b"-1"), ("two lengths", b"Content-Length: 1\r\n" + header % b"2")]:
    refused(name, client, lambda: client.send_bytes(data))
client.start()
refused("initialized twice", client, lambda: client.send(id=7, method="initialize", params={}))
refused("unknown method", client, lambda: client.send(id=8, method="textDocument/none", params={}))
refused("not open", client, lambda: client.send(id=9, method="textDocument/hover", params={"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}}))
for name, params in [("no params", None), ("no text", {}), ("no position", {"textDocument": {"uri": "x"}}), ("a wrong position", {"textDocument": {"uri": "x"}, "position": {"line": "1"}})]:
    refused(name, client, lambda: client.send(id=10, method="textDocument/hover", params=params))

# Notifications are not answered, whatever they say.
for params in [None, {}, {"textDocument": {"uri": 7}}, {"textDocument": {"uri": "x"}, "contentChanges": 1}]:
    for method in ["didOpen", "didChange", "didClose"]:
        client.send(method="textDocument/" + method, params=params)
client.send(method="$/cancelRequest", params={"id": 3})
client.send(id=1, result=None)
client.notifications.clear()

# Texts that are none, and places outside of them.
far = {"line": 2**31 - 1, "character": 2**31 - 1}
near = {"line": -5, "character": -5}
for text in ["", "\0", "program", "program p(", "fn f(x) = " + "(" * 10000, "let", "// \U0001f600", "schedule s for p { fuse", "\ufeffparam N = 1\r\n",
             "mesh m (a = 2)\nprogram p(x: f32[" + "9" * 30 + "]) { return x }"]:  # fmt: skip
    uri = {"uri": "untitled:a"}
    client.notify("textDocument/didOpen", textDocument={**uri, "text": text})
    for begin, end in [(near, near), (far, near), (near, {"line": 0, "character": 0}), ({"line": 0, "character": 4}, far)]:
        client.notify("textDocument/didChange", textDocument=uri, contentChanges=[{"range": {"start": begin, "end": end}, "text": " x"}])
        for method in ["hover", "completion", "definition", "references", "prepareRename", "rename", "inlayHint", "documentSymbol", "formatting", "codeAction"]:
            client.request("textDocument/" + method, textDocument=uri, position=end, range={"start": begin, "end": end}, newName="x", context={}, options={})
show("texts", "borne")
show("exit", client.end())

for name, messages, code in [("exit at once", ["exit"], 1), ("no exit", [], 1), ("shutdown only", ["shutdown"], 1)]:
    client = Client(tool)
    if messages != ["exit"]:
        client.start()
    for method in messages:
        if method == "exit":
            client.notify("exit")
        else:
            client.request(method)
            refused("after shutdown", client, lambda: client.send(id=5, method="textDocument/hover", params={}))
    client.process.stdin.close()
    show(name, client.process.wait(timeout=60))
client = Client(tool)
client.send_bytes(b"Content-Length: 100\r\n\r\n{")
client.process.stdin.close()
show("cut off", client.process.wait(timeout=60))
