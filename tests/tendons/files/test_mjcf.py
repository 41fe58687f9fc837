"""MJCF: read as RaiSim reads it, real files among it, and written for MuJoCo alone."""

from __future__ import annotations

import importlib.util
import math
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Cylinder,
    Drive,
    JointTerm,
    Properties,
    Pulley,
    Site,
    Sphere,
    TendonWorld,
    Via,
    cylinder,
    via,
)
from tendon_gym.tendons.files import SceneWarning, import_spec, load_mjcf, open_scene, save_mjcf

BODIES = """<worldbody><body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom name="drum" type="cylinder" size=".1 .2" pos="0 .1 0" euler="90 0 0"/>
<geom name="ball" size=".05" pos=".3 0 0"/><geom name="box" type="box" size=".1 .1 .1"/>
<site name="s" pos=".3 .1 .4"/><body name="hand" pos=".5 0 0"><joint name="k" axis="0 1 0"/>
<geom size=".1"/></body></body>
<site name="s1" pos="0 2 1"/><site name="s2" pos="0 0 2"/></worldbody>"""


def spec_of(tendon="", rest="", options=""):
    return mujoco.MjSpec.from_string(
        f"<mujoco>{options}{BODIES}<tendon>{tendon}</tendon>{rest}</mujoco>"
    )


def fixed(attributes, inside='<joint joint="j" coef="2"/>'):
    return f'<fixed name="t" {attributes}>{inside}</fixed>'


def test_spatial_tendons_keep_their_routes():
    world = import_spec(
        spec_of(
            '<spatial name="t"><pulley divisor="3"/><site site="s1"/>'
            '<geom geom="drum" sidesite="s"/>'
            '<site site="s2"/><pulley divisor="2"/><site site="s"/><geom geom="ball"/>'
            '<site site="s1"/></spatial>'
        )
    )
    drum = world.tendons[0].path[2]
    assert isinstance(drum, Cylinder)
    assert (drum.center, drum.radius) == (Site("arm", (0.0, 0.1, 0.0)), 0.1)
    assert np.allclose(np.abs(drum.axis), [0.0, 1.0, 0.0], atol=1e-12)
    assert drum.side == Site("s", kind="site")
    assert world.tendons[0].path == (
        Pulley(3.0), Via(Site("s1", kind="site")), drum, Via(Site("s2", kind="site")), Pulley(2.0),
        Via(Site("s", kind="site")), Sphere(Site("arm", (0.3, 0.0, 0.0)), 0.05),
        Via(Site("s1", kind="site")),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", {}),
        ('stiffness="3" damping="2"', {"stiffness": 3.0, "damping": 2.0}),
        ('frictionloss=".3" armature=".2"', {"friction_loss": 0.3, "armature": 0.2}),
        ('springlength="-1"', {}),
        ('springlength="-1 -1"', {}),
        ('springlength=".5"', {"spring_lower": 0.5, "spring_upper": 0.5}),
        ('springlength=".5 2"', {"spring_lower": 0.5, "spring_upper": 2.0}),
        ('range="1 2"', {"lower_limit": 1.0, "upper_limit": 2.0}),
        ('range="1 2" limited="true" margin=".1"',
         {"lower_limit": 1.0, "upper_limit": 2.0, "limit_margin": 0.1}),
        ('range="1 2" limited="false"', {}),
        ('range="2 2"', {"lower_limit": 2.0, "upper_limit": 2.0}),
        ('actuatorfrcrange="-3 0"', {"actuation_lower": -3.0, "actuation_upper": 0.0}),
        ('actuatorfrcrange="-3 0" actuatorfrclimited="false"', {}),
    ],
)  # fmt: skip
def test_attributes_become_properties(attributes, expected):
    (tendon,) = import_spec(spec_of(fixed(attributes))).tendons
    looks = {"width": 0.003, "color": (0.5, 0.5, 0.5, 1.0)}  # MuJoCo's defaults
    assert tendon.properties == Properties(**{**looks, **expected})
    assert tendon.joints == (JointTerm("j", 2.0),)
    assert tendon.record.drive is None


