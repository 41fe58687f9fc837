"""The kernels give the same paths compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).parents[2]
NAMES = (
    "sphere_3d",
    "chain_three_mixed",
    "torus_hole",
    "via_between_obstacles",
    "scholz_sphere_3d",
    "edge_line_through_centre_nohint",
)


def numbers() -> np.ndarray:
    """Return lengths, rates and forces of some cables, one of them over a user's surface."""
    from tests.cables.cases import CASES, solved
    from tests.cables.test_random_cables import PILLOW

    found = []
    for name in NAMES:
        cable, state = solved(CASES[name])
        found.append(np.append(cable.body_forces(state).ravel(), cable.length(state)))
        found.append(cable.resampled_points(state, 3).ravel())
        cable.set_obstacle_surface(0, PILLOW)
        cable.set_obstacle_contact_point_hint(0, None)
        cable.owner.on_fault = "keep"
        found.append(np.array([cable.length(state), cable.num_iterations(state)]))
    return np.concatenate(found)


def test_plain_python_gives_the_same_numbers(tmp_path: Path) -> None:
    file = tmp_path / "plain.npy"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(CHECKOUT)}
    subprocess.run([sys.executable, __file__, str(file)], check=True, env=environment)
    np.testing.assert_allclose(np.load(file), numbers(), rtol=0, atol=1e-11)


if __name__ == "__main__":
    np.save(sys.argv[1], numbers())
