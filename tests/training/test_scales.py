"""Fixed scales of the observation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from tendon_gym.envs.observations import Items
from tendon_gym.registration import ENTRIES
from tendon_gym.training import scales
from tendon_gym.training.scales import SIZES, FixedScales


def core_of(task: str, **settings: Any) -> Any:
    env: Any = gymnasium.make(ENTRIES[task].id, **settings).unwrapped
    return env.core


@pytest.mark.parametrize("goal", ["bend", "tip"])
def test_every_column_has_the_size_of_its_slice(goal):
    core = core_of("Bend", goal=goal)
    fixed = FixedScales(core)
    covered = np.zeros(fixed.var.shape, int)
    for part in core.observer.layout.values():
        np.testing.assert_allclose(np.sqrt(fixed.var[part.start : part.stop]), SIZES[part.name])
        covered[part.start : part.stop] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize("mode", ["state", "tip"])
@pytest.mark.parametrize("task", ENTRIES)
def test_the_slices_of_every_task_have_a_size(task, mode):
    goals = ("bend", "tip") if core_of(task).task.reference == "goal" else (None,)
    for goal in goals:
        settings = {} if goal is None else {"goal": goal}
        core = core_of(task, observation_mode=mode, **settings)
        assert FixedScales(core).mean.shape == core.observation_space.shape


def test_the_centre_is_a_hover_at_rest():
    """Started exactly there, the centred observation is nothing but what may not be centred."""
    env: Any = gymnasium.make(ENTRIES["Hover"].id, start=dict.fromkeys(STILL, 0.0)).unwrapped
    observation, _ = env.reset(seed=0)
    fixed = FixedScales(env.core)
    for name, part in env.observation_layout.items():
        columns = slice(part.start, part.stop)
        # at a reset the controls are zero; the hover thrust is checked below
        if name != "thrusts":
            np.testing.assert_allclose(
                observation[columns], fixed.mean[columns], rtol=0.0, atol=2e-6, err_msg=name
            )
    part = env.observation_layout["thrusts"]
    weight = env.model.body_subtreemass[0] * -env.model.opt.gravity[2]
    assert fixed.mean[part.start : part.stop].sum() == pytest.approx(weight)


STILL = ("position", "velocity", "tilt", "yaw", "angular_velocity", "bend", "bend_rate")


def test_observations_teach_it_nothing():
    fixed = FixedScales(core_of("ArmBend"))
    mean, var = fixed.mean.copy(), fixed.var.copy()
    fixed.update(np.full((5, *mean.shape), 3.0))
    np.testing.assert_array_equal(fixed.mean, mean)
    np.testing.assert_array_equal(fixed.var, var)


def test_an_unknown_slice_is_named(monkeypatch):
    known = {name: size for name, size in SIZES.items() if name != "tip_velocity"}
    monkeypatch.setattr(scales, "SIZES", known)
    with pytest.raises(ValueError, match=r"observation's tip_velocity must have a size in .*SIZES"):
        FixedScales(core_of("ArmBend"))


def test_every_slice_that_can_be_observed_has_a_size():
    """Fails where a slice is added to the observations, or to a task, without a size for it."""
    items = Items(core_of("Hover").layout, 1.0, 1.0, 1.0, preview_points=1)
    assert set(items.by_name) == set(SIZES)
    for task in ENTRIES:
        assert set(core_of(task).task.observation) <= set(SIZES)