def test_looks_are_kept():
    text = """<spatial name="t" width=".02" rgba=".1 .2 .3 .4"><site site="s1"/><site site="s2"/>
    </spatial>"""
    properties = import_spec(spec_of(text)).tendons[0].properties
    assert (properties.width, properties.color) == (0.02, (0.1, 0.2, 0.3, 0.4))


def test_defaults_and_classes_are_inherited():
    options = """<default><tendon damping="3"/><default class="stiff"><tendon stiffness="7"/>
    </default></default>"""
    world = import_spec(spec_of(fixed('class="stiff"'), options=options))
    assert world.tendons[0].properties.stiffness == 7.0
    assert world.tendons[0].properties.damping == 3.0


def test_the_reference_is_the_length_at_creation():
    world = import_spec(spec_of(fixed('springlength="-1" stiffness="1"')))
    assert world.tendons[0].reference_length == 0.0
    assert math.isnan(world.tendons[0].properties.spring_lower)


def test_equalities_become_couplings():
    tendons = fixed("") + '<fixed name="u"><joint joint="k" coef="1"/></fixed>'
    rest = """<equality><tendon name="c" tendon1="t" tendon2="u" polycoef="0 1 2 3 4"/>
    <tendon tendon1="u" active="false"/><joint joint1="j" joint2="k"/></equality>"""
    world = import_spec(spec_of(tendons, rest))
    both, one = world.couplings
    assert (both.name, both.first.name, both.second.name) == ("c", "t", "u")
    assert both.properties == CouplingProperties((0.0, 1.0, 2.0, 3.0, 4.0))
    assert (one.first.name, one.second, one.properties.enabled) == ("u", None, False)
    assert world.spec.equalities[0].type == mujoco.mjtEq.mjEQ_JOINT


def test_tendons_without_names_get_some():
    tendons = fixed("").replace('name="t"', "") + fixed("").replace('"t"', '"tendon_0"')
    assert [t.name for t in import_spec(spec_of(tendons)).tendons] == ["tendon_0_", "tendon_0"]


@pytest.mark.parametrize("name", ["solreflimit", "solimplimit", "solreffriction", "solimpfriction"])
def test_solver_parameters_of_tendons_are_told(name):
    value = "0.01 1" if "ref" in name else ".8 .9 .01"
    with pytest.warns(SceneWarning, match=f"tendon t: {name.replace('_', '')} is left out"):
        import_spec(spec_of(fixed(f'{name}="{value}"')))


def test_actuators_on_tendons_are_no_drives():
    rest = """<actuator><motor name="m" tendon="t"/><motor name="n" joint="j"/></actuator>
    <sensor><tendonpos name="p" tendon="t"/><actuatorfrc name="q" actuator="m"/>
    <jointpos name="r" joint="j"/></sensor><keyframe><key qpos="1 2" ctrl="1 2"/></keyframe>"""
    with pytest.warns(SceneWarning, match="on tendons are left out: p, q, m"):
        world = import_spec(spec_of(fixed(""), rest))
    model = world.model
    assert [model.actuator(k).name for k in range(model.nactuator)] == ["n"]
    assert [model.sensor(k).name for k in range(model.nsensor)] == ["r"]
    assert model.key_qpos.tolist() == [[1.0, 2.0]]


def test_higher_terms_are_told():
    with pytest.warns(SceneWarning, match="higher terms of stiffness, damping"):
        import_spec(spec_of(fixed('stiffness="1 2 3" damping="1 2"')))


