"""The programs of ccn.torch's modules and optimizers, as texts. They need no PyTorch."""

# The slope of gelu, whose normal distribution is gelu(x) / x.
_GELU_SLOPE = "fn gelu_slope(x) = select(x == 0, 0.5, gelu(x) / x) + x * exp(x * x * -0.5) * 0.3989422804014327"


def _casts(element):
    """What makes an expression one of at least 32 bits, and what makes it one of the element type again."""
    if element in ("f32", "f64"):
        return str, str
    return (lambda value: f"cast({value}, f32)"), (lambda value: f"cast({value}, {element})")


def tensor_parallel_mlp(element):
    """gelu(x w1) w2 under tensor and sequence parallelism, and its gradients. Products and the slope of gelu are computed
    in the element type and in f32 at least."""
    wide, back = _casts(element)
    slope = f"{wide('grad_hidden')} * gelu_slope({wide('pre')})"
    return f"""
mesh m (tp = 1)
param T = 1
param H = 1
param F = 1

{_GELU_SLOPE}

program mlp(x: {element}[T, H] sliced(0), w1: {element}[H, F] sliced(1), w2: {element}[F, H] sliced(0)) {{
  let tokens = all_gather(x)
  let pre = matmul(tokens, w1)
  let part = matmul(gelu(pre), w2)
  let y = reduce_scatter(sum, part, 0)
  return y, pre
}}

program mlp_backward(x: {element}[T, H] sliced(0), w1: {element}[H, F] sliced(1), w2: {element}[F, H] sliced(0),
                     pre: {element}[T, F] sliced(1), grad_y: {element}[T, H] sliced(0)) {{
  let tokens = all_gather(x)
  let rows = all_gather(grad_y)
  let grad_w2 = matmul(transpose(gelu(pre)), rows)
  let grad_hidden = matmul(rows, transpose(w2))
  let grad_pre = {back(slope)}
  let grad_w1 = matmul(transpose(tokens), grad_pre)
  let grad_x = reduce_scatter(sum, matmul(grad_pre, transpose(w1)), 0)
  return grad_x, grad_w1, grad_w2
}}

schedule default for mlp_backward {{
  fuse grad_pre
}}
"""


def all_reduce_rms_norm(element, eps):
    """Adds what ranks have of x to the residual stream and normalizes its rows, and the gradients of that."""
    wide, back = _casts(element)
    rows, grad = wide("stream"), wide("grad_y")
    return f"""
mesh m (tp = 1)
param T = 1
param H = 1

program all_reduce_rms_norm(x: {element}[T, H] partial(sum), residual: {element}[T, H], weight: {element}[H]) {{
  let total = all_reduce(sum, x)
  let stream = residual + total
  let y = rms_norm(stream, weight, {eps!r})
  return y, stream
}}

schedule oneshot for all_reduce_rms_norm {{
  fuse total, stream, y
}}

program all_reduce_rms_norm_backward(stream: {element}[T, H], weight: {element}[H], grad_y: {element}[T, H],
                                     grad_stream: {element}[T, H]) {{
  let inverse = reshape(rsqrt(mean({rows} * {rows}, 1) + {eps!r}), [T, 1])
  let normed = {rows} * inverse
  let scaled = {grad} * {wide("weight")}
  let along = reshape(mean(scaled * normed, 1), [T, 1])
  let grad_x = {back(f"{wide('grad_stream')} + inverse * (scaled - normed * along)")}
  let grad_residual = grad_x
  let grad_weight = {back(f"sum({grad} * normed, 0)")}
  return grad_x, grad_residual, grad_weight
}}

schedule default for all_reduce_rms_norm_backward {{
  fuse inverse, normed, scaled, along, grad_x
}}
"""


