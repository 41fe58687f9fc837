"""The world: names, handles, removal, rebuilding, enabling, states."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Drive,
    JointTerm,
    Properties,
    Site,
    TendonWorld,
    Via,
    cylinder,
    via,
)
from tests.tendons.scenes import add_ball, empty, hanging, sliders

PATH = [via(None, (0, 0, 2)), via("load")]


def pair(**arguments):
    world = sliders(1.0, 1.0, **arguments)
    tendons = [world.add_fixed_tendon(f"t_{k}", [JointTerm(f"slide_{k}")]) for k in range(2)]
    return world, *tendons


def test_finding_things():
    world, a, b = pair()
    coupling = world.add_coupling("c", a, b)
    assert world.tendons == (a, b) and world.couplings == (coupling,)
    assert world.get_tendon("t_0") is a and world.get_tendon("x") is None
    assert world.get_coupling("c") is coupling and world.get_coupling("x") is None
    assert coupling.first is a and coupling.second is b and coupling.name == "c"
    assert a.id == 0 and b.id == 1 and world.model.tendon(1).name == "t_1"


def test_an_empty_world_has_the_discrete_integrator():
    world = TendonWorld()
    assert world.model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    world.step()


def test_the_users_spec_is_not_changed():
    spec = empty()
    add_ball(spec, "load", [0, 0, 1])
    before = spec.to_xml()
    world = TendonWorld(spec)
    world.add_spatial_tendon("t", PATH)
    world.step()
    assert spec.to_xml() == before and world.spec.to_xml() == before


def test_names():
    world, a, b = pair()
    world.add_coupling("c", a, b)
    a.name = "first"
    assert world.get_tendon("first") is a and world.get_tendon("t_0") is None
    assert world.model.tendon(0).name == "first"
    world.step()
    for bad in ("first", ""):
        with pytest.raises(ValueError, match="name"):
            b.name = bad
        with pytest.raises(ValueError, match="name"):
            world.add_fixed_tendon(bad, [JointTerm("slide_0")])
    with pytest.raises(TypeError, match="name"):
        b.name = 3
    with pytest.raises(ValueError, match="coupling"):
        world.add_coupling("c", a, b)
    assert [tendon.name for tendon in world.tendons] == ["first", "t_1"]


def test_names_of_the_models_own_tendons_are_taken():
    spec = empty()
    add_ball(spec, "load", [0, 0, 1])
    spec.body("load").add_site(name="s")
    own = spec.add_tendon(name="own")
    spec.worldbody.add_site(name="w", pos=[0, 0, 2])
    own.wrap_site("w")
    own.wrap_site("s")
    own.stiffness[0] = 10.0
    world = TendonWorld(spec)
    with pytest.raises(ValueError, match="own"):
        world.add_spatial_tendon("own", PATH)
    tendon = world.add_spatial_tendon("t", PATH, Properties(upper_limit=1.0))
    assert tendon.id == 1 and world.tendons == (tendon,)
    world.data.qvel[2] = -1.0
    world.step(5)
    assert tendon.length == pytest.approx(1.0, abs=1e-9)
    assert world.model.tendon_stiffness[0] == 10.0


def test_terms_that_cancel_leave_nothing():
    """0.1 + 0.2 - 0.3 is 2.8e-17 in floats: a limit there would pull with all forces there are."""
    world = sliders(1.0, 1.0)
    terms = [JointTerm("slide_0", c) for c in (0.1, 0.2, -0.3)]
    tendon = world.add_fixed_tendon("t", terms, Properties(upper_limit=-0.0))
    world.data.qpos[:], world.data.qvel[:] = 5.0, 3.0
    world.step(10)
    assert tendon.length == 0.0 and tendon.joints == tuple(terms)
    assert world.data.qvel[0] == 3.0


def test_removing_a_tendon_takes_its_couplings_along():
    world, a, b = pair()
    c = world.add_fixed_tendon("t_2", [JointTerm("slide_0"), JointTerm("slide_1")])
    first, second = world.add_coupling("ab", a, b), world.add_coupling("bc", b, c)
    world.step()
    world.remove_tendon(a)
    assert world.tendons == (b, c) and world.couplings == (second,)
    assert a.removed and first.removed and not second.removed
    for read in (lambda: a.length, lambda: a.force, lambda: first.force):
        with pytest.raises(ValueError, match="removed"):
            read()
    with pytest.raises(ValueError, match="none of this world"):
        world.remove_tendon(a)
    with pytest.raises(ValueError, match="none of this world"):
        world.remove_coupling(first)
    world.remove_coupling(second)
    assert world.couplings == () and world.model.neq == 0
    world.step()


def test_removing_a_body_takes_all_along_that_holds_on_to_it():
    spec = empty()
    for k, x in enumerate((0.0, 1.0, 2.0)):
        add_ball(spec, f"b_{k}", [x, 0, 1])
    child = spec.body("b_1").add_body(name="child", pos=[0, 0, 0.1])
    child.add_joint(name="hinge", axis=[0, 1, 0])
    child.add_geom(size=[0.02, 0, 0], pos=[0.1, 0, 0], mass=0.1)
    child.add_site(name="mark")
    motor = spec.add_actuator(name="motor", target="b_2")
    motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    world = TendonWorld(spec)
    kept = world.add_spatial_tendon("kept", [via("b_0"), via("b_2")], Properties(stiffness=5.0))
    gone = [
        world.add_spatial_tendon("path", [via("b_0"), via("child")]),
        world.add_spatial_tendon("mark", [via("b_0"), Via(Site("mark", kind="site"))]),
        world.add_spatial_tendon("guide", [via("b_0"), cylinder("b_1", 0.1), via("b_2")]),
        world.add_fixed_tendon("joint", [JointTerm("hinge")]),
    ]
    coupling = world.add_coupling("c", kept, gone[0])
    rng = np.random.default_rng(0)
    world.data.qvel[:] = rng.normal(size=world.model.nv)
    world.data.ctrl[:] = 0.7
    world.step(20)
    states = {name: (world.data.joint(name).qpos.copy(), world.data.joint(name).qvel.copy())
              for name in ("b_0", "b_2")}  # fmt: skip
    time, length, reference = world.data.time, kept.length, kept.reference_length
    world.remove_body("b_1")
    assert world.tendons == (kept,) and world.couplings == ()
    assert all(each.removed for each in (*gone, coupling))
    for name, (qpos, qvel) in states.items():
        assert np.array_equal(world.data.joint(name).qpos, qpos)
        assert np.array_equal(world.data.joint(name).qvel, qvel)
    assert (world.data.time, kept.length, kept.reference_length) == (time, length, reference)
    assert world.data.ctrl.tolist() == [0.7] and world.model.nbody == 3
    world.remove_body("b_2")
    assert world.tendons == ()
    assert np.array_equal(world.data.joint("b_0").qvel, states["b_0"][1])
    for bad in ("b_1", "world", "x"):
        with pytest.raises(ValueError, match="body"):
            world.remove_body(bad)


def test_things_of_another_world_are_refused():
    world, a, _ = pair()
    other, x, y = pair()
    for action in (
        lambda: world.add_coupling("c", a, x),
        lambda: world.add_coupling("c", x, a),
        lambda: world.remove_tendon(x),
        lambda: world.remove_coupling(other.add_coupling("c", x, y)),
    ):
        with pytest.raises(ValueError, match="none of this world"):
            action()
    with pytest.raises(ValueError, match="both"):
        world.add_coupling("c", a, a)
    for action in (
        lambda: world.add_coupling("c", "t_0"),
        lambda: world.add_coupling("c", a, "t_1"),
        lambda: world.add_coupling("c", a, None, Properties()),
        lambda: world.remove_tendon("t_0"),
        lambda: world.add_fixed_tendon("x", [JointTerm("slide_0")], {"stiffness": 1.0}),
        lambda: setattr(a, "properties", Drive()),
        lambda: setattr(a, "drive", Properties()),
        lambda: setattr(a, "enabled", 1),
        lambda: TendonWorld("model.xml"),
    ):
        with pytest.raises(TypeError):
            action()
    assert world.couplings == ()


def test_unknown_objects_are_refused_and_the_legal_ones_named():
    world = hanging()
    cases = [
        (lambda: world.add_spatial_tendon("t", [via(None), via("loud")]), r"path\[1\].*load"),
        (lambda: world.add_spatial_tendon("t", [Via(Site("s", kind="site")), via("load")]), "site"),
        (lambda: world.add_spatial_tendon("t", [Via(Site("s", kind="frame")), via(None)]), "frame"),
        (lambda: world.add_spatial_tendon("t", [Via(Site("s", kind="flex")), via(None)]), "flex"),
        (lambda: world.add_fixed_tendon("t", [JointTerm("x")]), "hinge or slide"),
        (lambda: world.add_fixed_tendon("t", [JointTerm("load")]), "hinge or slide"),  # free
    ]
    for action, words in cases:
        with pytest.raises(ValueError, match=f"tendon t.*{words}"):
            action()
    assert world.tendons == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda spec: setattr(spec.option, "integrator", mujoco.mjtIntegrator.mjINT_RK4), "RK4"),
        (lambda spec: setattr(spec.option, "enableflags", mujoco.mjtEnableBit.mjENBL_DIAGEXACT),
         "diagexact"),
        (lambda spec: spec.worldbody.add_site(name="tendon:0:0"), "tendon:"),
    ],
)  # fmt: skip
def test_models_whose_rows_would_not_hold_are_refused(change, words):
    spec = empty()
    change(spec)
    with pytest.raises(ValueError, match=words):
        TendonWorld(spec)
    with pytest.raises(ValueError, match="limits"):
        TendonWorld(limits="soft")


def test_sites_frames_and_flexes_stand_for_their_bodies():
    spec = mujoco.MjSpec.from_string("""
        <mujoco><worldbody>
          <frame name="outer" pos="0 0 1" euler="90 0 0"><frame name="inner" pos="1 0 0">
            <body name="load" pos="0 1 0"><freejoint/><geom size=".1"/>
              <site name="mark" pos=".1 .2 .3" euler="0 90 0"/>
              <frame name="local" pos="0 0 .5" euler="0 0 90"/></body></frame></frame>
          <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01"
                    pos="0 0 2"><edge equality="true"/></flexcomp>
        </worldbody></mujoco>""")
    world = TendonWorld(spec)
    places = {
        "site": Site("mark", (0.4, 0, 0), kind="site"),
        "local": Site("local", (1, 0, 0), kind="frame"),
        "outer": Site("outer", (0, 0, 1), kind="frame"),
        "inner": Site("inner", (0, 1, 0), kind="frame"),
        "flex": Site("cloth", (0, 0, 0.1), kind="flex", vertex=4),
    }
    tendons = {
        name: world.add_spatial_tendon(name, [via(None), Via(site)])
        for name, site in places.items()
    }
    data, model = world.data, world.model
    frame = data.xmat[model.body("load").id].reshape(3, 3)
    origin = data.xpos[model.body("load").id]
    vertex = model.flex_vertbodyid[4]
    expected = {
        "site": origin + frame @ [0.1, 0.2, 0.3 - 0.4],
        "local": origin + frame @ [0.0, 1.0, 0.5],
        "outer": np.array([0, -1, 1.0]),
        "inner": np.array([1.0, 0, 2.0]),
        "flex": data.xpos[vertex] + [0, 0, 0.1],
    }
    for name, tendon in tendons.items():
        end = tendon.point_gradients[-1]
        assert end.position == pytest.approx(expected[name], abs=1e-9), name
    assert tendons["site"].point_gradients[-1].site.name == "load"
    assert tendons["flex"].point_gradients[-1].site.name == model.body(vertex).name
    with pytest.raises(ValueError, match="vertex of the flex cloth"):
        world.add_spatial_tendon("t", [via(None), Via(Site("cloth", kind="flex", vertex=9))])


def test_a_flex_is_pulled_at_a_vertex():
    spec = mujoco.MjSpec.from_string("""
        <mujoco><option gravity="0 0 0" integrator="discrete"/><worldbody>
          <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01">
            <edge equality="true"/></flexcomp>
        </worldbody></mujoco>""")
    world = TendonWorld(spec)
    path = [via(None, (0, 0, 1)), Via(Site("cloth", kind="flex", vertex=4))]
    world.add_spatial_tendon("t", path).set_tension(1.0)
    world.step(5)
    assert world.data.flexvert_xpos[4, 2] > 1e-5 > abs(world.data.flexvert_xpos[0, 2])


def test_rebuilding_keeps_the_state_of_everything_else():
    spec = empty(gravity=-9.81)
    add_ball(spec, "a", [0, 0, 1])
    mocap = spec.worldbody.add_body(name="mocap", mocap=True)
    mocap.add_geom(size=[0.1, 0, 0], contype=0, conaffinity=0)
    add_ball(spec, "b", [1, 0, 1], joint="slide")
    cylinder_act = spec.add_actuator(name="act", target="b")
    cylinder_act.trntype = mujoco.mjtTrn.mjTRN_JOINT
    cylinder_act.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
    world = TendonWorld(spec)
    over = cylinder(None, 0.2, (0, 1, 0), position=(0.5, 0, 2))
    first = world.add_spatial_tendon(
        "first", [via("a"), over, via("b")], Properties(stiffness=20.0, armature=0.3)
    )
    first.drive = Drive(force=-1.0, activation_time=0.1)
    world.data.mocap_pos[0] = 1.0, 2.0, 3.0
    world.data.xfrc_applied[world.model.body("b").id, 2] = 4.0
    world.data.ctrl[0] = 0.5
    world.step(30)
    data, rotor = world.data, world.data.joint("tendon:rotor:first").qvel[0]
    names = ("a", "b")
    before = {name: np.concatenate([data.joint(name).qpos, data.joint(name).qvel])
              for name in names}  # fmt: skip
    kept = (data.time, data.act.tolist(), data.ctrl[0], first.activation, first.reference_length)
    force, velocity = first.force, first.velocity
    assert force != 0.0 and rotor == pytest.approx(velocity, rel=1e-2)
    second = world.add_spatial_tendon("second", [via(None, (1, 0, 2)), via("b")])
    data = world.data
    for name in names:
        now = np.concatenate([data.joint(name).qpos, data.joint(name).qvel])
        assert np.array_equal(now, before[name])
    now = (data.time, data.act.tolist(), data.ctrl[0], first.activation, first.reference_length)
    assert now == kept
    assert data.mocap_pos[0].tolist() == [1.0, 2.0, 3.0]
    assert data.xfrc_applied[world.model.body("b").id, 2] == 4.0
    assert data.joint("tendon:rotor:first").qvel[0] == pytest.approx(velocity, abs=1e-9)
    assert second.reference_length == pytest.approx(second.length)
    assert first.velocity == pytest.approx(velocity, abs=1e-12)


def test_a_run_is_the_same_with_a_tendon_that_does_nothing_added_midway():
    runs = []
    for added in (False, True):
        world = hanging(gravity=-9.81)
        tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, upper_limit=1.1))
        tendon.drive = Drive(force=-2.0, activation_time=0.2)
        world.data.qvel[0] = 1.0
        world.step(50)
        if added:
            world.add_spatial_tendon("idle", [via(None), via("load", (0.1, 0, 0))])
        world.step(100)
        runs.append((world.data.qpos.copy(), tendon.activation))
    assert runs[0][0] == pytest.approx(runs[1][0], abs=1e-12)
    assert runs[0][1] == runs[1][1]


def test_setters_of_the_drive_touch_nothing_else():
    world = hanging()
    tendon = world.add_spatial_tendon("t", PATH)
    assert tendon.drive == Drive()
    drive = Drive(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    tendon.drive = drive
    tendon.set_actuation_force(7.0)
    assert tendon.drive == dataclasses.replace(drive, force=7.0)
    tendon.set_tension(8.0)
    assert tendon.drive == dataclasses.replace(drive, force=-8.0)
    tendon.drive = Drive(force=1.0)
    assert tendon.drive == Drive(force=1.0)
    for bad in (float("nan"), float("inf")):
        for setter in (tendon.set_actuation_force, tendon.set_tension):
            with pytest.raises(ValueError, match="t: "):
                setter(bad)
    assert tendon.drive == Drive(force=1.0)


def test_gains_can_change_while_running():
    world = hanging()
    tendon = world.add_spatial_tendon("t", PATH)
    tendon.drive = Drive(target_length=0.5, position_gain=10.0)
    model = world.model
    world.step()
    tendon.drive = Drive(target_length=0.5, position_gain=13.0)
    world.step()
    assert world.model is model
    assert tendon.forces.actuator == pytest.approx(13.0 * (0.5 - 1.0), rel=1e-3)


def test_a_disabled_tendon_does_nothing_and_keeps_its_activation():
    world = hanging(gravity=-9.81)
    tendon = world.add_spatial_tendon(
        "t", PATH,
        Properties(stiffness=500.0, spring_lower=0.5, spring_upper=0.5, damping=3.0,
                   friction_loss=2.0, armature=1.0, upper_limit=1.0, actuation_upper=-0.5),
    )  # fmt: skip
    tendon.drive = Drive(force=-3.0, activation_time=0.1, position_gain=5.0)
    world.step(20)
    activation = tendon.activation
    assert activation < -0.1
    tendon.enabled = False
    before = world.data.qvel.copy()
    world.step(40)
    assert world.data.qvel[2] - before[2] == pytest.approx(-9.81 * 0.04, rel=1e-9)
    assert tendon.activation == activation and tendon.force == 0.0
    tendon.enabled = True
    world.step()
    assert tendon.activation < activation and tendon.force < -100.0


@pytest.mark.parametrize("kind", ["lock", "rotor"])
def test_disabled_locks_and_rotors(kind):
    world = hanging(gravity=-9.81, joint="slide", height=-1.0)
    if kind == "lock":
        locked = Properties(lower_limit=1.0, upper_limit=1.0)
        tendon = world.add_spatial_tendon("t", [via(None), via("load")], locked)
    else:
        path = [via(None, (-0.2, 0, -1)), cylinder(None, 0.1, (0, 1, 0)), via("load")]
        tendon = world.add_spatial_tendon("t", path, Properties(armature=50.0))
    tendon.enabled = False
    world.step(100)
    assert world.data.joint("load").qvel[0] == pytest.approx(-0.981, rel=1e-9)
    tendon.enabled = True
    velocity = tendon.velocity
    world.step(1)
    if kind == "rotor":  # it takes part with the speed that the tendon has
        assert tendon.velocity == pytest.approx(velocity, rel=5e-2)
    else:
        world.step(100)
        assert tendon.length == pytest.approx(1.0, abs=1e-6)


def test_a_state_goes_on_exactly():
    world = hanging(gravity=-9.81)
    tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, upper_limit=1.1))
    other = world.add_spatial_tendon(
        "u", [via(None, (1, 0, 1)), via("load")], Properties(damping=1)
    )
    coupling = world.add_coupling("c", tendon, other, CouplingProperties(enabled=False))
    tendon.drive = Drive(force=-2.0, activation_time=0.2)
    world.data.qvel[:] = 0.3, -0.2, -0.5, 1.0, 2.0, 3.0
    world.step(100)
    state = world.get_state()
    world.step(200)
    expected = world.data.qpos.copy(), world.data.qvel.copy(), tendon.activation
    tendon.enabled = False
    other.reference_length = 3.0
    coupling.properties = CouplingProperties()
    world.step(10)
    world.set_state(state)
    assert tendon.enabled and not coupling.properties.enabled
    assert other.reference_length != 3.0
    world.step(200)
    assert np.array_equal(world.data.qpos, expected[0])
    assert np.array_equal(world.data.qvel, expected[1])
    assert tendon.activation == expected[2]
    empty_world = hanging()
    with pytest.raises(ValueError, match="state"):
        empty_world.set_state(state)


def test_reading_does_not_change_the_run():
    runs = []
    for reads in (False, True):
        world = hanging(gravity=-9.81)
        tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, upper_limit=1.1))
        world.data.qvel[:3] = 0.3, -0.2, -2.0
        for _ in range(200):
            world.step()
            if reads:
                _ = tendon.length, tendon.force, tendon.point_gradients, tendon.visual_segments
        runs.append(world.data.qpos.copy())
    assert np.array_equal(*runs)


def test_forces_survive_a_look_at_the_present_length():
    world = hanging(gravity=-9.81, joint="slide")
    tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, damping=5.0))
    world.step(10)
    before = tendon.length
    force = tendon.force
    assert tendon.length == before and tendon.force == force != 0.0


def test_looks_reach_the_model():
    world = hanging()
    looks = Properties(width=0.02, color=(0.1, 0.2, 0.3, 0.4))
    tendon = world.add_spatial_tendon("t", PATH, looks)
    assert world.model.tendon_width[0] == 0.02
    assert world.model.tendon_rgba[0] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    tendon.properties = Properties()
    assert world.model.tendon_width[0] == 0.004
    assert world.model.tendon_rgba[0] == pytest.approx([0.9, 0.35, 0.08, 1.0])


def test_guides_touch_nothing_and_weigh_nothing():
    world = hanging(gravity=-9.81)
    mass = world.model.body_mass.sum()
    path = [via(None, (0, 0, 2)), cylinder("load", 0.9), via(None, (0.1, 0, 3))]
    world.add_spatial_tendon("t", path)
    assert world.model.body_mass.sum() == mass
    world.step(10)
    assert world.data.ncon == 0
    hit = mujoco.mj_ray(
        world.model, world.data, np.array([2.0, 0.0, 1.0]), np.array([-1.0, 0, 0]), None, 1, -1,
        np.zeros(1, np.int32),
    )  # fmt: skip
    assert hit > 1.5  # the ball of 5 cm, not the guide of 90


def test_a_change_of_properties_keeps_the_last_steps_forces():
    world = hanging(gravity=-9.81, joint="slide")
    tendon = world.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, damping=5.0))
    world.step(10)
    expected = world.add_fixed_tendon("u", [JointTerm("load")])  # compiled anew: nothing carried
    assert expected.force == 0.0 and tendon.force == 0.0
    world.step()
    twin = hanging(gravity=-9.81, joint="slide")
    other = twin.add_spatial_tendon("t", PATH, Properties(stiffness=50.0, damping=5.0))
    twin.step(11)
    tendon.properties = Properties()
    assert tendon.force == pytest.approx(other.force, rel=1e-9)
    world.step()
    assert tendon.force == 0.0


def test_keyframes_stay_and_are_widened():
    spec = empty(gravity=-9.81)
    add_ball(spec, "load", [0, 0, 1], joint="slide")
    add_ball(spec, "other", [1, 0, 1], joint="slide")
    spec.add_key(name="up", qpos=[0.5, 0.1], qvel=[1.0, 2.0])
    world = TendonWorld(spec)
    path = [
        via(None, (-0.2, 0, -1)),
        cylinder(None, 0.1, (0, 1, 0), position=(0, 0, 0)),
        via("load"),
    ]
    tendon = world.add_spatial_tendon("t", path, Properties(armature=1.0))
    tendon.set_tension(1.0)
    assert world.model.key("up").qpos.tolist() == [0.5, 0.1, 0.0]
    assert world.model.key("up").qvel.tolist() == [1.0, 2.0, 0.0]
    world.remove_body("other")
    assert world.model.nkey == 0


def test_the_links_of_a_urdf_keep_their_names():
    world = TendonWorld.from_string("""
        <robot name="r"><link name="base"/>
          <link name="moving"><inertial><mass value="1"/>
            <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
          <link name="tip"><inertial><mass value=".1"/>
            <inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
          <joint name="slide" type="prismatic"><parent link="base"/><child link="moving"/>
            <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
          <joint name="fixed" type="fixed"><parent link="moving"/><child link="tip"/>
            <origin xyz="0 0 .5"/></joint></robot>""")
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 2)), via("tip")])
    combined = world.add_fixed_tendon("f", [JointTerm("slide", 2.0)])
    assert tendon.length == pytest.approx(1.5)
    world.data.joint("slide").qpos[0] = 0.25
    assert (tendon.length, combined.length) == pytest.approx((1.25, 0.5))


def test_a_model_that_would_lose_a_tendon_is_refused():
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><site name='a'/><body><joint type='slide'/><geom size='.1'/>"
        "<site name='b' pos='0 0 1'/></body></worldbody></mujoco>"
    )
    for name, other in (("good", "b"), ("bad", "nowhere")):
        tendon = spec.add_tendon(name=name)
        tendon.wrap_site("a")
        tendon.wrap_site(other)
    with pytest.raises(ValueError, match="tendon 'bad'"):
        TendonWorld(spec)
