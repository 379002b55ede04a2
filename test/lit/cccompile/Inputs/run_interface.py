"""The interface of --run: how arrays and numbers go in and come out."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from elements import ALL, BF16, BOOL, F16, F32, F64, F8E4M3, F8E5M2, FLOATS, I32, I64, I8, U16, U64, U8, Tensor
from harness import Failure, main
from philox import draw_scale, fill

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4, "examples")


def expect(condition, message):
    if not condition:
        raise Failure(message)


def same_bits(a, b):
    return a.shape == b.shape and a.stored.tobytes() == b.stored.tobytes()


def patterns(rng, element, shape):
    """Random bits: NaNs of every kind too."""
    if element.kind == "b":
        return Tensor(element, rng.integers(0, 2, shape).astype(bool))
    raw = rng.integers(0, 256, tuple(shape) + (element.storage.itemsize,), np.uint8)
    return Tensor(element, np.ascontiguousarray(raw).view(element.storage).reshape(shape))


LAYOUTS = [("", ""), ("sliced(0, a)", ""), ("sliced(1, c) sliced(1, a)", ""), ("sliced(1, b) sliced(0, c)", ""),
           ("local(a)", "a"), ("local(b) sliced(0, a)", "b"), ("local(c) local(a)", "ac"),
           ("partial(sum, b) sliced(1, c)", "b"), ("partial(max, c) local(a) sliced(0, b)", "ac"),
           ("local(a) local(b) local(c)", "abc")]


def arrays(runner):
    """Every element type in every kind of layout comes out as it went in, bit for
    bit: local and partial tensors with leading dimensions in the mesh's order."""
    rng = np.random.default_rng(1)
    for mesh, shape in [({"a": 2, "b": 3, "c": 2}, (5, 3)), ({"a": 1, "b": 1, "c": 1}, (0, 4)), ({"a": 4, "b": 1, "c": 3}, (2, 1))]:
        for element in ALL:
            arguments, inputs = [], {}
            for i, (layout, leading) in enumerate(LAYOUTS):
                if "sum" in layout and element is BOOL:
                    layout = layout.replace("sum", "max")
                arguments.append("inout x%d: %s[%d, %d] %s" % ((i, element) + shape + (layout,)))
                inputs["x%d" % i] = patterns(rng, element, [mesh[a] for a in leading] + list(shape))
            path = runner.write("mesh m (a = 1, b = 1, c = 1)\nprogram p(%s) {\n}\n" % ", ".join(arguments))
            got = runner.run(path, dict.fromkeys(inputs, element), inputs, mesh=mesh)
            for name, tensor in inputs.items():
                runner.compared += 1
                expect(same_bits(got[name], tensor), "%s %s on %s" % (element, arguments[int(name[1:])], mesh))


def scalars(runner):
    """Numbers in place, of every type, and scalars from files."""
    texts = {"f": ["0", "-1.5", "0.001", "1e-2", "3", "-0x10", "0.1"], "b": ["true", "false"],
             "i": ["0", "-7", "0x1f", "100"], "u": ["0", "7", "0xff", "255"]}
    value = lambda text: (text == "true" if text in ("true", "false") else int(text, 0) if "0x" in text
                          else float(text) if "." in text or "e" in text else int(text))
    for element in ALL:
        path = runner.write("mesh m (a = 3)\nprogram p(inout s: %s, inout l: %s local) {\n}\n" % (element, element))
        for text in texts[element.kind]:
            got = runner.run(path, {"s": element, "l": element}, {"s": text, "l": text})
            runner.check("%s %s" % (element, text), got["s"], Tensor.of(element, value(text)))
            runner.check("local %s %s" % (element, text), got["l"], Tensor.of(element, [value(text)] * 3))
        one, three = Tensor.of(element, 1), Tensor.of(element, [1, 0, 1])
        got = runner.run(path, {"s": element, "l": element}, {"s": one, "l": three})
        runner.check("%s from a file" % element, got["s"], one)
        runner.check("local %s from a file" % element, got["l"], three)
    # The extremes of 64 bits.
    path = runner.write("mesh m (a = 1)\nprogram p(inout i: i64, inout j: i64, inout u: u64) {\n}\n")
    got = runner.run(path, {"i": I64, "j": I64, "u": U64}, {
        "i": "-9223372036854775808", "j": "9223372036854775807", "u": "18446744073709551615"})
    for name, element, n in [("i", I64, -(2**63)), ("j", I64, 2**63 - 1), ("u", U64, 2**64 - 1)]:
        runner.check(name, got[name], Tensor(element, np.array(n, element.storage)))


    # Digits are rounded once to the type, not by way of f64, in a param too; a
    # leading 0 means nothing.
    path = runner.write("mesh m (a = 1)\nparam D = 1.0\nparam N = 1\nprogram p(inout s: f32, inout t: f32[N]) { t <- t * 0 + D }\n")
    digits = "1.00000005960464477539062500000001"
    got = runner.run(path, {"s": F32, "t": F32}, {"s": digits}, {"D": digits, "N": "010"})
    runner.check("digits", got["s"], Tensor.of(F32, 1 + 2.0**-23))
    runner.check("digits of a param", got["t"], Tensor.of(F32, np.full(10, 1 + 2.0**-23)))


