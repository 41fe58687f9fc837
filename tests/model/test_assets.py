import mujoco
import numpy as np
import pytest

from tendon_gym.model import asset_path, assets, build_model, preset, write_assets


def numeric(source):
    """Return the numbers and arrays of numbers of a MuJoCo struct by name."""
    values = {name: getattr(source, name) for name in dir(source) if not name.startswith("_")}
    kinds = (np.ndarray, int, float)
    arrays = {name: np.asarray(v) for name, v in values.items() if isinstance(v, kinds)}
    return {name: v for name, v in arrays.items() if np.issubdtype(v.dtype, np.number)}


def assert_same(model, other):
    for ours, theirs in ((model, other), (model.opt, other.opt)):
        expected, got = numeric(ours), numeric(theirs)
        assert expected.keys() == got.keys()
        for name, value in expected.items():
            # MuJoCo writes six digits; constants derived from inertias amplify that.
            assert got[name].shape == value.shape, name
            assert got[name] == pytest.approx(value, rel=2e-5, abs=2e-6), name
    assert model.names == other.names


def test_the_model_in_the_repository_is_the_built_one():
    kept = mujoco.MjModel.from_xml_path(str(asset_path("quad_continuum.xml")))
    assert_same(build_model(preset("paper")), kept)


def test_the_command_writes_the_built_model(tmp_path):
    path = write_assets.main(tmp_path)
    assert path == tmp_path / "quad_continuum.xml"
    assert_same(build_model(preset("paper")), mujoco.MjModel.from_xml_path(str(path)))


def test_unknown_assets_list_the_known_ones():
    with pytest.raises(ValueError, match=r"asset must be one of .*'quad_continuum.xml'"):
        asset_path("../pyproject.toml")


def test_a_wheel_finds_its_own_copy_first(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "PACKAGE", tmp_path / "package")
    with pytest.raises(FileNotFoundError, match="no folder of assets"):
        asset_path("scene.xml")
    checkout = tmp_path / "envs_assets"
    wheel = tmp_path / "package" / "_data" / "envs_assets" / "policies"
    for folder in (checkout, wheel):
        folder.mkdir(parents=True)
    (wheel / "scene.xml").touch()
    assert asset_path("policies/scene.xml") == wheel / "scene.xml"
