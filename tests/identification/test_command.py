import json

import pytest

from tendon_gym import cli
from tendon_gym.model import Arm, ModelParameters
from tests.identification.recorded import record

MODEL = '{"arm": {"n_links": 2, "mass": 0.2}}'


@pytest.fixture
def path(tmp_path):
    true = ModelParameters(arm=Arm(n_links=2, mass=0.2, tip_mass=0.03), base="clamped")
    path = tmp_path / "arm.npz"
    record(true, ("tip",), 0.6).save(path)
    return path


def test_it_prints_and_writes_what_it_finds(path, capsys, tmp_path):
    out = tmp_path / "new" / "found.json"
    arguments = ["identify", str(path), "arm.tip_mass=0:0.1", "--model", MODEL, "--out", str(out)]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("arm.tip_mass ") and f"results: {out}" in text
    found = json.loads(out.read_text())
    tip = found["parameters"]["arm.tip_mass"]
    assert abs(tip["value"] - 0.03) < 3.5 * tip["standard_error"]
    assert found["unidentified"] == []


def test_it_ends_with_one_where_something_is_open(path, capsys):
    arguments = ["identify", str(path), "arm.tip_mass=0:0.1", "airframe.mass=1:2", "--model", MODEL]
    assert cli.main(arguments) == 1
    assert "not identified" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["arm.tip_mass=1"], "of the form NAME=LOWEST:HIGHEST"),
        (["arm.tip_mass=a:b"], "of the form NAME=LOWEST:HIGHEST"),
        (["arm.tip=0:1"], "unknown parameter must be one of"),
        (["arm.tip_mass=0:0.1", "--model", "{"], "--model must be JSON"),
        (["arm.tip_mass=0:0.1", "--model", "3"], "model must be a dict"),
        (["arm.tip_mass=0:0.1", "--preset", "papper"], "preset must be one of"),
    ],
)
def test_mistakes_are_told_in_one_line(path, capsys, arguments, words):
    assert cli.main(["identify", str(path), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
