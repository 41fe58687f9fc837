"""Whole scenes at random through files: valid ones come back, one fault in a file is refused."""

from __future__ import annotations

import copy
import tempfile
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tendon_gym.tendons.files import SceneWarning, load_scene, save_mjcf, save_scene
from tendon_gym.tendons.files.elements import Element, parse, parse_bytes, render
from tests.tendons.test_scenes import add_coupling, add_tendon, empty_world, floats, scenes

SETTINGS = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def moving(draw):
    """Draw a scene with a motion."""
    return draw(scenes()), draw(st.lists(floats(-1.0, 1.0), min_size=24, max_size=24))


def made(drawn):
    """Return the world of a scene, as it moves."""
    scene, motion = drawn
    world = empty_world(scene)
    world.data.qvel[:] = motion[: world.model.nv]
    for k, values in enumerate(scene["tendons"]):
        add_tendon(world, k, values)
    for k, values in enumerate(scene["couplings"]):
        add_coupling(world, k, values)
    world.step()
    return world


def saved(world, folder, name="scene"):
    """Return what is written, by the names of the files."""
    (folder / name).mkdir()
    files = save_scene(world, folder / name / "scene.xml")
    return {path.name: path.read_bytes() for path in files}


@SETTINGS
@given(moving())
def test_a_scene_comes_back_from_its_file(drawn):
    world = made(drawn)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = saved(world, folder)
        again = load_scene(folder / "scene" / "scene.xml", limits=world.limits)
        assert saved(again, folder, "again") == files
    assert [t.record.properties for t in again.tendons] == [
        t.record.properties for t in world.tendons
    ]
    assert [t.drive for t in again.tendons] == [t.drive for t in world.tendons]
    assert [t.joints for t in again.tendons] == [t.joints for t in world.tendons]
    assert [c.record for c in again.couplings] == [c.record for c in world.couplings]
    speed = np.abs(world.data.qvel).max(initial=1.0)
    for k in range(len(drawn[0]["kinds"])):
        mine, other = (each.data.joint(f"b_{k}") for each in (world, again))
        assert other.qpos.tolist() == mine.qpos.tolist()
        assert np.allclose(other.qvel, mine.qvel, rtol=0.0, atol=1e-12 * speed)
    for mine, other in zip(world.tendons, again.tendons, strict=True):
        assert other.length == pytest.approx(mine.length, abs=1e-12)
        assert other.reference_length == mine.reference_length
        assert (other.activation, other.enabled) == (mine.activation, mine.enabled)
    again.step()
    assert np.isfinite(again.data.qpos).all()


@SETTINGS
@given(moving())
def test_a_scene_is_always_one_that_mujoco_reads(drawn):
    world = made(drawn)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        path = Path(name) / "scene.xml"
        save_mjcf(world, path)
        model = mujoco.MjModel.from_xml_path(str(path))
    assert model.ntendon == world.model.ntendon
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    lengths = world.refresh().data.ten_length
    assert np.allclose(data.ten_length, lengths, rtol=0.0, atol=1e-9)


# -- files that were written by hand: objects of all kinds, and robots


DIMENSIONS = {
    "sphere": ["radius"], "box": ["x", "y", "z"], "capsule": ["radius", "height"],
    "cylinder": ["radius", "height"],
}  # fmt: skip
ROBOT = """<mujoco><worldbody><body name="base">{joint}<geom size=".1"/><body name="upper">
<joint name="a"/><geom size=".1"/><body name="fixed"><geom size=".1"/><body name="lower">
<joint name="b" type="slide"/><geom size=".1"/></body></body></body></body></worldbody></mujoco>"""
FILES = {"fixed.xml": "", "hinged.xml": '<joint name="c"/>', "floating.xml": "<freejoint/>"}
INDICES = {"fixed.xml": 3, "hinged.xml": 4, "floating.xml": 3}
sizes = floats(0.01, 2.0)


def words(values):
    return " ".join(map(repr, values))


