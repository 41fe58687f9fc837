"""The controllers whose cost is compared do the same."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

from tendon_gym import baselines
from tendon_gym.evaluation.paper import cost
from tendon_gym.evaluation.paper.expected import COST
from tendon_gym.registration import ENTRIES


@pytest.mark.parametrize("phase", [9.0, 26.0])  # on the figure-eight; with a turning bend
def test_the_controller_in_numpy_is_the_baselines_law(phase):
    entry, baseline = ENTRIES["Track"], baselines.get("geometric_paper")
    env = gymnasium.make(
        entry.id, model="paper", reference="mission", **baseline.interface(entry)
    ).unwrapped
    policy, controller = baseline.make(env), cost.NumpyController(env.model)
    # a start with errors in everything, drawn as for any episode
    observation, state = env.reset(seed=3, options={"phase": phase})[0], None
    for _ in range(200):
        wanted = controller(env.data, env.core.schedule.setpoint[0])
        action, state = policy.predict(observation, state)
        observation, *_, info = env.step(action)
        applied = np.concatenate([info["thrusts"], info["tensions"]])
        # the observation and the action are single precision
        np.testing.assert_allclose(applied, wanted, atol=2e-4)
    assert np.ptp(applied) > 0.1


def test_the_cost_has_all_its_rows(monkeypatch):
    monkeypatch.setattr(cost, "BLOCK", 20)
    values = cost.measure(60)
    assert set(values) == set(COST)
    assert all(math.isfinite(value) and value > 0.0 for value in values.values())
    assert values["cost.real_time"] == pytest.approx(2000.0 / values["cost.step"])
