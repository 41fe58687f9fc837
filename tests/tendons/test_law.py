"""The compiled laws over arrays: against their formulas, plain Python, and one row for all."""

from __future__ import annotations

import types

import numpy as np
import pytest

from tendon_gym.boxes import box
from tendon_gym.tendons.law import (
    AHEAD,
    LAW,
    REST,
    Drives,
    Limits,
    Motion,
    drive,
    limit,
    velocities,
)

N, T, FIRST, H = 64, 3, 1, 2e-3


def laws(rng, rows):
    law = np.zeros((rows, T), LAW)
    law["force"] = rng.normal(size=(rows, T))
    law["decay"] = rng.choice([0.0, 0.5, 0.99], size=(rows, T))
    law["target_length"], law["target_velocity"] = rng.normal(size=(2, rows, T))
    law["control"] = [3, -1, 0]
    law["predictive"] = [1, 1, 0]
    law["lower"] = rng.choice([-np.inf, 0.9], size=(rows, T))
    law["upper"] = rng.choice([np.inf, 1.1], size=(rows, T))
    law["correction"] = 0.3
    law["stiffness"], law["damping"], law["impedance"] = -0.3 / H**2, -1.0 / H, 0.99
    law["ahead"], law["softness"] = 0.9, 1e-4
    return law


def drives(seed, rows=N):
    rng = np.random.default_rng(seed)
    return Drives(laws(rng, rows), rng.normal(size=(N, T)), np.zeros((N, 7)))


def limits(seed, discrete, rows=N):
    rng = np.random.default_rng(seed)
    shape, total = (N, FIRST + T), FIRST + T
    return Limits(
        laws(rng, rows), H, discrete, FIRST, rng.uniform(0.8, 1.2, shape),
        rng.normal(scale=40.0, size=shape), np.zeros((N, total, 2)), np.zeros((N, total, 2)),
        np.ones((N, total, 5)), rng.random(N) < 0.5,
    )  # fmt: skip


def plain(kernel):
    return getattr(kernel, "py_func", kernel)


def run(kernel, arguments):
    return kernel(0, N, box(arguments))


def run_plain(kernel, arguments):
    return plain(kernel)(0, N, types.SimpleNamespace(value=arguments))


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_plain_python_gives_the_same_bits(seed):
    one, other = drives(seed), drives(seed)
    assert run(drive, one) == run_plain(drive, other) and same(one, other)
    for discrete in (False, True):
        one, other = limits(seed, discrete), limits(seed, discrete)
        assert run(limit, one) == run_plain(limit, other) and same(one, other)


def test_one_row_of_parameters_serves_all():
    for make, kernel in ((drives, drive), (lambda s, rows: limits(s, True, rows), limit)):
        few, many = make(5, 1), make(5, 1)
        many = many._replace(law=np.repeat(many.law, N, axis=0))
        run(kernel, few)
        run(kernel, many)
        assert same(few[1:], many[1:])


def test_activations():
    d = drives(1)
    before, law = d.activation.copy(), d.law
    assert run(drive, d)
    expected = law["force"] + (before - law["force"]) * law["decay"]
    assert np.array_equal(d.activation[:, [0, 2]], expected[:, [0, 2]])
    assert np.array_equal(d.activation[:, 1], before[:, 1])  # not driven
    assert np.array_equal(d.ctrl[:, 5], d.activation[:, 0])
    assert np.array_equal(d.ctrl[:, 0], law["target_length"][:, 2])
    assert np.array_equal(d.ctrl[:, 4], law["target_velocity"][:, 0])
    assert not d.ctrl[:, 6].any()
    d.law["decay"] = 0.0
    assert not run(drive, d)  # all have arrived
    assert np.array_equal(d.activation[:, 0], law["force"][:, 0])


def outcome(u, error, stiffness, damping, d, discrete):
    """Return the velocity after the step of MuJoCo's row for a mass, its softness aside."""
    if error >= 0.0:
        return None
    k, b = -stiffness / d * H**2, -damping / d * H
    if discrete:
        return (u - k * error / H) / (1.0 + b + k)
    return u - b * u - k * error / H


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rows_bring_gaps_to_the_rates_that_raisim_asks_for(discrete, seed):
    c = limits(seed, discrete)
    engaged, cases = c.engaged.copy(), set()
    assert run(limit, c)
    for i in range(N):
        acting = False
        for k in range(2):
            t, p = FIRST + k, c.law[i, k]
            for side in (0, 1):
                sign = 1.0 if side == 0 else -1.0
                gap = sign * (c.length[i, t] - p[("lower", "upper")[side]])
                u = sign * c.velocity[i, t]
                least = -gap / H if gap >= 0.0 else -0.3 * gap / H
                error = sign * (c.length[i, t] - c.range[i, t, side])
                got = outcome(u, error, *c.solref[i, t], c.solimp[i, t, 0], discrete)
                acting |= got is not None
                if got is None:
                    assert u >= least or other_is_violated(c, p, t, i, side)
                elif gap < 0.0 and u >= least:
                    cases.add("violated")
                    assert error == pytest.approx(gap)
                else:
                    cases.add("ahead")
                    aim = (least - 1e-4 * u) / (1.0 - 1e-4)
                    assert got == pytest.approx(aim, rel=1e-6)
        assert c.engaged[i] == acting
    assert cases == {"violated", "ahead"} and not np.array_equal(engaged, c.engaged)
    assert not c.range[:, [0, 3]].any()  # of other tendons, and without limits that look ahead
    assert AHEAD < 1e-3 and REST < 1e-9


def other_is_violated(c, p, t, i, side):
    """Say whether the row of the other side was needed as that of a violated limit."""
    length = c.length[i, t]
    return length > p["upper"] if side == 0 else length < p["lower"]


def test_whether_rows_have_to_be_made_anew():
    c = limits(0, False)
    c.law["lower"], c.law["upper"] = -np.inf, np.inf
    c.engaged[:] = False
    assert not run(limit, c)
    c.engaged[5] = True
    assert run(limit, c)  # it had a row, which has to go
    assert not c.engaged.any() and not run(limit, c)


def test_velocities_are_products_with_the_sparse_jacobian():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((N, 4, 6)) < 0.5, 0.0, 0.0)
    entries, address, column, values = [2, 0, 3, 1], [0, 2, 2, 5], [1, 4, 0, 2, 5, 3], []
    jacobian = rng.normal(size=(N, 6))
    for t in range(4):
        for k in range(address[t], address[t] + entries[t]):
            dense[:, t, column[k]] = jacobian[:, k]
            values.append(k)
    qvel, out = rng.normal(size=(N, 6)), np.zeros((N, 4))
    indices = (np.array(each, np.int32) for each in (entries, address, column))
    run(velocities, Motion(*indices, jacobian, qvel, out))
    assert out == pytest.approx(np.einsum("ntv,nv->nt", dense, qvel), abs=1e-14)
    assert sorted(values) == list(range(6))
