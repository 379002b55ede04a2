"""Runs examples on several meshes and sizes and compares them with reference.py.

    run_example.py NAME... -- COMPILER FLAG...

Inputs are drawn from fixed seeds, in two styles: `plain`, normally distributed, and
`hard`, whose magnitudes go from 1e-9 to 10 (so into the subnormal numbers of f16)
with a fifth of them zero.
"""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "Inputs"))

import numpy as np

import reference
from bounded import Bounded
from elements import BF16, F16, F32, Tensor
from harness import main
from philox import dropout_mask

EXAMPLES = os.path.join(HERE, *[os.pardir] * 4, "examples")


class Draw:
    """Draws tensors of one style."""

    def __init__(self, seed, style):
        self.rng = np.random.default_rng(seed)
        self.style = style

    def __call__(self, element, shape, scale=1.0, positive=False):
        values = self.rng.standard_normal(shape)
        if self.style == "hard":
            zero = self.rng.random(shape) < 0.2
            magnitude = 10.0 ** self.rng.uniform(-9, 1, shape)
            values = np.where(zero, 0, np.copysign(magnitude, values))
        return Tensor.of(element, scale * (np.abs(values) if positive else values))


def each(runner, name, meshes, sizes, make, function, outputs, styles=("plain", "hard")):
    """Runs the example on each mesh with each of the sizes (dictionaries of params),
    which `make(draw, mesh, params)` gives inputs."""
    program = os.path.join(EXAMPLES, name + ".ccn")
    for mesh in meshes:
        for i, params in enumerate(sizes):
            # The styles by turns: each mesh and each size meets both.
            style = styles[(i + len(mesh) + sum(mesh.values())) % len(styles)]
            title = " ".join([name] + ["%s=%s" % p for p in {**mesh, **params}.items()] + [style])

            def test():
                inputs = make(Draw(len(title), style), mesh, params)
                got = runner.run(program, outputs, inputs, params, mesh)
                expected = function(inputs, mesh)
                for value in expected.values():
                    if isinstance(value, Bounded) and not np.any(np.isnan(value.v)):
                        assert value.finite(), "the test's inputs overflow"
                runner.check_all(title, got, expected)
                return inputs, got

            runner.attempt(title, test)


def meshes_of(axis, *counts):
    return [{axis: n} for n in counts]


def sizes_of(names, *rows):
    return [dict(zip(names.split(), row)) for row in rows]


DP = meshes_of("dp", 1, 2, 3, 4, 8)
LENGTHS = sizes_of("N", (0,), (1,), (2,), (3,), (7,), (1003,))


def allreduce(runner):
    # Sums that overflow to infinity, infinities and NaN too: the result is exact.
    def make(draw, mesh, params):
        x = draw(BF16, (mesh["dp"], params["N"]))
        flat = x.stored.reshape(-1)
        if draw.style == "large":
            scale = 10.0 ** draw.rng.uniform(-45, 38.5, x.shape)
            x = Tensor.of(BF16, np.copysign(scale, x.values))
            flat = x.stored.reshape(-1)
            special = BF16.encode([np.inf, -np.inf, np.nan, BF16.max, -BF16.max, -0.0, BF16.max])
            places = draw.rng.integers(0, max(1, flat.size), 7 if flat.size else 0)
            flat[places] = special[: len(places)]
        return {"x": x}

    each(runner, "allreduce", DP + meshes_of("dp", 16), LENGTHS, make, reference.allreduce,
         {"y": BF16}, styles=("plain", "hard", "large"))


def sgd(runner):
    def make(draw, mesh, params):
        n = params["N"]
        return {"g": draw(F32, (mesh["dp"], n)), "p": draw(F32, (n,)),
                "mom": draw(F32, (n,)), "lr": "0.05"}

    each(runner, "sgd", DP, LENGTHS, make, reference.sgd, {"p": F32, "mom": F32})


def optimizer_inputs(draw, mesh, params, t):
    n = params["N"]
    return {"g": draw(F16, (mesh["dp"], n)), "p": draw(F32, (n,)),
            "mom": draw(F32, (n,), 0.1), "var": draw(F32, (n,), 0.1, positive=True),
            "lr": "0.001", "t": str(t)}


def adam(runner):
    outputs = {"p": F32, "mom": F32, "var": F32}
    sizes = sizes_of("N", (0,), (1,), (3,), (1003,), (2**20,))
    for t in (1, 1000):
        each(runner, "adam", DP, sizes[:-1],
             lambda draw, mesh, params: optimizer_inputs(draw, mesh, params, t),
             reference.adam, outputs)

    def same_signs(draw, mesh, params):
        # No sum cancels, and steps are small beside the parameters.
        n, rng = params["N"], draw.rng
        sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
        g = sign * np.abs(rng.standard_normal((mesh["dp"], n)))
        return {"g": Tensor.of(F16, g),
                "p": Tensor.of(F32, rng.uniform(0.05, 2, n) * rng.choice([-1, 1], n)),
                "mom": Tensor.of(F32, sign * np.abs(rng.standard_normal(n)) * 0.1),
                "var": Tensor.of(F32, rng.uniform(0.01, 1, n)), "lr": "0.001", "t": "10"}

    each(runner, "adam", DP, sizes, same_signs, reference.adam_f64, outputs, ("relative",))