@st.composite
def bodies(draw, name):
    kind = draw(st.sampled_from(list(DIMENSIONS)))
    body_type = draw(st.sampled_from(["dynamic", "static", "kinematic"]))
    state = {"pos": words(draw(st.tuples(*[floats(-3.0, 3.0)] * 3)))}
    if draw(st.booleans()):
        turn = draw(st.tuples(*[floats(-1.0, 1.0)] * 4).filter(lambda q: max(map(abs, q)) > 0.1))
        state["quat"] = words(turn)
    if body_type == "dynamic" and draw(st.booleans()):
        state["ang_vel"] = words(draw(st.tuples(*[floats(-9.0, 9.0)] * 3)))
    element = Element(kind, {"name": name, "mass": repr(draw(sizes)), "body_type": body_type})
    if draw(st.booleans()):
        element.attributes["collision_mask"] = "0"
    element.children = [
        Element("dim", {side: repr(draw(sizes)) for side in DIMENSIONS[kind]}),
        Element("state", state),
    ]
    if draw(st.booleans()):
        moments = dict.fromkeys(("xx", "yy", "zz"), repr(draw(sizes)))
        element.children.append(
            Element("inertia", moments | dict.fromkeys(("xy", "xz", "yz"), "0"))
        )
    return element


@st.composite
def files(draw):
    """Draw the root of a scene file."""
    objects, indices, joints = [], {}, []
    for k in range(draw(st.integers(0, 4))):
        objects.append(draw(bodies(f"o_{k}")))
        indices[f"o_{k}"] = 1
    for k, file in enumerate(draw(st.lists(st.sampled_from(list(FILES)), max_size=2))):
        objects.append(Element("articulatedSystem", {"name": f"r_{k}", "mjcf_path": file}))
        indices[f"r_{k}"] = INDICES[file]
        joints += [(f"r_{k}", "a"), (f"r_{k}", "b")]
    if draw(st.booleans()):
        objects.append(Element("ground", {"name": "floor", "height": repr(draw(floats(-9, 9)))}))
        indices["floor"] = 1
    objects = draw(st.permutations(objects))

    def site(tag, **more):
        attributes = {"pos": words(draw(st.tuples(*[floats(-1.0, 1.0)] * 3))), **more}
        if indices and draw(st.booleans()):
            name = draw(st.sampled_from(list(indices)))
            index = str(draw(st.integers(0, indices[name] - 1)))
            attributes |= {"object": name, "local_index": index}
        return Element(tag, attributes)

    root = Element("raisim", {}, [Element("objects", {}, objects)])
    for k in range(draw(st.integers(1, 3))):
        tendon = Element("tendon", {"name": f"t_{k}", "type": "spatial"})
        for _ in range(draw(st.integers(1, 3))):
            tendon.children.append(site("site"))
            if draw(st.booleans()):
                tendon.children.append(
                    site(draw(st.sampled_from(["sphere", "cylinder"])), radius=".1")
                )
                if draw(st.booleans()):
                    tendon.children[-1].children.append(site("side"))
        tendon.children.append(site("site"))
        if joints and draw(st.booleans()):
            tendon.attributes["type"] = "fixed"
            terms = draw(st.lists(st.sampled_from(joints), min_size=1, max_size=3))
            tendon.children = [Element("joint", {"object": o, "joint": j}) for o, j in terms]
        root.children.append(tendon)
    return root


def written(root, name):
    """Write a scene and the robots that it may refer to into a folder; return the scene's path."""
    for file, joint in FILES.items():
        (Path(name) / file).write_text(ROBOT.format(joint=joint))
    path = Path(name) / "scene.xml"
    path.write_text(render(root))
    return path


@SETTINGS
@given(files())
def test_a_file_is_the_same_from_the_first_time_that_it_is_written(root):
    with tempfile.TemporaryDirectory() as name:
        world = load_scene(written(root, name))
        first = saved(world, Path(name), "first")
        again = load_scene(Path(name) / "first" / "scene.xml")
        assert saved(again, Path(name), "again") == first
    kinds = [element.tag for element in root.all("objects")[0].children]
    written_again = parse_bytes(first["scene.xml"], "scene.xml").all("objects")[0].children
    assert sorted(element.tag for element in written_again) == sorted(kinds)
    assert again.data.qpos.tolist() == world.data.qpos.tolist()
    lengths = [[t.length for t in each.tendons] for each in (world, again)]
    assert np.allclose(*lengths, rtol=0.0, atol=1e-12)


