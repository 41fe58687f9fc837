"""Whole environments on the compiled engine, with the inner loops inside it, against MuJoCo."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import tendon_gym  # noqa: F401 (registers the environments)
from tendon_gym.registration import ENTRIES

STEPS = 100
INTERFACES = [
    (entry.id, rotor, tendon)
    for entry in ENTRIES.values()
    for rotor in entry.rotor_actions
    for tendon in entry.tendon_actions
]
TURNING = {"name": "rotating_bend", "duration": 4.0, "magnitude": 0.4, "rate": 3.0, "ramp": 0.5}
FORCES = {
    "external_wrench": {"body": "link_12", "force": [0.3, 0, 0.1], "start": 0.1, "duration": 0.2},
    "impulse": {"target": "tip", "impulse": [0.0, 0.02, 0.0], "start": 0.3},
    "wind": {"velocity": [2.0, -1.0, 0.5], "start": 0.2},
}


def actions(size: int, rotors: bool) -> np.ndarray:
    """Return actions near hover that move everything, piecewise constant, (STEPS, size)."""
    rng = np.random.default_rng(0)
    drawn = np.repeat(rng.uniform(-1.0, 1.0, (STEPS // 10, size)), 10, axis=0)
    if rotors:
        drawn[:, :4] *= 0.05
    return drawn.astype(np.float32)


def fly(name: str, engine: str, seed: int = 3, **settings) -> dict[str, np.ndarray]:
    """Return what an episode of STEPS steps looks like from outside and from inside."""
    env = gym.make(name, engine=engine, **settings).unwrapped
    observation, _ = env.reset(seed=seed)
    core, rows = env.core, {"observation": [observation], "reward": [], "ended": []}
    rows |= {"qpos": [core.engine.qpos[0].copy()], "qvel": [core.engine.qvel[0].copy()]}
    rows["ctrl"] = []
    rotors = settings.get("rotor_action", "none") != "none"
    for action in actions(env.action_space.shape[0], rotors):
        observation, reward, terminated, truncated, _ = env.step(action)
        rows["observation"].append(observation)
        rows["reward"].append(reward)
        rows["ended"].append((terminated, truncated))
        rows["ctrl"].append(core.engine.ctrl[0].copy())
        rows["qpos"].append(core.engine.qpos[0].copy())
        rows["qvel"].append(core.engine.qvel[0].copy())
        if terminated or truncated:
            break
    env.close()
    return {key: np.array(value) for key, value in rows.items()}


def assert_alike(flown: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert np.array_equal(flown["ended"], expected["ended"])
    close = {"rtol": 0.0}
    np.testing.assert_allclose(flown["qpos"], expected["qpos"], atol=1e-9, **close)
    np.testing.assert_allclose(flown["qvel"], expected["qvel"], atol=1e-9, **close)
    np.testing.assert_allclose(flown["ctrl"], expected["ctrl"], atol=1e-9, **close)
    np.testing.assert_allclose(flown["reward"], expected["reward"], atol=1e-9, **close)
    np.testing.assert_allclose(flown["observation"], expected["observation"], atol=1e-6, **close)


@pytest.mark.parametrize("name, rotor, tendon", INTERFACES)
def test_every_interface_flies_alike_on_both_engines(name, rotor, tendon):
    settings = {"rotor_action": rotor, "tendon_action": tendon}
    if tendon == "reference":
        settings["reference"] = TURNING
    flown, expected = (fly(name, engine, **settings) for engine in ("compiled", "mujoco"))
    assert len(expected["reward"]) >= 50, "this flight ends too early to prove much"
    assert_alike(flown, expected)
    assert np.ptp(expected["ctrl"], axis=0).min() > 1e-4, "some control never moved"


@pytest.mark.parametrize("rotor, tendon", [("attitude", "bend"), ("residual", "reference")])
@pytest.mark.parametrize("law", ["full", "paper"])
def test_laws_and_forces_act_together(rotor, tendon, law):
    settings = {
        "rotor_action": rotor,
        "tendon_action": tendon,
        "action": {"law": law},
        "forces": FORCES,
        "reference": "mission",
    }
    name = "TendonGym/Track-v0"
    flown, expected = (fly(name, engine, **settings) for engine in ("compiled", "mujoco"))
    assert_alike(flown, expected)
    settings.pop("forces")
    calm = fly(name, "mujoco", **settings)
    assert np.abs(calm["qpos"] - expected["qpos"]).max() > 1e-3


@pytest.mark.parametrize("frequency", [50.0, 250.0, 500.0])
def test_the_rate_of_actions_does_not_matter(frequency):
    settings = {"rotor_action": "body_rate", "control_frequency": frequency}
    flown, expected = (
        fly("TendonGym/Hover-v0", engine, **settings) for engine in ("compiled", "mujoco")
    )
    assert_alike(flown, expected)


@pytest.mark.parametrize("links, tendons", [(1, 3), (5, 6), (30, 4)])
def test_other_vehicles_fly_alike(links, tendons):
    model = {"arm": {"n_links": links}, "tendons": {"n_tendons": tendons}}
    settings = {"rotor_action": "residual", "tendon_action": "bend", "model": model}
    flown, expected = (
        fly("TendonGym/Track-v0", engine, **settings) for engine in ("compiled", "mujoco")
    )
    assert_alike(flown, expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "name, rotor, tendon",
    [
        ("TendonGym/Hover-v0", "thrust", "tension"),
        ("TendonGym/Track-v0", "residual", "reference"),
        ("TendonGym/Bend-v0", "attitude", "bend"),
        ("TendonGym/ArmBend-v0", "none", "bend"),
    ],
)
def test_a_vector_environment_is_its_scalar_ones_bit_by_bit(name, rotor, tendon, threads):
    n, seed = 7, 20
    settings = {"rotor_action": rotor, "tendon_action": tendon}
    if name != "TendonGym/ArmBend-v0":
        settings["forces"] = FORCES
    envs = gym.make_vec(
        name, num_envs=n, engine="compiled", threads=threads, autoreset_mode="Disabled", **settings
    )
    observation, _ = envs.reset(seed=seed)
    seen, rewards = [observation], []
    drawn = actions(envs.single_action_space.shape[0], rotor != "none")
    for action in drawn[:50]:
        observation, reward, terminated, truncated, _ = envs.step(np.tile(action, (n, 1)))
        assert not (terminated | truncated).any()
        seen.append(observation)
        rewards.append(reward)
    envs.close()
    for i in range(n):
        alone = fly(name, "compiled", seed + i, **settings)
        assert np.array_equal(np.array(seen)[:, i], alone["observation"][:51])
        assert np.array_equal(np.array(rewards)[:, i], alone["reward"][:50])


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_episodes_end_and_begin_alike_on_both_engines(mode):
    """Random thrusts end episodes by tilt or crash; the next ones start from the same draws."""
    looks = []
    for engine in ("compiled", "mujoco"):
        envs = gym.make_vec(
            "TendonGym/Hover-v0", num_envs=6, engine=engine, autoreset_mode=mode, horizon=1.5
        )
        envs.reset(seed=1)
        envs.action_space.seed(2)
        rows = []
        for _ in range(300):
            observation, reward, terminated, truncated, _ = envs.step(envs.action_space.sample())
            rows.append(np.column_stack([observation, reward, terminated, truncated]))
        looks.append(np.array(rows))
        envs.close()
    assert looks[1][:, :, -2].sum() > 6
    assert looks[1][:, :, -1].sum() > 0 or looks[1][:, :, -2].sum() > 12
    np.testing.assert_allclose(looks[0], looks[1], rtol=0, atol=1e-5)
