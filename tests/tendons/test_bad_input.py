"""What worlds, batches and files refuse: by name, and before anything is changed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tendon_gym.tendons import JointTerm, Properties, TendonWorld
from tendon_gym.tendons.files import load_mjcf, load_scene, save_mjcf, save_scene

MODEL = """
<mujoco><option integrator="discrete" tolerance="1e-14"/><worldbody>
  <body><joint name="j" type="slide"/><geom size=".1"/></body>
</worldbody></mujoco>"""


def world():
    return TendonWorld.from_string(MODEL)


def with_tendon(**properties):
    made = world()
    return made, made.add_fixed_tendon("t", [JointTerm("j")], Properties(**properties))


@pytest.mark.parametrize("name", ["a\0b", "\0", "\ud800", "a\udfffb"])
def test_names_that_mujoco_cannot_hold_are_refused_at_once(name):
    made, tendon = with_tendon()
    with pytest.raises(ValueError, match=r"no NUL and no lone surrogates"):
        made.add_fixed_tendon(name, [JointTerm("j")])
    with pytest.raises(ValueError, match=r"no NUL and no lone surrogates"):
        made.add_coupling(name, tendon)
    with pytest.raises(ValueError, match=r"no NUL and no lone surrogates"):
        tendon.name = name
    assert [each.name for each in made.tendons] == ["t"] and not made.couplings
    made.step()


@pytest.mark.parametrize("steps", [True, 1.5, "3", None, np.float64(2.0)])
def test_steps_are_integers(steps):
    made, _ = with_tendon()
    for stepped in (made, made.batch(2)):
        with pytest.raises(TypeError, match="steps must be an integer"):
            stepped.step(steps)
        with pytest.raises(ValueError, match=r"steps must be an integer of at least 0, got -1"):
            stepped.step(-1)
    made.step(np.int64(2))
    assert made.data.time == pytest.approx(2 * made.model.opt.timestep)


def test_there_are_no_other_fields_than_those_that_do_something():
    made, tendon = with_tendon()
    coupling = made.add_coupling("c", tendon)
    for thing, field in [
        (tendon, "stiffness"), (tendon, "target_length"), (coupling, "compliance"),
        (made, "limit"), (made, "limits"), (tendon, "length"), (coupling, "first"),
    ]:  # fmt: skip
        with pytest.raises(AttributeError, match=field):
            setattr(thing, field, 1.0)


@pytest.mark.parametrize(
    ("field", "legal"),
    [
        ("lower_limit", "-inf"), ("spring_lower", "-inf"), ("actuation_lower", "-inf"),
        ("upper_limit", "inf"), ("spring_upper", "inf"), ("actuation_upper", "inf"),
    ],
)  # fmt: skip
def test_ends_of_intervals_are_unbounded_outwards_only(field, legal):
    end = float(legal)
    ends = dict(spring_lower=-math.inf, spring_upper=math.inf) if "spring" in field else {}
    for value in (end, np.float32(end), np.float64(end)):
        assert getattr(Properties(**(ends | {field: value})), field) == end
    for value in (-end, np.float32(-end), math.nan):
        if value != value and "spring" in field:
            continue  # said of both ends, below
        with pytest.raises(ValueError, match=f"{field} must be finite or {legal}, got"):
            Properties(**(ends | {field: value}))


def test_a_rest_interval_of_short_nans_is_automatic():
    nan = np.float32("nan")
    assert math.isnan(Properties(spring_lower=nan, spring_upper=nan).spring_lower)
    with pytest.raises(ValueError, match="must both be NaN or neither, got nan and 1"):
        Properties(spring_lower=nan, spring_upper=1.0)


@pytest.mark.parametrize("terms", [None, JointTerm("j"), 3, "j"])
def test_paths_and_terms_are_sequences(terms):
    made = world()
    with pytest.raises(TypeError, match="tendon d: joint_terms must be a sequence, got"):
        made.add_fixed_tendon("d", terms)
    with pytest.raises(TypeError, match="tendon d: path must be a sequence, got"):
        made.add_spatial_tendon("d", terms)


def test_a_state_of_another_scene_or_with_faults_changes_nothing():
    made, tendon = with_tendon()
    made.add_coupling("c", tendon)
    other = world()
    other.add_coupling("c", other.add_fixed_tendon("z", [JointTerm("j")]))
    with pytest.raises(ValueError, match=r"state.names must be those of this scene, fixed t, c"):
        made.set_state(other.get_state())
    state = made.get_state()
    bad = {
        "physics": np.where(np.arange(len(state.physics)) == 1, np.nan, state.physics),
        "activation": np.array([math.inf]),
        "references": np.zeros(2),
        "enabled": ("x",),
        "couplings_enabled": (True, False),
    }
    for field, value in bad.items():
        changed = replace(state, enabled=(False,), references=np.array([3.0]))
        with pytest.raises((TypeError, ValueError), match=f"state.{field}"):
            made.set_state(replace(changed, **{field: value}))
        assert tendon.enabled is True and tendon.reference_length == state.references[0]


def test_limits_of_a_batch():
    made, _ = with_tendon(lower_limit=-1.0, upper_limit=1.0)
    batch = made.batch(3)
    with pytest.raises(ValueError, match="lower of t must be one number, or one for each of 3"):
        batch.set_limits("t", [0, 1, 2], [1.0, 1.0], 2.0)
    with pytest.raises(TypeError, match="upper of t must be numbers, got 'a'"):
        batch.set_limits("t", [0], 0.0, "a")
    with pytest.raises(TypeError, match="lower of t must be numbers, got True"):
        batch.set_limits("t", [0], True, 2.0)
    with pytest.raises(ValueError, match=r"ids must be of different simulations, got \[1, 1\]"):
        batch.set_limits("t", [1, 1], 0.0, 2.0)
    state = batch.get_state()
    with pytest.raises(ValueError, match="ids must be of different simulations"):
        batch.set_state([0, 0], state[:2])
    assert np.array_equal(batch.get_state(), state)


def test_paths_of_files(tmp_path):
    made, _ = with_tendon()
    for save in (save_scene, save_mjcf):
        with pytest.raises(TypeError, match="world must be a TendonWorld, got None"):
            save(None, tmp_path / "a.xml")
        for folder in (tmp_path, "."):
            with pytest.raises(ValueError, match="path must be that of a file, not of a folder"):
                save(made, folder)
    for load in (load_scene, load_mjcf):
        with pytest.raises(TypeError, match="path must be a string or a Path, got None"):
            load(None)
    assert not list(tmp_path.iterdir())


def test_a_tendon_refers_to_its_length_when_it_was_made():
    """What is written to the data of before is none of the world's state any more."""
    made = world()
    data = made.data
    data.qpos[0] = 0.25
    tendon = made.add_fixed_tendon("t", [JointTerm("j")])
    data.qpos[0] = 0.5
    assert tendon.reference_length == 0.25
    assert made.data.qpos[0] == 0.25


def test_a_time_step_that_is_written_counts_at_once():
    """As in a world that is made with it."""
    made, _ = with_tendon(upper_limit=0.5)
    made.step()
    for h in (0.004, 0.0005):
        made.model.opt.timestep = h
        spec = made.spec
        spec.option.timestep = h
        other = TendonWorld(spec)
        other.add_fixed_tendon("t", [JointTerm("j")], Properties(upper_limit=0.5))
        for each in (made, other):
            each.data.qpos[0], each.data.qvel[0] = 0.0, 10.0
            each.data.qacc_warmstart[:] = 0.0
            each.step(int(0.06 / h))
        assert made.data.qpos[0] == other.data.qpos[0] == pytest.approx(0.5, abs=1e-3)
