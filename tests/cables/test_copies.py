"""Copies and pickles: of surfaces, systems, states and pulls, also in another process."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableState,
    CableSystem,
    Cylinder,
    HeightMap,
    ImplicitSurface,
    Sphere,
    Winch,
)
from tests.cables.cases import GROUND
from tests.cables.test_surfaces import ball

CHECKOUT = Path(__file__).parents[2]


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def made() -> CablePulls:
    """Return pulls of two cables in two simulations, one of which has an obstacle of its own."""
    system = CableSystem(["wall", "load"], on_fault="keep")
    for surface in (ImplicitSurface(ball, 1.0), Cylinder(0.8)):
        cable = CableSpan(system, "wall", (-2.0, 0.1, 0.0), "load", (2.0, 0.0, 0.1))
        cable.add_obstacle("wall", GROUND, surface, (0.0, 1.0, 0.0))
    grid = np.arange(4.0)
    cable.add_obstacle("wall", (0, 0, -9, 1, 0, 0, 0), HeightMap(grid, grid, np.zeros((4, 4))))
    state = system.new_state(2)
    state.set_obstacle(1, 0, 0, surface=Sphere(0.9))
    return CablePulls(state, [Winch(3.0, 10.0, 1.0), Winch(3.0, 20.0, target=2.5)], [0.2, 0.3])


def go_on(pulls: CablePulls, steps: int = 5) -> np.ndarray:
    """Move the load, let winches turn, and return the forces and the state after it."""
    found, state = [], pulls.state
    for _ in range(steps):
        state.position[:, 1] += (0.0, 0.05, 0.02)
        state.velocity[:, 1] = (0.0, 0.5, 0.2)
        state.mark_unsolved()
        forces = np.zeros((2, 2, 6))
        pulls.add_forces(forces, 0.1)
        found.append(forces.ravel())
    return np.concatenate([*found, state.state.ravel()])


@pytest.mark.parametrize("way", [copy.deepcopy, again])
def test_copies_go_on_alike_and_on_their_own(way):
    pulls = made()
    go_on(pulls)
    twin, state = way(pulls), way(pulls.state)
    assert twin.state.system is not pulls.state.system
    assert isinstance(state, CableState)
    np.testing.assert_array_equal(state.state, pulls.state.state)
    rest = pulls.state.state.copy()
    went = go_on(twin)
    np.testing.assert_array_equal(pulls.state.state, rest)
    np.testing.assert_array_equal(go_on(pulls), went)
    twin.state.system.cables[1].set_obstacle_surface(0, Cylinder(0.5))
    assert (go_on(twin) != go_on(pulls)).any()


@pytest.mark.parametrize("way", [copy.deepcopy, again])
def test_a_state_that_was_never_solved_and_one_of_an_incomplete_cable(way):
    system = CableSystem(2)
    cable = CableSpan()
    system.adopt(cable)
    twin = way(system.new_state())
    span = twin.system.cables[0]
    span.set_origin(0, (0, 0, 0))
    span.set_termination(1, (3, 4, 0))
    assert span.length(twin) == 5.0


def test_a_pickle_goes_on_in_another_process(tmp_path):
    """A user's function lies at another address there."""
    pulls, file = made(), tmp_path / "pulls.pickle"
    go_on(pulls)
    file.write_bytes(pickle.dumps(pulls))
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    subprocess.run([sys.executable, __file__, str(file)], check=True, env=environment)
    np.testing.assert_array_equal(np.load(file.with_suffix(".npy")), go_on(pulls))


if __name__ == "__main__":
    given = Path(sys.argv[1])
    np.save(given.with_suffix(".npy"), go_on(pickle.loads(given.read_bytes())))
