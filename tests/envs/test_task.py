"""Settings: what is legal, what is said about the rest, and that all of it is plain JSON."""

from __future__ import annotations

import copy
import json

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.envs.task import substeps
from tendon_gym.registration import ENTRIES


def make(name="Hover", **settings):
    return gym.make(ENTRIES[name].id, **settings).unwrapped


PLAIN = """{
    "model": {
        "preset": "paper",
        "airframe": {"inertia": [0.007, 0.007, 0.012], "spin": [1, -1, 1, -1],
            "rotor_positions": [[0.1, 0.1, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0], [0.1, -0.1, 0]]},
        "arm": {"n_links": 4},
        "tendons": {"n_tendons": 4, "angles": [0.0, 1.5, 3.0, 4.5],
            "radii": [0.01, 0.01, 0.01, 0.01]}
    },
    "rotor_action": "body_rate",
    "tendon_action": "bend",
    "control_frequency": 50,
    "observation_mode": "tip",
    "horizon": 2,
    "threads": 1,
    "engine": "mujoco",
    "action": {"body_rate": [5, 5, 2], "gains": {"kp": [6, 6, 9], "k_rate": [20, 20, 10]}},
    "reference": {"name": "waypoints", "times": [0, 1, 3],
        "positions": [[0, 0, 1.6], [0.5, 0, 1.6], [0.5, 0.5, 2]],
        "bend": [[0, 0], [0.2, 0], [0, 0]]},
    "start": {"position": 0, "phase": "zero"},
    "limits": {"distance": 3},
    "reward": {"position": 1, "effort": {"weight": 0.1, "margin": 5}},
    "forces": {"external_wrench": {"body": "link_4", "force": [1, 0, 0], "start": 1, "duration": 1}}
}"""


def test_every_setting_is_plain_json():
    settings = json.loads(PLAIN)
    env = make("Hover", **settings)
    assert env.model.nq == 7 + 8 and env.action_space.shape == (6,)
    assert env.core.horizon == 100
    envs = gym.make_vec(ENTRIES["Hover"].id, num_envs=2, **settings)
    first, _ = envs.reset(seed=0)
    assert np.array_equal(first[0], env.reset(seed=0)[0])
    for _ in range(100):
        observation, *_, truncated, _ = env.step(np.zeros(6))
        rows, *_ = envs.step(np.zeros((2, 6)))
        assert np.array_equal(rows[0], observation)
    assert truncated


@pytest.mark.parametrize("name", ENTRIES)
def test_an_unknown_setting_raises_with_the_legal_names(name):
    with pytest.raises(ValueError, match=r"has no 'modle'; it takes model, rotor_action") as error:
        make(name, modle="paper")
    goal = name in ("Bend", "ArmBend")
    assert (" goal" in str(error.value)) == goal
    assert (" reference" in str(error.value)) == (not goal)


