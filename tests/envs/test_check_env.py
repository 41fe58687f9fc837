"""Gymnasium's own checker, with every warning an error, on every id and every legal interface."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from tendon_gym.registration import ENTRIES


def interfaces(entry):
    return [(rotor, tendon) for rotor in entry.rotor_actions for tendon in entry.tendon_actions]


CASES = []
for entry in ENTRIES.values():
    for k, (rotor, tendon) in enumerate(interfaces(entry)):
        settings = {"rotor_action": rotor, "tendon_action": tendon}
        # the other choices in turn, so that each meets each interface part
        settings["observation_mode"] = ("state", "tip")[(k + k // 3) % 2]
        settings["control_frequency"] = (50.0, 100.0, 500.0)[(k + 1) % 3]
        if entry.name in ("Bend", "ArmBend"):
            settings["goal"] = ("bend", "tip")[(k // 2) % 2]
        else:
            settings["reference"] = ("smooth", "mission", "steady_figure_eight")[k % 3]
            if entry.name == "Track":
                settings["preview"] = {"points": (0, 3)[k % 2]}
        settings["model"] = ("default", "paper")[(k // 2) % 2]
        CASES.append(pytest.param(entry, settings, id=f"{entry.name}-{rotor}-{tendon}"))


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_every_id_passes_with_rendering(entry, window):
    check_env(gym.make(entry.id, render_mode="rgb_array").unwrapped)
    assert window.opened == window.closed >= 1


@pytest.mark.parametrize("entry, settings", CASES)
def test_every_interface_passes(entry, settings):
    check_env(gym.make(entry.id, **settings).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_the_passive_checker_of_make_stays_silent(entry):
    env = gym.make(entry.id, horizon=0.1)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(10):
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    env.close()
