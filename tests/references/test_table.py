"""The kernel against the formula in its module's docstring, differentiated in 40 digits."""

import os
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from tendon_gym.references import evaluate, evaluate_one, mission, new_rows
from tendon_gym.references.setpoint import setpoints

ORDERS = ("position", "velocity", "acceleration", "jerk", "snap")
YAW_ORDERS = ("yaw", "yaw_rate", "yaw_acceleration")


def random_rows(seed, n):
    rng = np.random.default_rng(seed)
    rows = new_rows(n)
    edges = np.cumsum(rng.uniform(1.5, 3.0, n + 1))
    rows["start"], rows["end"] = edges[:-1], edges[1:]
    names = ("coefficients", "phase", "amplitude", "bend", "bend_slope", "bend_direction")
    for name in (*names, "bend_rate", "frequency"):
        rows[name] = rng.normal(size=rows[name].shape)
    rows["bend_magnitude"] = rng.uniform(0.2, 1.0, n)
    for name in ("ramp_in", "ramp_out", "bend_ramp_in", "bend_ramp_out"):
        rows[name] = rng.uniform(0.2, 0.7, n)
    rows["ramp_in"][::3] = 0.0
    return rows


def at(rows, times):
    times = np.asarray(times, dtype=float)
    out = setpoints(times.size)
    zero = np.zeros(times.size, dtype=np.int64)
    evaluate(rows, zero, zero + rows.size, times, out)
    return out


def blend(s):
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def envelope(u, length, ramp_in, ramp_out):
    rise = blend(u / ramp_in) if u < ramp_in else 1
    fall = blend((length - u) / ramp_out) if u > length - ramp_out else 1
    return rise * fall


def formula(row, c, t):
    """The docstring's value of channel c, in the precision of mpmath."""
    u = t - mpmath.mpf(row["start"])
    length = mpmath.mpf(row["end"]) - mpmath.mpf(row["start"])
    poly = sum(mpmath.mpf(k) * u**n for n, k in enumerate(row["coefficients"][c]))
    waves = sum(
        mpmath.mpf(row["amplitude"][h, c]) * mpmath.sin(row["frequency"][h] * u + row["phase"][h])
        for h in range(4)
    )
    return poly + waves * envelope(u, length, row["ramp_in"], row["ramp_out"])


@pytest.mark.parametrize("place", [0.03, 0.5, 0.97])
def test_values_and_derivatives_are_those_of_the_formula(place):
    rows = random_rows(1, 6)
    out = at(rows, rows["start"] + place * (rows["end"] - rows["start"]))
    with mpmath.workdps(40):
        for k, row in enumerate(rows):
            t = mpmath.mpf(row["start"] + place * (row["end"] - row["start"]))
            for c in range(4):
                for n in range(5 if c < 3 else 3):
                    want = float(mpmath.diff(lambda t, r=row, c=c: formula(r, c, t), t, n))
                    have = out[ORDERS[n]][k, c] if c < 3 else out[YAW_ORDERS[n]][k]
                    assert have == pytest.approx(want, rel=1e-10, abs=1e-9), (k, c, n)


@pytest.mark.parametrize("place", [0.0, 0.05, 0.5, 0.95])
def test_bend_is_that_of_the_formula(place):
    rows = random_rows(2, 8)
    length = rows["end"] - rows["start"]
    out = at(rows, rows["start"] + place * length)
    for k, row in enumerate(rows):
        u = place * length[k]
        size = row["bend_magnitude"] * envelope(
            u, length[k], row["bend_ramp_in"], row["bend_ramp_out"]
        )
        angle = row["bend_direction"] + row["bend_rate"] * u
        turning = size * np.array([np.cos(angle), np.sin(angle)])
        want = row["bend"] + row["bend_slope"] * u + turning
        np.testing.assert_allclose(out["bend"][k], want, rtol=1e-12, atol=1e-12)


def test_outside_it_holds_the_nearest_value_at_rest():
    rows = random_rows(3, 3)
    start, end = rows["start"][0], rows["end"][-1]
    out = at(rows, [start - 5.0, start, end - 1e-9, end, end + 100.0])
    for name in ("position", "yaw", "bend"):
        np.testing.assert_array_equal(out[name][0], out[name][1])
        np.testing.assert_array_equal(out[name][3], out[name][4])
        np.testing.assert_allclose(out[name][2], out[name][3], atol=1e-6)
    for name in (*ORDERS[1:], *YAW_ORDERS[1:]):
        assert not out[name][[0, 3, 4]].any()
        assert out[name][[1, 2]].all()


def test_a_row_holds_from_its_start():
    rows = new_rows(3)
    rows["start"], rows["end"] = [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]
    rows["coefficients"][:, 0, 0] = [10.0, 20.0, 30.0]
    out = at(rows, [0.0, 0.999, 1.0, 1.999, 2.0, 2.999])
    np.testing.assert_array_equal(out["position"][:, 0], [10, 10, 20, 20, 30, 30])


def test_simulations_use_their_own_block_or_share_one():
    rows = random_rows(4, 7)
    first, count = np.array([0, 3, 3, 0, 6]), np.array([3, 3, 3, 7, 1])
    time = np.array([4.0, 9.0, 11.0, 9.0, 17.0])
    batch, single = setpoints(5), setpoints(5)
    evaluate(rows, first, count, time, batch)
    for i in range(5):
        evaluate_one(rows, first[i], count[i], time[i], single, i)
        alone = at(rows[first[i] : first[i] + count[i]].copy(), [time[i]])
        assert alone[0] == batch[i]
    assert batch.tobytes() == single.tobytes()


def test_plain_python_gives_the_same(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "import numba\n"
        "from tendon_gym.references import mission\n"
        "assert numba.config.DISABLE_JIT\n"
        "np.save(sys.argv[1], mission().at(np.linspace(-1, 37, 96)))\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    path = tmp_path / "plain.npy"
    subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=True)
    plain, jit = np.load(path), mission().at(np.linspace(-1, 37, 96))
    for name in plain.dtype.names:
        np.testing.assert_allclose(plain[name], jit[name], rtol=1e-12, atol=1e-12)