def files(runner):
    """Arrays in Fortran's order, in memory order of slices, and other versions of
    the format."""
    rng = np.random.default_rng(2)
    for element in (F16, F32, BF16, U8, I64):
        path = runner.write("mesh m (a = 2)\nprogram p(inout x: %s[3, 4, 5], inout y: %s[7] local) {\n}\n" % (element, element))
        x, y = patterns(rng, element, (3, 4, 5)), patterns(rng, element, (2, 7))
        x.save(runner.path("x.npy"), fortran=True)
        y.save(runner.path("y.npy"), fortran=True)
        if element is not F32:
            expect(b"'fortran_order': True" in open(runner.path("x.npy"), "rb").read(128), "not in Fortran's order")
        else:
            # Versions 2 and 3 of the format have a longer length of the header.
            for name, tensor, version in (("x", x, (2, 0)), ("y", y, (3, 0))):
                with open(runner.path(name + ".npy"), "wb") as file:
                    np.lib.format.write_array(file, tensor.stored, version)
        got = runner.run(path, {"x": element, "y": element}, arguments=[
            "--input", "x=" + runner.path("x.npy"), "--input", "y=" + runner.path("y.npy")])
        for name, tensor in (("x", x), ("y", y)):
            runner.compared += 1
            expect(same_bits(got[name], tensor), "%s %s" % (element, name))


def scattered(runner):
    """Scattered arguments: a file for each buffer, in and out."""
    rng = np.random.default_rng(3)
    path = runner.write("mesh m (dp = 2)\nparam N = 10\n"
                        "program p(g: f32[N] local scattered, inout w: f32[N] scattered, inout h: f32[N] local scattered) {\n"
                        "  w <- w - all_reduce(sum, g)\n  h <- h + g\n}\n")
    for sizes in [(10,), (3, 7), (4, 0, 5, 1), (1,) * 10, (0, 0)]:
        n = sum(sizes)
        cuts = np.cumsum(sizes)[:-1]
        g, w, h = (Tensor.of(F32, rng.integers(-9, 9, s)) for s in ((2, n), (n,), (2, n)))
        split = lambda t: [Tensor(F32, a) for a in np.split(t.stored, cuts, -1)]
        names = lambda name: ["%s-%d.npy" % (name, i) for i in range(len(sizes))]
        arguments = []
        for name in "wh":
            arguments += ["--output", name + "=" + ",".join(map(runner.path, names(name)))]
        runner.run(path, {}, {"g": split(g), "w": split(w), "h": split(h)}, {"N": n}, arguments=arguments)
        for name, value in (("w", w.stored - g.stored.sum(0)), ("h", h.stored + g.stored)):
            for i, piece in enumerate(np.split(value, cuts, -1)):
                runner.check("%s %s[%d]" % (sizes, name, i), Tensor.load(runner.path(names(name)[i]), F32), Tensor(F32, piece))
        # As one file; and one buffer may be the whole.
        got = runner.run(path, {"w": F32, "h": F32}, {"g": split(g), "w": split(w), "h": h}, {"N": n})
        runner.check("%s w whole" % (sizes,), got["w"], Tensor(F32, w.stored - g.stored.sum(0)))
        runner.check("%s h whole" % (sizes,), got["h"], Tensor(F32, h.stored + g.stored))


