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
