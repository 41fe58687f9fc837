"""The examples run without a screen, and do what their physics says."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "cables"


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Return a function that runs an example, with a picture, and returns what it prints."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "showing", raising=False)

    def values(name):
        spec = importlib.util.spec_from_file_location(f"cables_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        picture = tmp_path / f"{name}.png"
        numbers = module.main(["--picture", str(picture)])
        assert f"wrote {picture}" in capsys.readouterr().out
        assert picture.stat().st_size > 2000
        return list(numbers.values())

    yield values
    sys.modules.pop("showing", None)


def test_hoist(run):
    """Path: 2 m up, half round the beam, down to the load."""
    tension, height, speed = run("hoist")
    assert tension == pytest.approx(2.0 * 9.81, rel=1e-5)
    length = 3.2 - 0.4 + 2.0 * 9.81 / 2000.0
    assert height == pytest.approx(2.0 - (length - 2.0 - math.pi * 0.1), abs=1e-5)
    assert speed < 1e-3


def test_capstan(run):
    turning, around, slope, tension = run("capstan")
    assert turning == pytest.approx(around * (1.0 - slope**2), rel=1e-6)
    assert turning > 1.25 * 2.0 * math.pi
    assert tension == pytest.approx(math.exp(0.3 * turning), rel=1e-6)


def test_chain_of_obstacles(run):
    """What the roll does to the cable is what load and stretch gain, to the steps' order."""
    work, gain, largest, ways = run("chain_of_obstacles")
    assert gain == pytest.approx(work, abs=0.02 * largest)
    assert largest > 0.1 and ways >= 2
