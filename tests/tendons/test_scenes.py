"""Whole scenes at random, number and kind of elements included: valid ones, and with one fault."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
)
from tests.tendons.scenes import INTEGRATORS, add_ball, empty
from tests.tendons.test_properties import COUPLING, DRIVE, PROPERTIES

INF, NAN = math.inf, math.nan
SETTINGS = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
BAD_NUMBERS = (NAN, INF, -INF)


def floats(low, high):
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


points = st.tuples(*[floats(-1.0, 1.0)] * 3)


def intervals(low, high):
    """Draw ordered ends, that may be equal, or open outwards."""
    return st.tuples(floats(low, high), floats(low, high), st.booleans(), st.booleans()).map(
        lambda t: (-INF if t[2] else min(t[:2]), INF if t[3] else max(t[:2]))
    )


@st.composite
def properties(draw):
    names = ("damping", "friction_loss", "armature")
    values = {name: draw(floats(0.0, 1.0)) for name in names if draw(st.booleans())}
    values["limit_margin"] = draw(floats(0.0, 0.01))
    if draw(st.booleans()):
        values["stiffness"] = draw(floats(0.0, 1e3))
    for name in ("limit_compliance", "friction_compliance"):
        if draw(st.booleans()):
            values[name] = 10.0 ** draw(floats(-9.0, -1.0))
    for ends, low, high in (
        (("spring_lower", "spring_upper"), -2.0, 4.0),
        (("actuation_lower", "actuation_upper"), -5.0, 5.0),
    ):
        if draw(st.booleans()):
            values.update(zip(ends, draw(intervals(low, high)), strict=True))
    if draw(st.booleans()):
        values.update(draw(limits()))
    values["position_correction"] = draw(floats(0.0, 1.0))
    return values


@st.composite
def limits(draw):
    """Draw limits relative to the length: violated by a centimetre at most, or a lock."""
    kind = draw(st.sampled_from(["lock", "lower", "upper", "both"]))
    lower, upper = draw(floats(-0.5, 0.01)), draw(floats(-0.01, 0.5))
    if kind == "lock":
        return {"lower_limit": upper / 50.0, "upper_limit": upper / 50.0}
    ends = {"lower_limit": min(lower, upper), "upper_limit": max(lower, upper)}
    return {name: end for name, end in ends.items() if kind in ("both", name[:5])}


drives = st.fixed_dictionaries(
    {},
    optional={
        "force": floats(-5.0, 5.0),
        "target_length": floats(-2.0, 4.0),
        "target_velocity": floats(-1.0, 1.0),
        "position_gain": floats(0.0, 100.0),
        "velocity_gain": floats(0.0, 10.0),
        "activation_time": floats(0.0, 1.0),
    },
)


@st.composite
def sites(draw, bodies):
    return {"name": draw(st.sampled_from([None, *bodies])), "position": draw(points)}


@st.composite
def branches(draw, bodies):
    """Draw a branch: sites, at least two, with a guide between some of them."""
    branch = [("via", draw(sites(bodies)))]
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 2)) == 0:
            guide = {"center": draw(sites(bodies)), "radius": draw(floats(0.01, 0.5))}
            if draw(st.booleans()):
                guide["side"] = draw(sites(bodies))
            kind = draw(st.sampled_from(["sphere", "cylinder"]))
            if kind == "cylinder":
                axis = draw(points.filter(lambda a: max(map(abs, a)) > 0.0))
                guide["axis"] = axis
            branch.append((kind, guide))
        branch.append(("via", draw(sites(bodies))))
    return branch


@st.composite
def tendons(draw, bodies, joints):
    made = {"properties": draw(properties()), "enabled": draw(st.booleans())}
    made["drive"] = draw(st.none() | drives)
    if joints and draw(st.booleans()):
        coefficients = floats(-3.0, 3.0).filter(lambda c: c == 0.0 or abs(c) >= 1e-6)
        terms = st.tuples(st.sampled_from(joints), coefficients)
        made["terms"] = draw(st.lists(terms, min_size=1, max_size=5))
        return made
    path = [("pulley", draw(floats(0.1, 5.0)))] if draw(st.booleans()) else []
    for k in range(draw(st.integers(1, 3))):
        if k:
            path.append(("pulley", draw(floats(0.1, 5.0))))
        path += draw(branches(bodies))
    made["path"] = path
    return made


@st.composite
def scenes(draw):
    kinds = draw(st.lists(st.sampled_from(["free", "slide"]), min_size=1, max_size=4))
    bodies = [f"b_{k}" for k in range(len(kinds))]
    joints = [body for body, kind in zip(bodies, kinds, strict=True) if kind == "slide"]
    made = draw(st.lists(tendons(bodies, joints), min_size=1, max_size=4))
    couplings = []
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, len(made) - 1))
        second = draw(st.none() | st.integers(0, len(made) - 1))
        if first != second:
            values = {
                "coefficients": draw(st.tuples(floats(-0.01, 0.01), *[floats(-1.0, 1.0)] * 4)),
                "compliance": draw(st.sampled_from([0.0, 1e-6, 1e-3])),
                "position_correction": draw(floats(0.0, 1.0)),
                "enabled": draw(st.booleans()),
            }
            couplings.append({"first": first, "second": second, "properties": values})
    integrator = draw(st.sampled_from(list(INTEGRATORS)))
    limits = draw(st.sampled_from(["predictive", "native"]))
    return {
        "kinds": kinds, "tendons": made, "couplings": couplings, "integrator": integrator,
        "limits": limits,
    }  # fmt: skip


def make_site(values):
    return Site(**values)


def make_element(kind, values):
    if kind == "via":
        return Via(make_site(values))
    if kind == "pulley":
        return Pulley(values)
    if kind not in ("sphere", "cylinder"):
        return values
    places = {name: make_site(values[name]) for name in ("center", "side") if name in values}
    others = {name: value for name, value in values.items() if name not in places}
    return (Sphere if kind == "sphere" else Cylinder)(**places, **others)


def empty_world(scene):
    spec = empty(gravity=-9.81, h=1e-3, integrator=scene["integrator"])
    for k, kind in enumerate(scene["kinds"]):
        place = [0.7 * k, 0.1, 1.0]  # and so large that no force spins it beyond all measure
        add_ball(spec, f"b_{k}", place, mass=0.5 + k, joint=kind, radius=0.5)
    return TendonWorld(spec, limits=scene["limits"])


def add_tendon(world, k, values):
    name, wanted = values.get("name", f"t_{k}"), Properties(**values["properties"])
    made = dataclasses.replace(wanted, lower_limit=-INF, upper_limit=INF)
    if "terms" in values:
        tendon = world.add_fixed_tendon(name, [JointTerm(*term) for term in values["terms"]], made)
    else:
        path = [make_element(*element) for element in values["path"]]
        tendon = world.add_spatial_tendon(name, path, made)
    length = tendon.length
    tendon.properties = dataclasses.replace(
        wanted, lower_limit=length + wanted.lower_limit, upper_limit=length + wanted.upper_limit
    )
    if values["drive"] is not None:
        tendon.drive = Drive(**values["drive"])
    tendon.enabled = values["enabled"]


def add_coupling(world, k, values):
    ends = [None if i is None else world.tendons[i] for i in (values["first"], values["second"])]
    made = CouplingProperties(**values["properties"])
    world.add_coupling(values.get("name", f"c_{k}"), *ends, made)


def sound(world):
    """Check that a world steps, and that no number in its model is one that it must not be."""
    model = world.model
    for _ in range(3):
        world.step()
    assert np.isfinite(world.data.qpos).all() and np.isfinite(world.data.qvel).all()
    assert not world.data.warning.number.any()
    for name in ("tendon_stiffness", "tendon_damping", "tendon_frictionloss", "tendon_armature",
                 "tendon_length0", "tendon_solref_lim", "tendon_solimp_lim", "wrap_prm",
                 "eq_data", "eq_solref", "actuator_biasprm"):  # fmt: skip
        assert np.isfinite(getattr(model, name)).all(), name
    for name in ("tendon_range", "tendon_lengthspring", "actuator_forcerange"):
        assert not np.isnan(getattr(model, name)).any(), name


@SETTINGS
@given(scenes())
def test_valid_scenes_are_made_as_described_and_step(scene):
    world = empty_world(scene)
    for k, values in enumerate(scene["tendons"]):
        add_tendon(world, k, values)
    for k, values in enumerate(scene["couplings"]):
        add_coupling(world, k, values)
    sound(world)
    model = world.model
    assert len(world.tendons) == len(scene["tendons"])
    assert len(world.couplings) == len(scene["couplings"])
    driven = sum(values["drive"] is not None for values in scene["tendons"])
    assert model.nactuator == driven
    for tendon in world.tendons:
        assert model.tendon(tendon.id).name == tendon.name
        assert np.isfinite([tendon.length, tendon.velocity, *tendon.forces]).all()
        assert len(tendon.visual_segments) >= (1 if tendon.type == "spatial" else 0)
        if not tendon.enabled:
            assert tendon.force == 0.0


# -- faults: each takes a tendon or coupling and draws what is wrong with it


def bad_field(draw, values, table, key):
    name = draw(st.sampled_from([name for name in table if table[name][2]]))
    values[key] = {**(values[key] or {}), name: draw(st.sampled_from(table[name][2]))}
    return name


def bad_properties(draw, values):
    name = bad_field(draw, values, PROPERTIES, "properties")
    if name.startswith("spring"):  # wrong where the other end is NaN
        other = "spring_lower" if name == "spring_upper" else "spring_upper"
        values["properties"].pop(other, None)


def bad_drive(draw, values):
    bad_field(draw, values, DRIVE, "drive")


def bad_order(draw, values):
    ends = draw(
        st.sampled_from(
            [
                ("spring_lower", "spring_upper"),
                ("lower_limit", "upper_limit"),
                ("actuation_lower", "actuation_upper"),
            ]
        )
    )
    values["properties"].update(zip(ends, (1.0, draw(floats(-3.0, 0.9))), strict=True))


def bad_name(draw, values):
    values["name"] = draw(st.sampled_from(["", "taken", 3, None]))


def unknown_body(draw, values):
    site = draw(st.sampled_from([v for kind, v in values["path"] if kind == "via"]))
    site["name"] = draw(st.sampled_from(["b_9", "world_", "B_0", ""]))


def bad_kind(draw, values):
    site = draw(st.sampled_from([v for kind, v in values["path"] if kind == "via"]))
    site.update(name="b_0", kind=draw(st.sampled_from(["granular", "geom", "site", "flex"])))


def bad_position(draw, values):
    site = draw(st.sampled_from([v for kind, v in values["path"] if kind == "via"]))
    place = list(site["position"])
    place[draw(st.integers(0, 2))] = draw(st.sampled_from(BAD_NUMBERS))
    site["position"] = draw(st.sampled_from([tuple(place), (0.0, 0.0)]))


def bad_guide(draw, values):
    """Put a guide with a wrong size or axis between the first two sites of the last branch."""
    kind, guide = draw(
        st.sampled_from(
            [
                ("sphere", {"radius": 0.0}), ("sphere", {"radius": -1.0}),
                ("sphere", {"radius": NAN}), ("cylinder", {"radius": INF}),
                ("cylinder", {"radius": 0.1, "axis": (0.0, 0.0, 0.0)}),
                ("cylinder", {"radius": 0.1, "axis": (NAN, 0.0, 1.0)}),
                ("cylinder", {"radius": 0.1, "axis": (1.0, 0.0)}),
            ]
        )
    )  # fmt: skip
    place = {"name": None, "position": (0.0, 0.0, 0.0)}
    end = {"name": None, "position": (0.0, 0.0, 1.0)}
    values["path"] += [(kind, {"center": place, **guide}), ("via", end)]


def bad_divisor(draw, values):
    divisor = draw(st.sampled_from([0.0, -1.0, *BAD_NUMBERS]))
    values["path"].insert(0, ("pulley", divisor))


def bad_route(draw, values):
    """Spoil the order of the elements at one place."""
    path = values["path"]
    place = {"name": None, "position": (0.0, 0.0, 0.0)}
    guide = ("sphere", {"center": place, "radius": 0.1})
    last = len(path)
    options = [
        (last, [("pulley", 2.0)]), (last, [guide]), (0, [guide]),
        (last, [guide, guide, ("via", place)]), (last, [("pulley", 2.0), ("via", place)]),
        (last, [("pulley", 2.0), ("pulley", 2.0), ("via", place), ("via", place)]),
        (last, [("other", "b_0")]),
    ]  # fmt: skip
    where, what = draw(st.sampled_from(options))
    values["path"] = path[:where] + what + path[where:]


def too_short(draw, values):
    values["path"] = draw(st.sampled_from([[], values["path"][:1]]))


def bad_terms(draw, values):
    first = values["terms"][0]
    bad = [[], [("b_9", 1.0)], [("", 1.0)], [(first[0], draw(st.sampled_from(BAD_NUMBERS)))]]
    values["terms"] = draw(st.sampled_from(bad))


SPATIAL_FAULTS = (
    unknown_body, bad_kind, bad_position, bad_guide, bad_divisor, bad_route, too_short,
)  # fmt: skip
COMMON_FAULTS = (bad_properties, bad_drive, bad_order, bad_name)


@settings(SETTINGS, max_examples=150)
@given(scenes(), st.data())
def test_one_fault_is_refused_and_changes_nothing(scene, data):
    scene = copy.deepcopy(scene)
    world = empty_world(scene)
    place = data.draw(st.integers(0, len(scene["tendons"]) - 1), "tendon")
    values = scene["tendons"][place]
    faults = COMMON_FAULTS + ((bad_terms,) if "terms" in values else SPATIAL_FAULTS)
    fault = data.draw(st.sampled_from(faults), "fault")
    for k in range(place):
        add_tendon(world, k, scene["tendons"][k])
    if place == 0:
        world.add_spatial_tendon("taken", [Via(Site()), Via(Site("b_0"))])
    else:
        world.tendons[0].name = "taken"
    model, before = world.model, world.scene
    fault(data.draw, values)
    values["enabled"] = True
    with pytest.raises((ValueError, TypeError)):
        add_tendon(world, place, values)
    if fault is not bad_drive:  # that one is found when the tendon is there already
        assert world.scene == before and world.model is model
    sound(world)


def bad_coupling_properties(draw, values):
    bad_field(draw, values, COUPLING, "properties")


def same_twice(draw, values):
    values["second"] = values["first"]


@settings(SETTINGS, max_examples=60)
@given(scenes().filter(lambda scene: scene["couplings"]), st.data())
def test_one_fault_in_a_coupling_is_refused_and_changes_nothing(scene, data):
    scene = copy.deepcopy(scene)
    world = empty_world(scene)
    for k, values in enumerate(scene["tendons"]):
        add_tendon(world, k, values)
    *others, last = scene["couplings"]
    for k, values in enumerate(others):
        add_coupling(world, k, values)
    faults = [bad_coupling_properties, same_twice, bad_name]
    fault = data.draw(st.sampled_from(faults), "fault")
    model, before = world.model, world.scene
    fault(data.draw, last)
    if last.get("name") == "taken":
        last["name"] = ""
    with pytest.raises((ValueError, TypeError)):
        add_coupling(world, len(others), last)
    assert world.scene == before and world.model is model
    sound(world)
