"""The examples run, and do what they say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "examples" / "chains"
PAGE = CHECKOUT / "docs" / "chains_control.md"


def load(name):
    spec = importlib.util.spec_from_file_location(f"examples_chains_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def example(request):
    return load(request.param)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_example_prints_what_it_found(name, capsys):
    load(name).main()
    assert capsys.readouterr().out.strip()


def test_the_snippets_of_the_page_run(monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), {})


@pytest.mark.parametrize("example", ["gravity_compensation"], indirect=True)
def test_gravity_compensation_holds_the_arm(example):
    assert example.run(0.5) < 1e-6
    assert example.run(0.5, known_tool=False) > 1e-3


@pytest.mark.parametrize("example", ["impedance"], indirect=True)
def test_the_impedance_gives_way_as_predicted(example):
    moved, expected, felt = example.run()
    assert np.linalg.norm(moved - expected) < 0.1 * np.linalg.norm(expected)
    np.testing.assert_allclose(felt, example.PUSH, atol=0.01)


@pytest.mark.parametrize("example", ["dual_arm"], indirect=True)
def test_both_arms_draw_their_circles(example):
    assert max(example.run(1.5)) < 1e-3


@pytest.mark.parametrize("example", ["pick"], indirect=True)
def test_the_cube_is_lifted_and_put_down(example):
    lifted, end = example.run()
    assert lifted > 0.13
    np.testing.assert_allclose(end, example.GOAL, atol=0.01)
