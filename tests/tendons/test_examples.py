"""The examples run without a screen, and do what their physics says."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tendon_gym.tendons.files import load_scene

FOLDER = Path(__file__).parents[2] / "examples" / "tendons"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "showing")
G = 9.81


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs an example and returns the values that it prints."""
    monkeypatch.syspath_prepend(str(FOLDER))

    def values(name, *arguments):
        return list(importlib.import_module(name).main(arguments).values())

    return values


def test_suspended_load(run):
    length, tension = run("suspended_load")
    assert length == pytest.approx(1.0 + (G - 2.0) / 500.0, abs=1e-6)
    assert tension == pytest.approx(G, abs=1e-4)


def test_pulley_block(run):
    acceleration, tension = run("pulley_block")
    expected = G * (2 * 1.2 - 2.0) / (4 * 1.2 + 2.0)
    assert acceleration == pytest.approx(expected, rel=1e-5)
    assert tension == pytest.approx(1.2 * (G - 2 * expected), rel=1e-5)


def test_coupled_finger(run):
    inner, outer, worst = run("coupled_finger")
    # the servo holds both links against gravity; the outer joint follows the polynomial
    assert outer == pytest.approx(0.65 * inner + 0.2 * inner**2, abs=1e-6)
    assert 0.75 < inner < 0.85
    assert worst < 1e-3


def test_cable_over_cylinder(run):
    acceleration, tension = run("cable_over_cylinder")
    assert acceleration == pytest.approx(G * 0.5 / 2.5, rel=1e-5)
    assert tension == pytest.approx(2 * G * 1.0 * 1.5 / 2.5, rel=1e-5)


def test_winch(run):
    hoisted, fallen, end, push = run("winch")
    sag = 2.0 * G / 2000.0
    assert hoisted == pytest.approx(0.6 + sag, abs=1e-6)
    # velocities first, then positions: g h^2 (1 + 2 + ... + n)
    assert fallen == pytest.approx(0.5 * G * 0.1 * 0.101, abs=1e-6)
    assert end == pytest.approx(1.0 + sag, abs=1e-6)
    # MuJoCo clamps the force at the start of a step; what the damping changes in it comes after
    assert push <= (150.0 + 0.001 * 2000.0) * 0.001 * (100.0 / 2.0 - G)


def test_lock_and_release(run):
    held, tension, released = run("lock_and_release")
    assert held == pytest.approx(1.5, abs=1e-6)
    assert tension == pytest.approx(G, abs=1e-6)
    assert released == pytest.approx(held + 0.5 * G * 0.1 * 0.101, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_examples_export_their_scene_and_draw_it(name, run, tmp_path, capsys):
    scene, picture = tmp_path / "new.xml", tmp_path / "end.jpg"
    run(name, "--export", str(scene), "--picture", str(picture))
    assert f"wrote {scene}" in capsys.readouterr().out
    world = load_scene(scene)
    assert world.tendons
    assert all(t.length == pytest.approx(t.reference_length, abs=1e-12) for t in world.tendons)
    assert picture.stat().st_size > 2000