@pytest.mark.parametrize(
    ("tendon", "words"),
    [
        (fixed('range="2 1"'), "tendon t: lower_limit must be at most"),
        (fixed('stiffness="-1"'), "tendon t: stiffness must be"),
        (fixed('springlength="2 1"'), "tendon t: spring_lower must be at most"),
        (fixed('frictionloss="-1"'), "tendon t: friction_loss must be"),
        (
            '<spatial name="t"><site site="s1"/><geom geom="box"/><site site="s2"/></spatial>',
            "tendon t: the guide box is neither sphere nor cylinder",
        ),
        (
            '<spatial name="t"><site site="s1"/><site site="none"/></spatial>',
            "tendon t: its path has something that the model hasn't",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tendon, words):
    with pytest.raises(ValueError, match=words):
        import_spec(spec_of(tendon))


def test_files_that_are_none_are_told(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        load_mjcf(tmp_path / "none.xml")
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><geom size='a'/></worldbody></mujoco>")
    with pytest.raises(ValueError, match="is no model that MuJoCo reads"):
        load_mjcf(tmp_path / "bad.xml")


def hands():
    found = importlib.util.find_spec("gymnasium_robotics")
    if found is None or found.origin is None:
        return Path("gymnasium_robotics_is_not_installed")
    return Path(found.origin).parent / "envs" / "assets"


@pytest.mark.skipif(not hands().is_dir(), reason="needs gymnasium-robotics")
@pytest.mark.parametrize("file", ["hand/reach.xml", "hand/manipulate_block.xml"])
def test_the_shadow_hand_has_the_lengths_that_mujoco_finds(file):
    world = load_mjcf(hands() / file)
    model = mujoco.MjModel.from_xml_path(str(hands() / file))
    assert len(world.tendons) == model.ntendon == 44
    assert [t.name for t in world.tendons] == [model.tendon(t).name for t in range(44)]
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    ids = [tendon.id for tendon in world.tendons]
    for _ in range(100):
        data.qpos[:] = rng.uniform(-2.0, 2.0, model.nq)
        mujoco.mj_forward(model, data)
        world.data.qpos[: model.nq] = data.qpos
        assert world.refresh().data.ten_length[ids].tolist() == data.ten_length.tolist()


@pytest.mark.skipif(not hands().is_dir(), reason="needs gymnasium-robotics")
def test_the_adroit_hand_is_read_whatever_its_defaults_are():
    """It has a default of `limited="true"` for tendons."""
    file = hands() / "adroit_hand" / "adroit_door.xml"
    world, model = load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    assert len(world.tendons) == model.ntendon > 0
    world.step(10)
    assert np.isfinite(world.data.qpos).all()


def test_scenes_are_opened_by_their_first_element(tmp_path):
    (tmp_path / "a.xml").write_text(f"<mujoco>{BODIES}<tendon>{fixed('')}</tendon></mujoco>")
    (tmp_path / "b.xml").write_text("<raisim/>")
    assert len(open_scene(tmp_path / "a.xml").tendons) == 1
    assert open_scene(tmp_path / "b.xml", limits="native").limits == "native"


# -- writing


def world_of(*, integrator="discrete"):
    """Return a world in which MJCF can say everything, with all kinds of parts."""
    world = TendonWorld(spec_of(options=f'<option integrator="{integrator}" timestep="0.001"/>'))
    path = [via(None, (0, 1, 2)), cylinder("arm", 0.1, (0, 1, 0), position=(0, 1, 0)),
            via("hand", (0.1, 0.2, 0.3))]  # fmt: skip
    world.add_spatial_tendon(
        "rope", path, Properties(stiffness=30.0, damping=1.0, friction_loss=0.2, width=0.01)
    )
    first = world.add_fixed_tendon(
        "first", [JointTerm("j", 2.0)],
        Properties(armature=0.1, actuation_lower=-9.0, actuation_upper=-1.0),
    )  # fmt: skip
    first.drive = Drive(force=-0.2)
    second = world.add_fixed_tendon(
        "second", [JointTerm("k", 1.0)],
        Properties(stiffness=2.0, spring_lower=-1.0, spring_upper=-1.0),
    )  # fmt: skip
    second.drive = Drive(force=-2.0, position_gain=3.0, velocity_gain=0.4, target_length=0.1)
    world.data.qpos[:] = 0.3, -0.2
    world.add_coupling(
        "tie", first, second, CouplingProperties((0.1, 0.4, 0.2, 0.1, 0.0), compliance=1e-4)
    )
    world.tendons[0].reference_length = 2.0
    second.reference_length = 0.3
    return world


def exported(world, path):
    save_mjcf(world, path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("state").id)
    return model, data


@pytest.mark.parametrize("integrator", ["discrete", "Euler", "implicitfast"])
def test_mujoco_alone_steps_what_was_written_the_same_way(integrator, tmp_path):
    """To 1e-6: without compliance MuJoCo's hardest rows give way by 1e-4, the world's by less."""
    world = world_of(integrator=integrator)
    model, data = exported(world, tmp_path / "scene.xml")
    assert data.qpos.tolist() == world.data.qpos.tolist()
    for _ in range(200):
        mujoco.mj_step(model, data)
    world.step(200)
    assert np.ptp(world.data.qpos) > 0.05
    assert np.allclose(data.qpos, world.data.qpos, rtol=0.0, atol=1e-6)


def test_a_lock_is_an_equality(tmp_path):
    world = TendonWorld(spec_of())
    world.add_fixed_tendon("t", [JointTerm("j", 2.0)], Properties(lower_limit=0.5, upper_limit=0.5))
    model, data = exported(world, tmp_path / "scene.xml")
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.ten_length[0] == pytest.approx(0.5, abs=1e-3)


WARNINGS = {
    "don't look ahead": {"lower_limit": -1.0, "upper_limit": 1.0},
    "infinite end of its limit interval": {"upper_limit": 1.0},
    "infinite end of its spring interval": {"spring_lower": -math.inf, "spring_upper": 0.0},
    "infinite end of its actuation interval": {"actuation_upper": 0.0},
    "1e-12 apart": {"actuation_lower": -2.0, "actuation_upper": -2.0},
    "cut to MuJoCo's greatest": {"friction_loss": 1.0, "friction_compliance": 1e3},
}


@pytest.mark.parametrize("words", WARNINGS)
def test_what_mjcf_cannot_say_is_told(words, tmp_path):
    world = TendonWorld(spec_of())
    tendon = world.add_fixed_tendon("t", [JointTerm("j", 2.0)], Properties(**WARNINGS[words]))
    tendon.drive = Drive(force=-2.0)
    with pytest.warns(SceneWarning) as caught:
        exported(world, tmp_path / "scene.xml")
    said = [str(each.message) for each in caught]
    assert sum(words in each for each in said) == 1
    assert len(said) == (2 if words.startswith("infinite end of its limit") else 1)


def test_what_mjcf_cannot_say_of_the_rest_is_told(tmp_path):
    world = TendonWorld(spec_of())
    terms = [JointTerm("j", 2.0), JointTerm("j", 1.0)]
    tendon = world.add_fixed_tendon("t", terms, Properties(stiffness=3.0))
    tendon.drive = Drive(force=-2.0, activation_time=0.1)
    tendon.enabled = False
    with pytest.warns(SceneWarning) as caught:
        model, _ = exported(world, tmp_path / "scene.xml")
    said = " ".join(str(each.message) for each in caught)
    for words in ("is disabled", "repeated joints are summed", "activation time is left out"):
        assert words in said
    assert model.tendon_stiffness[0] == 0.0 and model.wrap_prm[0] == 3.0


def test_of_a_servo_the_bounds_are_told(tmp_path):
    world = TendonWorld(spec_of())
    bounds = Properties(actuation_lower=-2.0, actuation_upper=1.0)
    tendon = world.add_fixed_tendon("t", [JointTerm("j")], bounds)
    tendon.drive = Drive(target_length=1.0, velocity_gain=3.0)
    with pytest.warns(SceneWarning, match="bounds of its servo are those of the force at a step"):
        exported(world, tmp_path / "scene.xml")


def test_parameters_of_what_is_not_there_are_not_written(tmp_path):
    """They would be told of as left out when the file is read."""
    world = TendonWorld(spec_of())
    world.add_fixed_tendon("t", [JointTerm("j")], Properties(stiffness=2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_mjcf(world, tmp_path / "scene.xml")
        again = load_mjcf(tmp_path / "scene.xml")
    assert again.tendons[0].properties.stiffness == 2.0


def test_native_limits_are_told_only_of_infinite_ends(tmp_path):
    world = TendonWorld(spec_of(), limits="native")
    world.add_fixed_tendon("t", [JointTerm("j")], Properties(lower_limit=-1.0, upper_limit=1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, _ = exported(world, tmp_path / "scene.xml")
    assert model.tendon_range[0].tolist() == [-1.0, 1.0]


def test_what_was_written_can_be_read_as_a_world(tmp_path):
    save_mjcf(world_of(), tmp_path / "scene.xml")
    with pytest.warns(SceneWarning):
        again = load_mjcf(tmp_path / "scene.xml")
    assert [t.name for t in again.tendons] == ["rope", "first", "second"]