# -- faults: each spoils an element of a file, and says whether it found something to spoil


def all_of(element):
    yield element
    for child in element.children:
        yield from all_of(child)


def unknown_attribute(draw, element):
    element.attributes["colour"] = "1"
    return True


def unknown_element(draw, element):
    element.children.insert(0, Element("rope"))
    return True


def numbers_of(element):
    skipped = ("name", "type", "enabled", "object", "first", "second", "joint", "version")
    skipped += ("mjcf_path", "prefix", "body_type", "ctrl", "act", "collision_mask")
    return [name for name in element.attributes if name not in skipped]


def malformed_number(draw, element):
    names = numbers_of(element)
    if not names:
        return False
    name = draw(st.sampled_from(names))
    bad = draw(st.sampled_from(["", "1.2.3", "two", "1e", "0x1", "1,,2", "nan nan"]))
    element.attributes[name] = bad
    return True


def too_many_numbers(draw, element):
    names = numbers_of(element)
    if not names:
        return False
    name = draw(st.sampled_from(names))
    element.attributes[name] += ", 1"
    return True


def missing_reference(draw, element):
    names = [n for n in ("object", "first", "second", "joint") if n in element.attributes]
    if not names:
        return False
    element.attributes[draw(st.sampled_from(names))] = "nobody"
    return True


def missing_attribute(draw, element):
    required = {
        "tendon": ["name", "type"], "tendon_coupling": ["name", "first"], "sphere": ["radius"],
        "cylinder": ["radius"], "pulley": ["divisor"], "joint": ["object", "joint"],
        "gravity": ["value"], "timeStep": ["value"], "ground": ["name"],
        "articulatedSystem": ["name", "mjcf_path"], "box": ["name", "mass"], "dim": ["radius", "x"],
        "capsule": ["name", "mass"], "inertia": ["xx"], "state": ["pos"],
    }  # fmt: skip
    names = required.get(element.tag, [])
    names = [name for name in names if name in element.attributes]
    if not names:
        return False
    del element.attributes[draw(st.sampled_from(names))]
    return True


def wrong_index(draw, element):
    if "local_index" not in element.attributes:
        return False
    element.attributes["local_index"] = draw(st.sampled_from(["-1", "99", "0.5", "x"]))
    return True


def twice_the_same(draw, element):
    names = {"objects": None, "raisim": "tendon"}
    if element.tag not in names or not element.children:
        return False
    kind = names[element.tag]
    things = [c for c in element.children if kind is None or c.tag == kind]
    element.children.append(copy.deepcopy(things[0]))
    return True


FAULTS = (
    unknown_attribute, unknown_element, malformed_number, too_many_numbers, missing_reference,
    missing_attribute, wrong_index, twice_the_same,
)  # fmt: skip


def check_fault(root, path, data):
    """Put one fault into a file, and check that the file is refused with the place of it."""
    fault = data.draw(st.sampled_from(FAULTS), "fault")
    order = data.draw(st.permutations(list(all_of(root))), "element")
    if any(fault(data.draw, element) for element in order):
        path.write_text(render(root))
        with pytest.raises(ValueError, match=r"^scene\.xml:\d+: "):
            load_scene(path)


@settings(SETTINGS, max_examples=60)
@given(moving(), st.data())
def test_one_fault_in_a_file_is_refused(drawn, data):
    world = made(drawn)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "scene.xml"
        save_scene(world, path)
        check_fault(parse(path), path, data)


@settings(SETTINGS, max_examples=60)
@given(files(), st.data())
def test_one_fault_in_a_file_by_hand_is_refused(root, data):
    with tempfile.TemporaryDirectory() as name:
        check_fault(root, written(root, name), data)