WRONG = [
    ("Hover", {"rotor_action": "rpm"}, "'thrust', 'body_rate', 'attitude', 'acceleration'"),
    ("Hover", {"tendon_action": "length"}, "'tension', 'bend', 'reference'"),
    ("ArmBend", {"rotor_action": "thrust"}, "'none'"),
    ("Bend", {"tendon_action": "reference"}, "'tension', 'bend'"),
    ("Hover", {"observation_mode": "pixels"}, "'state', 'tip'"),
    ("Bend", {"goal": "angle"}, "'bend', 'tip'"),
    ("Hover", {"engine": "bullet"}, "'mujoco'"),
    ("Hover", {"model": "small"}, "'default', 'paper'"),
    ("Hover", {"model": {"preset": "small"}}, "'default', 'paper'"),
    ("Hover", {"model": {"arms": {}}}, "model has no 'arms'; it takes airframe, arm"),
    ("Hover", {"model": {"arm": {"n_links": 0}}}, "n_links"),
    ("Hover", {"model": {"arm": {"links": 3}}}, "model.arm has no 'links'; it takes n_links"),
    ("Hover", {"model": {"base": "clamped"}}, "'free'"),
    ("Hover", {"horizon": 0}, "horizon"),
    ("Hover", {"horizon": float("nan")}, "horizon"),
    ("Hover", {"control_frequency": -1}, "control_frequency"),
    ("Hover", {"threads": 0}, "threads"),
    ("Hover", {"start": {"tilt": 2.0}}, "tilt"),
    ("Hover", {"start": {"phase": "late"}}, "'random', 'zero'"),
    ("Hover", {"start": {"hight": 1.0}}, "start has no 'hight'; it takes position"),
    ("Hover", {"limits": {"distance": 0}}, "distance"),
    ("Hover", {"limits": {"tilt": 4.0}}, "tilt"),
    ("Track", {"preview": {"points": -1}}, "points"),
    ("Track", {"preview": {"seconds": 0}}, "seconds"),
    ("Hover", {"preview": {"points": 2}}, "Hover has no 'preview'"),
    ("Hover", {"reference": "loop"}, "steady_figure_eight"),
    ("Hover", {"reference": {"name": "hover", "height": 1}}, "hover has no 'height'"),
    ("Hover", {"reward": {"speed": 1}}, "'position'"),
    ("Hover", {"forces": {"storm": {}}}, "'external_wrench'"),
    ("Hover", {"camera": "front"}, "'chase', 'side'"),
    ("Hover", {"width": 0}, "width"),
    ("Hover", {"render_mode": "ansi"}, "'rgb_array'"),
]


@pytest.mark.parametrize("name, settings, message", WRONG)
def test_a_wrong_value_raises_and_names_the_legal_ones(name, settings, message):
    cls = type(make(name))
    with pytest.raises(ValueError) as error:
        cls(**settings)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": 3},
        {"model": ["paper"]},
        {"model": {"arm": 12}},
        {"horizon": "8"},
        {"horizon": True},
        {"forces": ["external_wrench"]},
        {"reward": ["position"]},
        {"start": 0.1},
        {"reference": 4},
        {"threads": 2.0},
        {"height": 480.5},
    ],
)
def test_a_value_of_the_wrong_type_raises(settings):
    with pytest.raises(TypeError):
        type(make())(**settings)


def test_a_preview_of_half_a_point_raises():
    with pytest.raises(TypeError, match="points must be an integer"):
        make("Track", preview={"points": 2.5})


@pytest.mark.parametrize(
    "frequency, nearest",
    [(60, "55.5556 Hz and 62.5 Hz"), (300, "250 Hz and 500 Hz"), (1000, "500 Hz"), (501, "500 Hz")],
)
def test_a_frequency_that_does_not_divide_names_the_nearest(frequency, nearest):
    with pytest.raises(ValueError, match="must divide the physics rate of 500 Hz") as error:
        make(control_frequency=frequency)
    assert str(error.value).endswith(nearest)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 50])
@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.003, 0.01])
def test_every_whole_number_of_physics_steps_is_legal(count, timestep):
    assert substeps(1.0 / (count * timestep), timestep) == count


@pytest.mark.parametrize("frequency", [500, 250, 100, 50, 500 / 3, 500 / 7])
@pytest.mark.parametrize(
    "name, seconds", [("Hover", 8.0), ("Bend", 6.0), ("ArmBend", 4.0), ("Track", 10.0)]
)
def test_horizons_are_seconds_at_any_frequency(name, seconds, frequency):
    core = make(name, control_frequency=frequency).core
    assert core.horizon * core.step_time == pytest.approx(seconds, abs=0.6 / frequency)
    assert make(name, control_frequency=frequency, horizon=1.5).core.horizon == pytest.approx(
        1.5 * frequency, abs=0.6
    )


