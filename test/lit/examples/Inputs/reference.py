"""What every example computes, from its mathematics, on whole arrays in NumPy.

One function for each program of examples/. It gets the inputs as tensors (`Tensor`,
in external form) and numbers, and the mesh's axis sizes, and returns the outputs:
a `Tensor` where the result is exact bit for bit (sums in the ranks' order, rounded
once), else a `Bounded`: f64 with the error that the element types' rounding allows
(bounded.py derives it; the lengths of the sums are in the arrays' shapes).
"""

import numpy as np

from bounded import Bounded, all_reduce, slices, sum_in_order
from elements import F16, F32, Tensor
from philox import dropout_mask


def ranks_of(tensor):
    """The values of a tensor with one leading dimension for an axis."""
    return [Tensor(tensor.element, piece) for piece in tensor.stored]


def exact(tensor):
    return Bounded.exact(tensor)


def number(text, element=F32):
    """A scalar argument given as text, rounded to its type."""
    return Bounded(element, element.round(float(text)))


def dropout(x, rate, seed):
    """Keeps an element where its draw says so, times 1 / (1 - rate) rounded to f32,
    which costs one rounding beside the product's."""
    mask = dropout_mask(x.shape, rate, seed)
    kept = x._rounded(x.v / (1 - rate), x.e / (1 - rate), 2)
    return Bounded(x.element, np.where(mask, kept.v, 0), np.where(mask, kept.e, 0))


def power_f32(base, t):
    """1 - base^t as f32 has it: base, the power and the difference rounded. For t = 1
    the difference cancels most digits, so it is modelled exactly."""
    return F32.round(1 - F32.round(F32.round(base) ** F32.round(float(t))))


def averaged(g, dp):
    """The average of the ranks' f16 gradients: the sum in f32 in the ranks' order,
    rounded to f16, divided in f16. Exact."""
    total = sum_in_order(ranks_of(g)).values.astype(np.float32)
    return Tensor.of(F16, total / np.float32(dp))


def allreduce(inputs, mesh):
    return {"y": sum_in_order(ranks_of(inputs["x"]))}


def sgd(inputs, mesh):
    # The sum of dp numbers in f32, rounded at each step.
    parts = [exact(t) for t in ranks_of(inputs["g"])]
    grad = all_reduce(parts) / mesh["dp"]
    mom = 0.9 * exact(inputs["mom"]) + grad
    p = exact(inputs["p"]) - number(inputs["lr"]) * mom
    return {"mom": mom, "p": p}


def moments(inputs, mesh):
    grad = exact(averaged(inputs["g"], mesh["dp"])).cast(F32)
    mom = 0.9 * exact(inputs["mom"]) + 0.1 * grad
    var = 0.999 * exact(inputs["var"]) + 0.001 * grad * grad
    t = inputs["t"]
    mhat = mom / Bounded(F32, power_f32(0.9, t))
    vhat = var / Bounded(F32, power_f32(0.999, t))
    return mom, var, mhat, vhat


def adam(inputs, mesh):
    mom, var, mhat, vhat = moments(inputs, mesh)
    step = number(inputs["lr"]) * mhat / (vhat.sqrt() + 1e-8)
    return {"mom": mom, "var": var, "p": exact(inputs["p"]) - step}


def adam_f64(inputs, mesh):
    """Adam in f64 throughout but for the average, whose rounding to f16 decides its
    value; compared to 1e-6 relative. Only for inputs on which f32 can be that good:
    where no sum cancels, and where 0.999, rounded to f32, does not change 1 - 0.999^t
    by much."""
    grad = averaged(inputs["g"], mesh["dp"]).values
    lr, t = float(inputs["lr"]), float(inputs["t"])
    mom = 0.9 * inputs["mom"].values + 0.1 * grad
    var = 0.999 * inputs["var"].values + 0.001 * grad * grad
    mhat, vhat = mom / (1 - 0.9**t), var / (1 - 0.999**t)
    p = inputs["p"].values - lr * mhat / (np.sqrt(vhat) + 1e-8)
    return {name: Bounded(F32, v, 1e-6 * np.abs(v))
            for name, v in (("mom", mom), ("var", var), ("p", p))}