def _ring_step(step, ranks, is_causal, scale, wide):
    """What both programs of ring_attention do first in a step: they get the next block of keys and values, owner's, and compute
    its scores, and which of them count."""
    lines = [f"let owner{step} = (place + {ranks - step}) % {ranks}"] if step or not is_causal else []
    lines += [f"let {name}{step} = " + (f"around({name}{step - 1}, first)" if step else name) for name in "kv"]
    lines += [f"let raw{step} = matmul(rows, transpose({wide(f'k{step}')}, [0, 1, 3, 2])) * {scale!r}"]
    if not is_causal:
        counts = f"iota(raw{step}, 3) + owner{step} * T < tokens"
    elif step:
        counts = f"owner{step} < place"
    else:
        counts = "iota(raw0, 3) <= iota(raw0, 2) % T"
    return lines + [f"let may{step} = {counts}"]


def _ring_forward(step, wide):
    """Adds a block: `length` and `sums` are those of exp(score - high), and shrink as the highest score grows."""
    top = f"reshape(max(kept{step}, [3]), [B, G, N * T, 1])"
    lines = [f"let kept{step} = select(may{step}, raw{step}, -1e30)",
             f"let high{step} = " + (f"max(high{step - 1}, {top})" if step else top),
             f"let weights{step} = select(may{step}, exp(kept{step} - high{step}), 0)",
             f"let shrink{step} = exp(high{step - 1} - high{step})" if step else ""]
    for name, added in (("length", f"reshape(sum(weights{step}, 3), [B, G, N * T, 1])"),
                        ("sums", f"matmul(weights{step}, {wide(f'v{step}')})")):
        lines.append(f"let {name}{step} = " + (f"{name}{step - 1} * shrink{step} + {added}" if step else added))
    return [line for line in lines if line]


def _ring_backward(step, scale, wide):
    """Adds a block's gradients: that of q stays, those of k and v go round with them."""
    lines = [f"let weights{step} = select(may{step}, exp(raw{step} - logs), 0)",
             f"let steep{step} = matmul(slopes, transpose({wide(f'v{step}')}, [0, 1, 3, 2]))",
             f"let of_scores{step} = weights{step} * (steep{step} - along) * {scale!r}"]
    for name, added in (("dq", f"matmul(of_scores{step}, {wide(f'k{step}')})"),
                        ("dk", f"matmul(transpose(of_scores{step}, [0, 1, 3, 2]), rows)"),
                        ("dv", f"matmul(transpose(weights{step}, [0, 1, 3, 2]), slopes)")):
        before = f"{name}{step - 1}" if name == "dq" else f"around({name}{step - 1}, first)"
        lines.append(f"let {name}{step} = " + (f"{before} + {added}" if step else added))
    return lines


def ring_attention(element, ranks, is_causal, scale):
    """Attention of tokens of which each rank has a block, and its gradients. Blocks of keys and values go round; of each, a
    rank adds exp(score - highest so far), as softmax in one pass does (Milakov and Gimelshein, 2018). N heads of q have the
    same keys, so their rows are those of one matrix. `place` is the rank, `tokens` how many tokens there are: of the last
    blocks, what is behind them does not count. Scores, weights and sums have 32 bits at least."""
    wide, back = _casts(element)
    sums = "f64" if element == "f64" else "f32"
    forward, backward = [], []
    for step in range(ranks):
        common = _ring_step(step, ranks, is_causal, scale, wide)
        forward += common + _ring_forward(step, wide)
        backward += common + _ring_backward(step, scale, wide)
    last, here = ranks - 1, "around({}, first)" if ranks > 1 else "{}"
    arguments = (f"q: {element}[B, G * N, T, D] local, k: {element}[B, G, T, D] local, v: {element}[B, G, T, D] local,\n"
                 "    place: i64 local, tokens: i64")
    forward, backward = ("\n  ".join(lines) for lines in (forward, backward))
    return f"""
mesh m (cp = 1)
param B = 1
param G = 1
param N = 1
param T = 1
param D = 1

// To the next rank, and from the last one to the first.
fn around(x, first) = select(first, send(x, cp, {1 - ranks}), send(x, cp, +1))

program ring_attention({arguments}) {{
  let first = place == 0
  let rows = {wide("reshape(q, [B, G, N * T, D])")}
  {forward}
  let y = {back(f"reshape(sums{last} / length{last}, [B, G * N, T, D])")}
  let log_sum = reshape(high{last} + log(length{last}), [B, G * N, T])
  return y, log_sum
}}

program ring_attention_backward({arguments}, y: {element}[B, G * N, T, D] local,
    log_sum: {sums}[B, G * N, T] local, grad_y: {element}[B, G * N, T, D] local) {{
  let first = place == 0
  let rows = {wide("reshape(q, [B, G, N * T, D])")}
  let slopes = {wide("reshape(grad_y, [B, G, N * T, D])")}
  let logs = reshape(log_sum, [B, G, N * T, 1])
  let along = reshape(sum({wide("grad_y")} * {wide("y")}, 3), [B, G, N * T, 1])
  {backward}
  let grad_q = {back(f"reshape(dq{last}, [B, G * N, T, D])")}
  let grad_k = {back(here.format(f"dk{last}"))}
  let grad_v = {back(here.format(f"dv{last}"))}
  return grad_q, grad_k, grad_v
}}
"""


