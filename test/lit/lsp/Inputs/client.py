"""An editor for tests: starts the language server and talks to it."""

import json
import subprocess


class Client:
    def __init__(self, tool):
        self.process = subprocess.Popen(
            [tool, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ids = 0
        self.notifications = []

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_text(self, text):
        body = text if isinstance(text, bytes) else text.encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, **message):
        self.send_text(json.dumps({"jsonrpc": "2.0", **message}))

    def notify(self, method, **params):
        self.send(method=method, params=params)

    def receive(self):
        size = None
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                size = int(value)
        return json.loads(self.process.stdout.read(size)) if size is not None else None

    def answer(self):
        """The next message that is no notification."""
        while message := self.receive():
            if "method" not in message:
                return message
            self.notifications.append(message)
        return None

    def request(self, method, **params):
        """The result, or the error."""
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        message = self.answer()
        assert message["id"] == self.ids, message
        return message["error"] if "error" in message else message["result"]

    def diagnostics(self):
        """Those that the server says next."""
        message = self.notifications.pop(0) if self.notifications else self.receive()
        assert message["method"] == "textDocument/publishDiagnostics", message
        return message["params"]

    def start(self):
        result = self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.notify("initialized")
        return result

    def end(self):
        """Shuts the server down; its exit code."""
        assert self.request("shutdown") is None
        self.notify("exit")
        return self.process.wait(timeout=60)


def place(text, what, count=0):
    """Where `what` stands in a text, as (line, UTF-16 units)."""
    at = -1
    for _ in range(count + 1):
        at = text.index(what, at + 1)
    line_begin = text.rfind("\n", 0, at) + 1
    units = len(text[line_begin:at].encode("utf-16-le")) // 2
    return {"line": text.count("\n", 0, at), "character": units}


def apply(text, edits):
    """A text after edits that do not overlap."""

    def offset(position):
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position["line"]])
        line = lines[position["line"]].encode("utf-16-le") if position["line"] < len(lines) else b""
        return before + len(line[: 2 * position["character"]].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        begin, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:begin] + edit["newText"] + text[end:]
    return text