def norm(x, ranks=1):
    """The root of the sum of squares: a sum on each rank, then one across them."""
    squares = x * x
    return all_reduce([squares[s].sum(0) for s in slices(x.shape[0], ranks)]).sqrt()


def lamb(inputs, mesh, decay=0.01):
    p = exact(inputs["p"])
    mom, var, mhat, vhat = moments(inputs, mesh)
    step = mhat / (vhat.sqrt() + 1e-6) + decay * p
    pnorm, snorm = norm(p), norm(step, mesh["dp"])
    # The guards: zeros are exact, and the tests' other norms are far from 0.
    if pnorm.v > 0 and snorm.v > 0:
        ratio = pnorm / snorm
    else:
        ratio = Bounded(F32, 1.0)
    return {"mom": mom, "var": var, "p": p - number(inputs["lr"]) * ratio * step}


def attention_tp(inputs, mesh):
    x, w, b, r = (exact(inputs[name]) for name in "xwbr")
    attn = x.matmul(w, mesh["tp"])
    return {"out": dropout(attn + b, 0.1, int(inputs["seed"])) + r}


def mlp_tp(inputs, mesh):
    x, w1, w2 = (exact(inputs[name]) for name in ("x", "w1", "w2"))
    return {"y": x.matmul(w1).gelu().matmul(w2, mesh["tp"])}


def rmsnorm_tp(inputs, mesh):
    total = sum_in_order(ranks_of(inputs["x"]))
    element = total.element
    # A sum of two is exact in f32 up to its rounding, which bf16's follows.
    with np.errstate(all="ignore"):
        sums = inputs["res"].values.astype(np.float32) + total.values.astype(np.float32)
    res = Tensor.of(element, sums)
    wide = exact(res).cast(F32)
    n = res.shape[-1]
    if n == 0:
        return {"res": res, "y": exact(res)}
    square = (wide * wide).sum(-1, divisor=n)
    scale = (square + 1e-6).rsqrt().map(lambda a: a[..., None])
    y = wide * scale * exact(inputs["gamma"]).cast(F32)
    return {"res": res, "y": y.cast(element)}


def pipeline(inputs, mesh):
    stages = []
    for x, w, b, r in zip(*(ranks_of(inputs[name]) for name in "xwbr")):
        total = exact(x).matmul(exact(w), mesh["tp"])
        stages.append(dropout(total + exact(b), 0.1, int(inputs["seed"])) + exact(r))
    moved = stages[:1] + stages[:-1]
    element = moved[0].element
    return {"next": Bounded(element, np.stack([s.v for s in moved]),
                            np.stack([s.e for s in moved]))}


def moe(inputs, mesh):
    x, gate, w1, w2 = (exact(inputs[name]) for name in ("x", "gate", "w1", "w2"))
    made = x.matmul(w1).relu().matmul(w2)
    return {"y": (made * gate.map(lambda a: a[..., None])).sum(0)}


def transposed(x):
    return x.map(np.transpose)


def dp_tp(inputs, mesh):
    dp, tp = mesh["dp"], mesh["tp"]
    x, y, w1, w2 = (exact(inputs[name]) for name in ("x", "y", "w1", "w2"))
    batch, lr = x.shape[0] * x.shape[1], number(inputs["lr"])
    before = x.matmul(w1)
    hidden = before.relu()
    err = hidden.matmul(w2, tp) - y
    if batch == 0:
        return {"w1": w1, "w2": w2, "loss": Bounded(F32, np.nan)}
    square = err * err
    loss = all_reduce([square[s].sum((0, 1), divisor=batch)
                       for s in slices(x.shape[0], dp)])
    gout = 2 * err / batch
    g2 = transposed(hidden).matmul(gout, dp)
    ghidden = before.where_positive(gout.matmul(transposed(w2)))
    g1 = transposed(x).matmul(ghidden, dp)
    return {"w1": w1 - lr * g1, "w2": w2 - lr * g2, "loss": loss}
