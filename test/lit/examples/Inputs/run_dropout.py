"""Drops a tensor replicated, cut in every way that a mesh of two axes allows, and
local, and compares with the mask that Philox gives for the global index."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from elements import BF16, F8E4M3, F8E5M2, F16, F32, F64, INTEGERS, Tensor
from harness import main
from philox import dropout_mask

LAYOUTS = ["replicated", "sliced(0, a)", "sliced(1, a)", "sliced(2, b)",
           "sliced(0, a) sliced(1, b)", "sliced(2, a) sliced(0, b)",
           "sliced(1, a) sliced(1, b)", "sliced(1, b) sliced(1, a)"]


def program(element, shape, rate):
    size = "%s[%s]" % (element, ", ".join(map(str, shape)))
    names = ["x%d" % i for i in range(len(LAYOUTS))]
    lines = ["mesh m (a = 1, b = 1)",
             "program p(x: %s, l: %s local(b) sliced(0, a), seed: i64) {" % (size, size)]
    for name, layout in zip(names, LAYOUTS):
        lines += ["  let c%s = reshard(x, %s)" % (name, layout),
                  "  let %s = dropout(c%s, %r, seed)" % (name, name, rate)]
    lines += ["  let local_ = dropout(l, %r, seed)" % rate,
              "  return " + ", ".join(names + ["local_"]), "}"]
    return "\n".join(lines), names


def layouts(runner):
    rng = np.random.default_rng(0)
    cases = [(F32, (5, 3, 7), 0.1, 0), (F16, (4, 6, 2), 0.5, 2**63 - 1), (BF16, (1, 9, 3), 0.25, -1),
             (F64, (3, 1, 1), 0.9, 1), (F8E4M3, (2, 5, 3), 0.5, 3), (F8E5M2, (7, 2, 2), 0.1, 2**32),
             (F32, (3, 0, 2), 0.1, 5), (F32, (2, 3, 4), 0.0, 5), (F32, (33, 20, 50), 0.3, 1234567890123)]
    for element, shape, rate, seed in cases:
        text, names = program(element, shape, rate)
        path = runner.write(text)
        # The factor is rounded to the type of computation, the product to the element's.
        wide = F64 if element is F64 else F32
        factor = wide.round(1 / (1 - rate))
        mask = dropout_mask(shape, rate, seed)

        def dropped(x):
            with np.errstate(all="ignore"):
                product = x.values.astype(wide.storage) * wide.storage.type(factor)
            return Tensor.of(element, np.where(mask, product, 0))

        # Zeros and their signs are left out: 0 times a factor is 0 as well.
        x = Tensor.of(element, 1 + np.abs(rng.standard_normal(shape)))
        for a, b in [(1, 1), (2, 3), (4, 2), (1, 8)]:
            title = "%s%s rate %s seed %d on %dx%d" % (element, shape, rate, seed, a, b)
            l = Tensor.of(element, 1 + np.abs(rng.standard_normal((b,) + shape)))

            def test():
                got = runner.run(path, dict.fromkeys(names + ["local_"], element),
                                 {"x": x, "l": l, "seed": str(seed)}, mesh={"a": a, "b": b})
                for name, layout in zip(names, LAYOUTS):
                    runner.check(title + " " + layout, got[name], dropped(x))
                for i in range(b):
                    runner.check(title + " local", Tensor(element, got["local_"].stored[i]),
                                 dropped(Tensor(element, l.stored[i])))

            runner.attempt(title, test)


def seeds(runner):
    """Seeds of every integer type, as 64 bits with their sign, and literals."""
    for element in INTEGERS:
        seed = -5 if element.kind == "i" else 2**element.bits - 5
        path = runner.write("mesh m (a = 2)\nprogram p(s: %s) {\n"
                            "  let x = broadcast_to(cast(1, f32), [3, 50])\n"
                            "  let y = dropout(x, 0.5, s)\n  let z = dropout(x, 0.5, 77)\n"
                            "  return y, z\n}\n" % element)
        got = runner.run(path, {"y": F32, "z": F32}, {"s": str(seed)})
        for name, key in (("y", seed), ("z", 77)):
            runner.check("seed %d of %s" % (key, element), got[name],
                         Tensor.of(F32, 2.0 * dropout_mask((3, 50), 0.5, key)))


if __name__ == "__main__":
    main({"layouts": layouts, "seeds": seeds})