def lamb(runner):
    outputs = {"p": F32, "mom": F32, "var": F32}

    def make(draw, mesh, params):
        inputs = optimizer_inputs(draw, mesh, params, 10)
        if draw.style in ("zero parameters", "zero"):
            inputs["p"] = Tensor.of(F32, np.zeros(params["N"]))
        if draw.style in ("zero step", "zero"):
            for name in ("g", "mom", "var"):
                inputs[name] = Tensor(inputs[name].element, 0 * inputs[name].stored)
        return inputs

    each(runner, "lamb", DP, LENGTHS, make, reference.lamb, outputs,
         ("plain", "hard", "zero parameters", "zero"))
    # Without decay a step is 0 where the parameters are not.
    each(runner, "lamb", DP[1:4], [{**size, "decay": 0} for size in LENGTHS], make,
         lambda inputs, mesh: reference.lamb(inputs, mesh, 0), outputs, ("zero step",))


def attention_tp(runner):
    def make(draw, mesh, params):
        b, s, h = params["B"], params["S"], params["H"]
        return {"x": draw(F16, (b, s, h)), "w": draw(F16, (h, h)), "b": draw(F16, (h,)),
                "r": draw(F16, (b, s, h)), "seed": "-5" if h == 7 else "81985529216486895"}

    sizes = sizes_of("B S H", (2, 3, 8), (3, 5, 7), (1, 1, 1), (2, 9, 33), (0, 4, 3), (2, 3, 0))
    each(runner, "attention_tp", meshes_of("tp", 1, 2, 3, 4, 5), sizes, make,
         reference.attention_tp, {"out": F16})

    # The dropped places alone: with weights and residual 0 and bias 1 an element is 0
    # if dropped; the same on every mesh.
    b, s, h = 3, 5, 9
    mask = dropout_mask((b, s, h), 0.1, 42)
    kept = F16.round(F32.round(1 / 0.9))

    def ones(draw, mesh, params):
        zeros = lambda *shape: Tensor.of(F16, np.zeros(shape))
        return {"x": zeros(b, s, h), "w": zeros(h, h), "b": Tensor.of(F16, np.ones(h)),
                "r": zeros(b, s, h), "seed": "42"}

    each(runner, "attention_tp", meshes_of("tp", 1, 2, 4, 7), sizes_of("B S H", (b, s, h)),
         ones, lambda inputs, mesh: {"out": Tensor.of(F16, np.where(mask, kept, 0))},
         {"out": F16}, ("mask",))


def mlp_tp(runner):
    def make(draw, mesh, params):
        t, h, f = params["T"], params["H"], params["F"]
        return {"x": draw(F16, (t, h)), "w1": draw(F16, (h, f), 0.3), "w2": draw(F16, (f, h), 0.3)}

    sizes = sizes_of("T H F", (8, 6, 12), (7, 5, 3), (1, 1, 1), (3, 17, 70), (0, 3, 2), (3, 2, 0))
    each(runner, "mlp_tp", meshes_of("tp", 1, 2, 3, 4, 5), sizes, make, reference.mlp_tp,
         {"y": F16})


def rmsnorm_tp(runner):
    def make(draw, mesh, params):
        t, h = params["T"], params["H"]
        return {"x": draw(BF16, (mesh["tp"], t, h)), "res": draw(BF16, (t, h)),
                "gamma": draw(BF16, (h,))}

    sizes = sizes_of("T H", (4, 8), (3, 7), (1, 1), (5, 1003), (0, 4), (3, 0))
    each(runner, "rmsnorm_tp", meshes_of("tp", 1, 2, 3, 4, 8), sizes, make,
         reference.rmsnorm_tp, {"res": BF16, "y": BF16})


def moe(runner):
    def make(draw, mesh, params):
        e, c, h, f = (params[name] for name in "ECHF")
        return {"x": draw(F16, (e, c, h)), "gate": draw(F16, (e, c), 0.3),
                "w1": draw(F16, (e, h, f), 0.3), "w2": draw(F16, (e, f, h), 0.3)}

    sizes = sizes_of("E C H F", (4, 6, 3, 5), (3, 5, 2, 7), (1, 1, 1, 1), (7, 2, 4, 20),
                     (5, 1, 3, 2), (2, 0, 3, 2), (3, 4, 0, 2))
    each(runner, "moe", meshes_of("ep", 1, 2, 3, 4, 6), sizes, make, reference.moe, {"y": F16})


PLANE = [(1, 1), (2, 2), (3, 2), (2, 5), (1, 4), (4, 1)]


def pipeline(runner):
    def make(draw, mesh, params):
        b, h, pp = params["B"], params["H"], mesh["pp"]
        return {"x": draw(F16, (pp, b, h)), "w": draw(F16, (pp, h, h)), "b": draw(F16, (pp, h)),
                "r": draw(F16, (pp, b, h)), "seed": "7"}

    sizes = sizes_of("B H", (6, 8), (3, 7), (1, 1), (5, 33), (0, 3), (2, 0))
    each(runner, "pipeline", [dict(zip(("pp", "tp"), m)) for m in PLANE], sizes, make,
         reference.pipeline, {"next": F16})


def dp_tp(runner):
    def make(draw, mesh, params):
        b, h, f = (params[name] for name in "BHF")
        return {"x": draw(F32, (b, h)), "y": draw(F32, (b, h)), "w1": draw(F32, (h, f), 0.3),
                "w2": draw(F32, (f, h), 0.3), "lr": "0.1"}

    sizes = sizes_of("B H F", (8, 6, 12), (7, 5, 3), (1, 1, 1), (3, 11, 70), (0, 3, 2), (3, 2, 0))
    each(runner, "dp_tp", [dict(zip(("dp", "tp"), m)) for m in PLANE], sizes, make,
         reference.dp_tp, {"w1": F32, "w2": F32, "loss": F32})


if __name__ == "__main__":
    main({f.__name__: f for f in (allreduce, sgd, adam, lamb, attention_tp, mlp_tp,
                                  rmsnorm_tp, moe, pipeline, dp_tp)})
