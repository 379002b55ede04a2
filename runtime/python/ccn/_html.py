"""How notebooks show programs."""

import html


def _table(program):
    heads = ("name", "kind", "type and layout", "part of rank 0")
    rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for argument in program.arguments:
        shape = " × ".join(map(str, argument.part(0).shape)) or "scalar"
        cells = (argument.name, argument.kind, argument.type_name, shape)
        rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return "<table>" + "".join(rows) + "</table>"


def _folded(summary, text):
    return f"<details><summary>{summary}</summary><pre>{html.escape(text)}</pre></details>"


def of_program(program, text=None, schedule=None, kernels=None):
    """A heading and what the arguments are; and, if they are known, the text with its layouts, what the schedule did, and
    the kernels for GPUs."""
    mesh = ", ".join(f"{axis} = {size}" for axis, size in program.mesh.items())
    heading = f"program <b>{html.escape(program.name)}</b>"
    if program.schedule:
        heading += f", schedule <b>{html.escape(program.schedule)}</b>"
    heading += f", mesh ({html.escape(mesh)}), on {'GPUs' if program.target == 'gpu' else 'the CPU'}"
    parts = [f"<p>{heading}</p>", _table(program)]
    if text is not None:
        parts.append(f"<pre>{html.escape(text)}</pre>")
    if schedule:
        parts.append(_folded("what the schedule did", schedule))
    if kernels:
        parts.append(_folded("the kernels on GPUs", kernels))
    return "<div>" + "\n".join(parts) + "</div>"
