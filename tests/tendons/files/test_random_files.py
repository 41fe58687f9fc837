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
from tendon_gym.tendons.files.elements import Element, parse, render
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
    skipped += ("mjcf_path", "prefix", "body_type", "ctrl", "act")
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
        "articulatedSystem": ["name", "mjcf_path"],
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


@settings(SETTINGS, max_examples=80)
@given(moving(), st.data())
def test_one_fault_in_a_file_is_refused(drawn, data):
    world = made(drawn)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "scene.xml"
        save_scene(world, path)
        root = parse(path)
        elements = list(all_of(root))
        fault = data.draw(st.sampled_from(FAULTS), "fault")
        order = data.draw(st.permutations(elements), "element")
        if not any(fault(data.draw, element) for element in order):
            return
        path.write_text(render(root))
        with pytest.raises(ValueError, match=r"^scene\.xml:\d+: "):
            load_scene(path)