def _fused_step(name, gradients, parameters, clips, arguments, lines):
    """A program that takes a step of an optimizer. `lines` make `next`, in f32, of `old`, of `grad` and of the moments."""
    grad = "let length = norm(raw)\n  let grad = raw * min(max_norm / (length + 1e-6), 1)" if clips else "let grad = raw"
    old, new = ("p", "next") if parameters == "f32" else ("cast(p, f32)", f"cast(next, {parameters})")
    # Rests are 1 - beta, which f32 would round; `root` is that of the second moment's correction.
    return f"""
mesh m (dp = 1)
param N = 1

program {name}(g: {gradients}[N] local scattered, inout p: {parameters}[N] scattered, inout exp_avg: f32[N] sliced(0),
              inout exp_avg_sq: f32[N] sliced(0), beta1: f32, rest1: f32, beta2: f32, rest2: f32, root: f32, eps: f32,
              {arguments}{", max_norm: f32" if clips else ""}) {{
  let avg = all_reduce(sum, g) / dp
  let raw = cast(avg, f32)
  {grad}
  exp_avg <- beta1 * exp_avg + rest1 * grad
  exp_avg_sq <- beta2 * exp_avg_sq + rest2 * grad * grad
{lines.replace("old", old)}
  p <- {new}
{"  return length" if clips else ""}
}}

schedule fused for {name} {{
  let (rs, ag) = split avg
  let (part, agp) = reorder ag after p
  fuse rs, part, agp
}}
"""


def fused_adamw(gradients, parameters, clips):
    """A step of AdamW, as torch.optim.AdamW takes it, on gradients and parameters in lists of tensors; ranks keep slices of
    the two moments. With `clips`, gradients are scaled so that their norm is max_norm at most. `kept` is
    1 - lr * decay, and step_size lr with the first moment's correction."""
    return _fused_step("adamw", gradients, parameters, clips, "step_size: f32, kept: f32",
                       "  let next = old * kept - step_size * exp_avg / (sqrt(exp_avg_sq) / root + eps)")


def fused_lamb(gradients, parameters, clips):
    """The same of LAMB (You et al., 2020): Adam's step, scaled by the ratio of the norms of the parameters and of the step,
    of all that it is given together. A norm of zero gives ratio 1. `unbiased` is the first moment's correction."""
    return _fused_step("lamb", gradients, parameters, clips, "lr: f32, decay: f32, unbiased: f32",
                       "  let step = unbiased * exp_avg / (sqrt(exp_avg_sq) / root + eps) + decay * old\n"
                       "  let of_parameters = norm(old)\n"
                       "  let of_step = norm(step)\n"
                       "  let ratio = select(of_parameters > 0, select(of_step > 0, of_parameters / of_step, 1), 1)\n"
                       "  let next = old - lr * ratio * step")
