"""References by name, file or plain values."""

import json

import numpy as np
import pytest

from tendon_gym.references import (
    Reference,
    SmoothDistribution,
    figure_eight,
    hover,
    make,
    names,
    register,
    registry,
)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_makers", dict(registry._makers))


@pytest.mark.parametrize("name", sorted(set(names()) - {"waypoints", "smooth"}))
def test_names_make_references_of_that_name(name):
    reference = make(name)
    assert isinstance(reference, Reference) and reference.name == name


def test_smooth_is_the_distribution():
    assert make("smooth") == SmoothDistribution()
    spec = json.loads('{"name": "smooth", "shapes": ["line", "hover"], "period": [5, 6]}')
    assert make(spec) == SmoothDistribution(shapes=("line", "hover"), period=(5.0, 6.0))


def test_plain_values_are_parameters():
    spec = json.loads('{"name": "figure_eight", "amplitude": 0.5, "ramp": 1}')
    assert make(spec).rows.tobytes() == figure_eight(amplitude=0.5, ramp=1.0).rows.tobytes()
    assert spec["name"] == "figure_eight"  # the spec is unchanged
    spec = json.loads('{"name": "waypoints", "times": [0, 1], "positions": [[0,0,1],[1,0,1]]}')
    assert make(spec).duration == 1.0


def test_a_csv_path_is_loaded(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("time,x,y,z\n0,0,0,1\n2,0,0,1\n")
    assert make(str(path)).duration == make({"name": str(path)}).duration == 2.0
    with pytest.raises(ValueError, match="has no 'yaw'; it takes nothing"):
        make({"name": str(path), "yaw": 1.0})
    with pytest.raises(FileNotFoundError, match="no reference file"):
        make("nowhere.csv")


@pytest.mark.usefixtures("registered")
def test_users_register_their_own():
    def mine(height: float, **others: float):
        return hover((0, 0, height))

    register("mine", mine)
    assert "mine" in names()
    assert make({"name": "mine", "height": 2.0}).at([0.0])["position"][0, 2] == 2.0
    with pytest.raises(ValueError, match="mine needs 'height'"):
        make("mine")
    register("mine", lambda: 3)
    with pytest.raises(TypeError, match="maker of 'mine' must return a Reference, got 3"):
        make("mine")


@pytest.mark.parametrize(
    ("name", "maker", "error"),
    [
        ("hover", hover, ValueError),
        ("mine.csv", hover, ValueError),
        ("", hover, ValueError),
        (3, hover, TypeError),
        ("mine", 3, TypeError),
    ],
)
def test_bad_registrations_are_refused(name, maker, error):
    before = names()
    with pytest.raises(error):
        register(name, maker)
    assert names() == before


@pytest.mark.parametrize(
    ("spec", "error", "match"),
    [
        ("spiral", ValueError, "one of bend_hold, figure_eight, hover, .*got 'spiral'"),
        ({"name": "hover", "x": 1}, ValueError, "hover has no 'x'; it takes position, yaw, bend"),
        ({"name": "waypoints", "times": [0, 1]}, ValueError, "waypoints needs 'positions'"),
        ({"name": "smooth", "colour": 1}, ValueError, "smooth has no 'colour'"),
        ({"name": "hover", "yaw": "north"}, TypeError, "yaw must be a number, got 'north'"),
        ({"name": "smooth", 3: 1}, TypeError, "smooth: a parameter's name must be a string, got 3"),
        ({"name": "hover", None: 1}, TypeError, "hover: a parameter's name must be .*, got None"),
        ({"name": "hover", "yaw": np.float64(1e300)}, ValueError, r"yaw must be .*, got 1e\+300$"),
        ({"position": [0, 0, 1]}, TypeError, "with a 'name'"),
        (None, TypeError, "a reference must be a name or a dict"),
    ],
)
def test_bad_specs_are_refused(spec, error, match):
    with pytest.raises(error, match=match):
        make(spec)
