"""The rod that arms are compared with, against closed forms and PyElastica's own steps; the bar."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from tendon_gym.model import Arm

CHECKOUT = Path(__file__).parent.parent
PAGE = (CHECKOUT / "docs" / "fidelity.md").read_text(encoding="utf-8")
elastica = pytest.importorskip("elastica")
THIN = Arm(radius=1e-3, tip_radius=1e-3)
"""Thin enough that its sections' inertia, shear and stretch are of no matter."""


@pytest.fixture
def fidelity(monkeypatch):
    monkeypatch.syspath_prepend(str(CHECKOUT / "benchmarks"))
    import fidelity

    yield fidelity
    for name in ("fidelity", "cosserat_rod"):
        sys.modules.pop(name, None)


@pytest.fixture
def committed():
    path = CHECKOUT / "benchmarks" / "results" / "fidelity.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("tip_mass", [0.02, 0.0])
def test_without_gravity_the_rod_is_the_cantilever(fidelity, tip_mass):
    arm = replace(THIN, tip_mass=tip_mass, tip_offset=0.022 if tip_mass else 0.0)
    rods = [fidelity.PlanarRod(arm, n, (0, 0, -1), rigidity=1.0) for n in (24, 48)]
    found = fidelity.richardson(*(rod.frequencies(fidelity.Loads(0.0), 3) for rod in rods))
    assert found == pytest.approx(fidelity.cantilever(arm), rel=1e-3)


def test_the_cantilever_is_the_textbooks(fidelity):
    bare = replace(THIN, tip_mass=0.0, tip_offset=0.0)
    speed = np.sqrt(bare.bending_stiffness / (bare.mass * bare.length**3)) / (2.0 * np.pi)
    exact = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2 * speed
    assert fidelity.cantilever(bare) == pytest.approx(exact, rel=1e-8)
    heavy = replace(THIN, tip_mass=1e3, tip_offset=0.0)
    massless = np.sqrt(3.0 * heavy.bending_stiffness / (1e3 * heavy.length**3)) / (2.0 * np.pi)
    assert fidelity.cantilever(heavy, 1) == pytest.approx([massless], rel=1e-4)


def test_a_falling_rod_rests_as_the_elastica(fidelity):
    arm = replace(THIN, tip_offset=0.0)
    loads = fidelity.Loads(9.81, np.array([0.0, 0.0, 0.1]))
    rods = [fidelity.PlanarRod(arm, n, (1.0, 0.0, 0.0), rigidity=1.0) for n in (24, 48)]
    for rod in rods:
        rod.rest(loads, steps=4)
    marks = np.array([0.16, 0.32, 0.48])
    found = fidelity.richardson(*(rod.places(marks) for rod in rods))
    per_length = arm.mass / arm.length * 9.81

    def slopes(s, y):  # angle below the horizontal, its derivative, x, z
        below = per_length * (arm.length - s) + arm.tip_mass * 9.81 - 0.1
        turn = -below * np.cos(y[0]) / arm.bending_stiffness
        return np.stack([y[1], turn, np.cos(y[0]), -np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, arm.length, 400)
    guess = np.stack([1.4 * (1.0 - np.exp(-s / 0.04)), 35.0 * np.exp(-s / 0.04), 0.2 * s, -s])
    curve = solve_bvp(slopes, ends, s, guess, tol=1e-8, max_nodes=100_000)
    assert curve.success
    assert found == pytest.approx(curve.sol(marks)[2:].T, abs=1e-4)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_the_rod_swings_as_pyelastica_steps_it(fidelity, mode):
    """A hanging rod that shears and stretches, let go in a mode, half a period later."""
    lying = fidelity.PlanarRod(Arm(tip_offset=0.0), 8, (0, 0, -1), rigidity=1.0)
    frequencies, shapes = lying.modes(fidelity.Loads(9.81), 3)

    class World(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
        pass

    world, rod = World(), lying.rod
    rod.inv_mass_second_moment_of_inertia[:] = np.linalg.inv(
        rod.mass_second_moment_of_inertia.transpose(2, 0, 1)
    ).transpose(1, 2, 0)
    lying.move(1e-3 * shapes[mode] / np.abs(shapes[mode]).max())
    before = rod.position_collection[0].copy()
    world.append(rod)
    world.constrain(rod).using(
        elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    world.add_forcing_to(rod).using(elastica.GravityForces, np.array([0.0, 0.0, -9.81]))
    world.finalize()
    stepper, time = elastica.PositionVerlet(), np.float64(0.0)
    steps = math.ceil(0.5 / frequencies[mode] / 1e-4)
    for _ in range(steps):
        time = stepper.step(world, time, 0.5 / frequencies[mode] / steps)
    after = rod.position_collection[0]
    assert after == pytest.approx(-before, abs=2e-2 * np.abs(before).max())


def test_the_papers_arm_is_within_five_per_cent_of_the_rod_as_it_hangs(fidelity, committed):
    for kind in fidelity.KINDS:
        arm = Arm(n_links=12, discretisation=kind)
        rod = committed["rod"]["frequencies"]["hanging"]
        own = fidelity.arm_frequencies(arm, 9.81)
        assert own == pytest.approx(committed[kind]["12"]["frequencies"]["hanging"], rel=1e-6)
        assert own == pytest.approx(rod, rel=0.05)
    consistent = Arm(n_links=12, discretisation="consistent")
    weightless = committed["rod"]["frequencies"]["no gravity"]
    assert fidelity.arm_frequencies(consistent, 0.0) == pytest.approx(weightless, rel=0.05)


def test_what_is_committed_is_what_the_rod_gives(fidelity, committed):
    coarse = [
        fidelity.PlanarRod(Arm(), n, (0, 0, -1)).frequencies(fidelity.Loads(9.81), 3)
        for n in (24, 48)
    ]
    rod = committed["rod"]["frequencies"]["hanging"]
    assert fidelity.richardson(*coarse) == pytest.approx(rod, rel=5e-4)


@pytest.mark.parametrize("case", ["horizontal", "tip force"])
def test_shapes_of_arms_are_what_is_committed(fidelity, committed, case):
    arm = Arm(n_links=6, discretisation="consistent")
    own = fidelity.arm_shape(arm, fidelity.STATICS[case])
    assert own == pytest.approx(np.array(committed["consistent"]["6"]["shapes"][case]), abs=1e-6)


@pytest.mark.parametrize("case", ["hanging", "no gravity"])
def test_errors_fall_with_the_links_as_the_discretisation_says(fidelity, committed, case):
    for kind, order in (("chain", 1.0), ("consistent", 2.0)):
        first = [abs(fidelity.frequency_errors(committed, kind, n, case)[0]) for n in (12, 24)]
        assert np.log2(first[0] / first[1]) == pytest.approx(order, abs=0.45)


def test_the_page_shows_the_committed_table(fidelity, committed):
    shown = PAGE.partition(fidelity.BEGIN)[2].partition(fidelity.END)[0].strip()
    assert shown == fidelity.table(committed)


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_snippets_of_the_page_run(snippet, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr
