import numpy as np

import ccn


@ccn.program
def axpy(a, x, y):
    """
    mesh m (r = 1)
    param N = 1

    program axpy(a: f32, x: f32[N], inout y: f32[N]) {
      y <- a * x + y
    }
    """


for n in (3, 5):
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    axpy(2, x, y)  # compiled for N = 3, then for N = 5
    print(y)

try:
    axpy(2, x, np.ones(4, np.float32))
except ValueError as error:
    print(error)
