"""Stopwatches tell what they watch, and an environment with them is the same environment."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tendon_gym.evaluation.bench import phases
from tendon_gym.evaluation.bench.phases import Stopwatch, Watched
from tendon_gym.evaluation.bench.settings import HELD, QUICK
from tendon_gym.evaluation.bench.steppers import Scalar, Vector, make_native
from tendon_gym.evaluation.bench.timing import Protocol

NAMES = ("physics", "control", "observation", "reward", "reset")


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(phases, "CLOCK", made)
    return made


class Machine:
    """An environment whose parts take known times, in s: engine 5, reset 7, all around 3."""

    def __init__(self, clock):
        self.clock, self.env, self.core, self.engine = clock, self, self, self

    def step(self, substeps, law=None):
        self.clock.now += 5.0

    def reset(self):
        self.clock.now += 7.0

    def run(self, count):
        for k in range(count):
            self.clock.now += 3.0
            self.engine.step(5, law=None)
            if k % 4 == 0:
                self.core.reset()
        return 2 * count  # as two environments


def test_stopwatches_share_the_time_out(clock):
    twin = Machine(clock)
    watched = Watched(Machine(clock), twin)
    assert watched.run(8) == 16
    total, engine, reset, around = watched.rows[0]
    assert total == pytest.approx((8 * 8.0 + 2 * 7.0) / 16)
    assert engine == pytest.approx(8 * 5.0 / 16)
    assert reset == pytest.approx(2 * 7.0 / 16)
    assert around == pytest.approx(8 * 3.0 / 16)


def test_a_stopwatch_hands_everything_through_and_starts_anew(clock):
    class Owner:
        def method(self, a, b=2):
            clock.now += 0.5
            return a, b

    owner = Owner()
    watch = Stopwatch(owner, "method")
    assert owner.method(1, b=3) == (1, 3)
    assert owner.method(4) == (4, 2)
    assert (watch.spent, watch.calls) == (1.0, 2)
    watch.start()
    assert (watch.spent, watch.calls) == (0.0, 0)


def test_a_clock_that_stands_still_finds_stopwatches_free(clock):
    assert phases.stopwatch_costs(10) == (0.0, 0.0)


@pytest.mark.parametrize("n", [1, 3])
def test_stopwatches_change_nothing(n):
    def drive():
        if n == 1:
            return Scalar(*HELD, random=True)
        return Vector(make_native(*HELD, "mujoco", n, 1), random=True)

    driven, twin = drive(), drive()
    watched = Watched(driven, twin)
    for count in (100, 50):
        watched.run(count)
        states = [each.env.core.engine.qpos for each in (driven, twin)]
        assert np.array_equal(*states)
    assert driven.resets == twin.resets > 0
    assert len(watched.rows) == 2
    for each in (driven, twin):
        each.env.close()


def test_phases_are_medians_and_their_sum_is_judged_within_rounds():
    kernels = {"reward": 1.0, "decoding": 0.5, "loops": 4.0}
    calm = np.array([40.0, 24.0, 2.0, 10.0])
    found = phases._add_up(kernels, np.array([5.0 * calm, calm, calm, 0.5 * calm, 3.0 * calm]))
    assert found["us"] == pytest.approx(
        {"physics": 20.0, "control": 4.5, "observation": 8.5, "reward": 1.0, "reset": 2.0}
    )
    assert found["total_us"] == 40.0
    assert found["sum_over_total"] == pytest.approx(0.9)


def test_every_setup_and_engine_is_taken_apart():
    scope = dataclasses.replace(QUICK, phases=(1, 2), protocol=Protocol(5, 1e-3))
    found = phases.phases(scope, ("mujoco", "compiled"))
    assert len({each["name"] for each in found}) == len(found) == 8
    for each in found:
        assert tuple(each["us"]) == NAMES
        assert all(math.isfinite(value) for value in each["us"].values())
        assert each["us"]["physics"] > 0.0 and each["us"]["reward"] > 0.0
        assert each["total_us"] > each["us"]["reward"]
        assert each["sum_over_total"] > 0.0
    assert any(each["resets_per_step"] > 0.0 for each in found)
