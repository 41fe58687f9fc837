"""Parts of a step as kernels alone, for what no stopwatch can get at."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.compiled import compiled
from tendon_gym.control.loops import run_loops
from tendon_gym.rewards.total import weigh_one


@compiled
def control(n: int, substeps: int, box: Any) -> None:
    """Run the loops of all simulations before each of so many physics steps."""
    time, qpos, qvel, ctrl, loops = box.value
    for _ in range(substeps):
        run_loops(0, n, time, qpos, qvel, ctrl, loops)


@compiled
def weigh(n: int, signals: NDArray, box: Any) -> None:
    """Evaluate and weigh the reward terms of all simulations."""
    for i in range(n):
        weigh_one(i, signals, box.value)
