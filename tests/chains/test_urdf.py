from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tendon_gym.chains.urdf import load_urdf
from tests.chains.scene_files import URDFS, real_urdf

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n"
SHAPE = '<{kind}><geometry><mesh filename="{name}"/></geometry></{kind}>'
INERTIAL = """
<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.4 0.5"/><mass value="1.25"/>
<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.004" ixz="-0.003" iyz="0.002"/></inertial>
"""


def robot(*shapes, extension=""):
    """Return a URDF of a base, an arm that has the shapes, and a flange fixed to it."""
    meshes = "".join(SHAPE.format(kind=kind, name=name) for kind, name in shapes)
    return f"""<robot name="r">{extension}
    <link name="base">{INERTIAL}</link>
    <link name="arm">{INERTIAL}{meshes}</link>
    <link name="flange"><collision><geometry><box size=".1 .1 .1"/></geometry></collision></link>
    <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="5" velocity="3"/></joint>
    <joint name="weld" type="fixed"><parent link="arm"/><child link="flange"/>
      <origin xyz="0 0 .2"/></joint>
    </robot>"""


def write(folder: Path, text: str) -> Path:
    path = folder / "robots" / "robot.urdf"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two packages that have meshes of one name, and broken ones."""
    for package, text in (("alpha", TETRAHEDRON), ("beta", TETRAHEDRON.replace("1", "2"))):
        meshes = tmp_path / "share" / package / "meshes"
        meshes.mkdir(parents=True)
        (meshes / "part.obj").write_text(text)
    (tmp_path / "share/alpha/meshes/flat.obj").write_text(SQUARE)
    (tmp_path / "share/alpha/meshes/broken.stl").write_bytes(b"not an STL file")
    (tmp_path / "share/alpha/meshes/part.dae").write_text("<COLLADA/>")
    return tmp_path


def test_packages_are_looked_for_in_the_folders(folder):
    text = robot(
        ("visual", "package://alpha/meshes/part.obj"),
        ("visual", "package://alpha/meshes/flat.obj"),
        ("collision", "../share/alpha/meshes/part.obj"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = load_urdf(write(folder, text), [str(folder), str(folder / "share")])
    model = spec.compile()
    expected = {
        str((folder / f"share/alpha/meshes/{name}.obj").resolve()) for name in ("part", "flat")
    }
    assert {mesh.file for mesh in spec.meshes} == expected
    assert model.ngeom == 4  # three meshes and the flange's box
    assert (model.geom_contype != 0).sum() == 2


def test_meshes_of_one_name_in_two_packages_stay_apart(folder):
    larger = folder / "share/beta/meshes/part.obj"
    larger.write_text(TETRAHEDRON.replace("v 1", "v 3"))
    text = robot(
        ("visual", "package://alpha/meshes/part.obj"),
        ("collision", "package://beta/meshes/part.obj"),
    )
    model = load_urdf(write(folder, text), [str(folder / "share")]).compile()
    assert model.nmesh == 2
    sizes = [np.ptp(model.mesh_vert[a : a + 4], axis=0).max() for a in model.mesh_vertadr]
    assert sizes[1] > 1.5 * sizes[0]


def test_what_cannot_be_read_is_dropped_with_one_warning(folder):
    text = robot(
        ("visual", "package://alpha/meshes/part.dae"),
        ("collision", "package://alpha/meshes/part.dae"),
        ("collision", "package://alpha/meshes/broken.stl"),
        ("collision", "package://gamma/meshes/part.obj"),
        ("collision", "package://alpha/meshes/flat.obj"),
        ("collision", "package://alpha/meshes/part.obj"),
    )
    with pytest.warns(UserWarning) as caught:
        spec = load_urdf(write(folder, text), [str(folder / "share")])
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "4 meshes are left out" in message
    for words in (
        "part.dae (MuJoCo reads only",
        "broken.stl (Error",
        "part.obj (no such file)",
        "coplanar",
    ):
        assert words in message
    assert spec.compile().nmesh == 1


def test_links_keep_their_own_inertials(folder):
    model = load_urdf(write(folder, robot())).compile()
    assert [model.body(k).name for k in range(model.nbody)] == ["world", "base", "arm", "flange"]
    np.testing.assert_array_equal(model.body_mass, [0, 1.25, 1.25, 0])
    assert model.body("flange").parentid[0] == model.body("arm").id
    np.testing.assert_array_equal(model.jnt_range, [[-1, 2]])
    np.testing.assert_array_equal(model.jnt_actfrcrange, [[-5, 5]])


def test_a_files_own_compiler_settings_hold(folder):
    text = robot(extension='<mujoco><compiler boundmass="3" meshdir="x"/></mujoco>')
    assert load_urdf(write(folder, text)).compile().body("arm").mass[0] == 3.0


@pytest.mark.parametrize("name", URDFS)
def test_real_robots_keep_what_their_files_say(name):
    path, packages = real_urdf(name)
    with pytest.warns(UserWarning, match="left out"):
        model = load_urdf(path, [packages]).compile()
    links = ElementTree.parse(path).getroot().findall("link")
    names = {model.body(k).name: k for k in range(model.nbody)}
    for link in links:
        if link.get("name") == "world":
            continue
        body = names[link.get("name")]
        inertial = link.find("inertial")
        mass = 0.0 if inertial is None else float(inertial.find("mass").get("value"))
        assert model.body_mass[body] == pytest.approx(mass)
        if mass == 0.0:
            continue
        origin = inertial.find("origin")
        place = {} if origin is None else origin.attrib
        numbers = {key: np.array(place.get(key, "0 0 0").split(), float) for key in ("xyz", "rpy")}
        np.testing.assert_allclose(model.body_ipos[body], numbers["xyz"], atol=1e-9)
        t = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
        given = np.array([
            [t["ixx"], t["ixy"], t["ixz"]],
            [t["ixy"], t["iyy"], t["iyz"]],
            [t["ixz"], t["iyz"], t["izz"]],
        ])  # fmt: skip
        turn = Rotation.from_euler("xyz", numbers["rpy"]).as_matrix()
        axes = Rotation.from_quat(model.body_iquat[body], scalar_first=True).as_matrix()
        have = axes @ np.diag(model.body_inertia[body]) @ axes.T
        np.testing.assert_allclose(have, turn @ given @ turn.T, atol=1e-9)


def test_files_that_are_no_robots_are_refused(folder):
    with pytest.raises(ElementTree.ParseError):
        load_urdf(write(folder, "<robot><link"))
    loose = (
        '<robot name="r"><link name="a"/><joint name="j" type="fixed"><parent link="a"/></joint>'
    )
    with pytest.raises(ValueError, match="child"):
        load_urdf(write(folder, loose + "</robot>"))
    assert isinstance(load_urdf(write(folder, robot())), mujoco.MjSpec)