def test_a_reference_that_ends_ends_the_episode():
    assert make("Track", reference="mission").core.horizon == 3600
    assert make("Track", reference="mission", horizon=2.0).core.horizon == 200
    assert make("Track", reference="figure_eight", control_frequency=50).core.horizon == 800


@pytest.mark.parametrize("timestep, frequency", [(0.001, 1000), (0.004, 250), (0.005, 200)])
def test_the_timestep_is_the_models(timestep, frequency):
    env = make(model={"solver": {"timestep": timestep}}, control_frequency=frequency)
    env.reset(seed=0)
    *_, info = env.step(np.zeros(7))
    assert info["time"] == pytest.approx(timestep)


def test_presets_and_overrides_of_the_model():
    import mujoco

    euler, implicit = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert make().model.opt.integrator == euler
    assert make(model="paper").model.opt.integrator == implicit
    mixed = make(model={"preset": "paper", "arm": {"n_links": 5}}).model
    assert mixed.opt.integrator == implicit and mixed.nv == 6 + 10
    assert make(model={"arm": {"n_links": 5}}).model.opt.integrator == euler
    assert make("ArmBend", model="paper").model.nu == 3


@pytest.mark.parametrize("links", [1, 3, 24, 48])
def test_any_number_of_links_flies(links):
    env = make(model={"arm": {"n_links": links}}, rotor_action="residual", horizon=2.0)
    env.reset(seed=0)
    truncated = False
    while not truncated:
        *_, terminated, truncated, info = env.step(np.array([0, 0, 0, 0, -1, -1, -1]))
        assert not terminated
    assert info["position_error"] < 0.1


@pytest.mark.parametrize("tendons", [3, 4, 5])
@pytest.mark.parametrize("links", [3, 12])
def test_any_number_of_tendons_bends(tendons, links):
    model = {"arm": {"n_links": links}, "tendons": {"n_tendons": tendons}}
    env = make("ArmBend", tendon_action="bend", model=model)
    env.reset(seed=0, options={"goal": [0.6, 0.0]})
    for _ in range(200):
        *_, info = env.step(np.array([0.6, 0.0]))
    assert info["bend_error"] < 1e-9
    assert env.core.signals["tip"][0, 0] > 0.05
    assert len(info["tensions"]) == tendons


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_done_to_the_arguments_later_changes_nothing(name):
    model, pushes = {"arm": {"n_links": 4}}, {"wind": {"velocity": [1.0, 0.0, 0.0]}}
    env = type(make(name))(model=model, forces=pushes)
    envs = type(gym.make_vec(ENTRIES[name].id, num_envs=2))(2, model=model, forces=pushes)
    kept = env.get_state()
    model["arm"]["n_links"], pushes["wind"]["velocity"][0] = 9, 50.0
    pushes["impulse"] = {"target": "tip", "impulse": [1, 0, 0]}
    for each in (env, envs):
        twin = copy.deepcopy(each)
        assert twin.model.nq == each.model.nq and twin.core.config == each.core.config
        assert twin.core.config.forces == {"wind": {"velocity": [1.0, 0.0, 0.0]}}
    env.set_state(kept)


@pytest.mark.parametrize("name", ENTRIES)
def test_changing_one_environments_model_changes_no_other(name):
    one = make(name)
    one.model.body_mass[1] = 77.0
    assert make(name).model.body_mass[1] != 77.0


@pytest.mark.parametrize("name", ["reward", "start", "limits", "preview", "action", "forces"])
@pytest.mark.parametrize("value", [0, False, "", [], ()])
def test_what_is_no_dict_is_refused_however_empty(name, value):
    with pytest.raises(TypeError, match="must be a dict"):
        gym.make(ENTRIES["Track"].id, **{name: value})


@pytest.mark.parametrize("horizon", [1e-300, 0.004, 1e300])
def test_a_horizon_is_at_least_a_step_and_not_for_ever(horizon):
    with pytest.raises(ValueError, match="horizon must be"):
        gym.make(ENTRIES["Hover"].id, horizon=horizon)