def seeds(runner):
    """What is not given is drawn from the seed, the argument's name and the index in
    the external array: by Philox, so for every mesh and layout alike."""
    for element in ALL:
        path = runner.write("mesh m (a = 1, b = 1)\nprogram p(x: %s[5, 3], inout y: %s[5, 3] sliced(1, b) sliced(0, a), "
                            "inout l: %s[7] local(b), inout s: %s, inout w: %s[40, 2] local(b), inout k: %s[2, 3, 9, 1]) {\n"
                            "  let r = select(x == x, x, x)\n  return r\n}\n" % ((element,) * 6))
        outputs = dict.fromkeys(("r", "y", "l", "s", "w", "k"), element)
        for seed, mesh in [(0, (1, 1)), (1, (2, 3)), (1, (4, 2)), (2**64 - 1, (1, 3))]:
            arguments = ["--seed", str(seed)] if seed else []
            got = runner.run(path, outputs, mesh=dict(zip("ab", mesh)), arguments=arguments)
            for name, stream, shape in (("r", "x", (5, 3)), ("y", "y", (5, 3)), ("l", "l", (mesh[1], 7)), ("s", "s", ())):
                runner.check("%s %s seed %d" % (element, name, seed), got[name],
                             Tensor(element, fill(element, shape, seed, stream)))
            # Large matrices, and filters, are scaled by their global shape.
            for name, shape, whole in (("w", (mesh[1], 40, 2), (40, 2)), ("k", (2, 3, 9, 1), (2, 3, 9, 1))):
                runner.check("%s %s seed %d" % (element, name, seed), got[name],
                             Tensor(element, fill(element, shape, seed, name, draw_scale(element, whole))))


def programs(runner):
    """A file with several programs; several results, also of one value; results in
    every layout; results of results."""
    path = runner.write("""mesh m (dp = 3)
param N = 5
fn twice(x) { let y = 2 * x; return y, x }
program first(x: f32[N] local) {
  let a = all_reduce(sum, x)
  let b = reduce_scatter(sum, x, 0)
  let c = send(x, +1)
  let (d, e) = twice(x)
  let big = a > 3
  let same = a
  return a, b, c, d, e, big, same
}
program second(inout x: i32[N], y: i32[N]) { x <- x * y; x <- x + 1 }
""")
    x = Tensor.of(F32, np.arange(15).reshape(3, 5))
    total = x.stored.sum(0)
    got = runner.run(path, {"a": F32, "b": F32, "c": F32, "d": F32, "e": F32, "big": BOOL, "same": F32},
                     {"x": x}, arguments=["--program", "first"])
    sent = np.stack([x.stored[0], x.stored[0], x.stored[1]])
    runner.check_all("first", got, {
        "a": Tensor(F32, total), "b": Tensor(F32, total), "c": Tensor(F32, sent), "d": Tensor(F32, 2 * x.stored),
        "big": Tensor(BOOL, total > 3), "same": Tensor(F32, total), "e": x})
    x, y = Tensor(I32, np.arange(5)), Tensor(I32, np.arange(5) - 2)
    got = runner.run(path, {"x": I32}, {"x": x, "y": y}, arguments=["--program", "second"])
    runner.check("second", got["x"], Tensor(I32, x.stored * y.stored + 1))
    process = runner.call(path)
    expect(process.returncode == 2 and "'first', 'second'" in process.stderr, process.stderr)
    process = runner.call(path, arguments=["--program", "third"])
    expect(process.returncode == 2 and "no program 'third'" in process.stderr, process.stderr)


def repeat(runner):
    """Two runs give the same bits: threads change no order of sums."""
    path = os.path.join(EXAMPLES, "adam.ccn")
    runs = [runner.run(path, {"p": F32, "mom": F32, "var": F32}, params={"N": 5000}, mesh={"dp": 8}) for _ in range(4)]
    for run in runs[1:]:
        for name, tensor in run.items():
            runner.compared += 1
            expect(same_bits(tensor, runs[0][name]), "%s differs between runs" % name)


def large(runner):
    """2^24 elements of Adam on four ranks take seconds, not minutes."""
    n = 2**24
    rng = np.random.default_rng(5)
    g = rng.standard_normal((4, n), np.float32).astype(np.float16)
    p, mom = (rng.standard_normal(n, np.float32) for _ in range(2))
    var = np.abs(mom)
    inputs = {"g": Tensor(F16, g), "p": Tensor(F32, p), "mom": Tensor(F32, mom), "var": Tensor(F32, var),
              "lr": "0.001", "t": "10"}
    start = time.monotonic()
    got = runner.run(os.path.join(EXAMPLES, "adam.ccn"), {"mom": F32}, inputs, {"N": n}, {"dp": 4}, timeout=60)
    took = time.monotonic() - start
    f32 = np.float32
    total = ((g[0].astype(f32) + g[1]) + g[2]) + g[3]
    grad = (total.astype(np.float16).astype(f32) / f32(4)).astype(np.float16).astype(f32)
    runner.compared += 1
    # The same operations in f32: the same bits.
    expect(np.array_equal(got["mom"].stored, f32(0.9) * mom + f32(0.1) * grad), "mom is wrong")
    print("2^24 elements of Adam on 4 ranks: %.1f s with the files" % took)


if __name__ == "__main__":
    main({f.__name__: f for f in (arrays, scalars, files, scattered, seeds, programs, repeat, large)})
