"""The kernels give the same numbers compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tendon_gym.control import (
    PAPER_GAINS,
    TendonAllocation,
    Vehicle,
    acceleration_law,
    allocate,
    attitude_command_law,
    geometric_law,
    mix,
    rate_law,
    setpoints,
)


def numbers() -> dict[str, np.ndarray]:
    """Return the results of every law on a few cases."""
    rng = np.random.default_rng(11)
    n = 3
    gains = PAPER_GAINS.record()
    vehicle = Vehicle(1.26, ((6.7e-3, 0, 0), (0, 6.7e-3, 0), (0, 0, 1.2e-2))).record()
    rows = setpoints(n)
    for name in ("position", "velocity", "acceleration", "jerk", "snap"):
        rows[name] = rng.normal(size=(n, 3))
    rows["yaw"], rows["yaw_rate"], rows["yaw_acceleration"] = rng.normal(size=(3, n))
    rotation = np.ascontiguousarray(np.linalg.qr(rng.normal(size=(n, 3, 3)))[0])
    rotation[:, :, 0] *= np.linalg.det(rotation)[:, None]
    p, v, w, extra, integral = rng.normal(size=(5, n, 3))
    angles = rng.normal(size=(4, n))
    command = rng.normal(size=(n, 3))
    result: dict[str, np.ndarray] = {}
    for law in (0, 1):
        out = {k: (np.empty(n), np.empty((n, 3))) for k in ("geometric", "acceleration", "angle")}
        rest = (gains, vehicle, 0.002, law)
        geometric_law(p, v, rotation, w, rows, extra, integral, *rest, *out["geometric"])
        held = (gains, vehicle, law)
        acceleration_law(command, *angles[:2], rotation, w, *held, *out["acceleration"])
        collective = np.full(n, 12.0)
        attitude_command_law(collective, *angles, rotation, w, *held, *out["angle"])
        for name, (force, torque) in out.items():
            result[f"{name}_{law}_force"], result[f"{name}_{law}_torque"] = force, torque
    force, torque, controls = np.empty(n), np.empty((n, 3)), np.empty((n, 4))
    rate_law(np.full(n, 12.0), command, w, gains, vehicle, force, torque)
    mix(rng.normal(size=(4, 4)), force, torque, np.zeros(4), np.full(4, 8.0), controls)
    result |= {"integral": integral, "rate": torque, "mix": controls}
    bend = rng.uniform(-0.8, 0.8, (n, 2))
    even, uneven = (0.0, 2 * np.pi / 3, 4 * np.pi / 3), (0.0, 2.3, 4.0)
    for kind, places in (("equal", even), ("max_cos", even), ("bounded", uneven)):
        allocation = TendonAllocation(places, (0.015,) * 3, (6.0,) * 3, kind)
        result[kind] = np.empty((n, 3))
        allocate(bend, allocation.tendons(), allocation.record(), result[kind])
    return result


def test_plain_python_gives_the_same_numbers(tmp_path: Path) -> None:
    file = tmp_path / "plain.npz"
    root = Path(__file__).parents[2]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, __file__, str(file)], check=True, env=environment)
    expected = numbers()
    with np.load(file) as plain:
        assert set(plain) == set(expected)
        for name, values in expected.items():
            scale = max(1.0, np.abs(values).max())
            np.testing.assert_allclose(
                plain[name], values, rtol=0, atol=1e-14 * scale, err_msg=name
            )


if __name__ == "__main__":
    np.savez(sys.argv[1], **numbers())
