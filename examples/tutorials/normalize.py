import numpy as np

import ccn

program = ccn.compile(
    """
mesh m (dp = 4)
param N = 10

program normalize(x: f32[N] sliced(0), scale: f32) {
  let y = scale * x / norm(x)
  return y
}
"""
)

x = np.arange(1, 11, dtype=np.float32)
parts = [x[0:3], x[3:6], x[6:9], x[9:10]]  # as sliced(0) has it: 3, 3, 3 and 1

with ccn.Team(program) as team:  # four threads, each a rank
    results = team.run(lambda rank: program.on(team, rank)(parts[rank], scale=2))

y = np.concatenate(results)
print(y.shape, np.abs(y - 2 * x / np.linalg.norm(x)).max() < 1e-6)
