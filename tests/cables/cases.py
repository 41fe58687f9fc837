"""The cases of the data file, as cables of this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tendon_gym.cables import (
    CableSpan,
    CableState,
    CableSystem,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightMap,
    Sphere,
    Surface,
    Torus,
)

FILE = Path(__file__).parents[1] / "data" / "cables" / "cablespan_cases.json"
DATA = json.loads(FILE.read_text())
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in DATA["cases"]}
GROUND = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def upstream_height_map(spread: float, rise: float) -> HeightMap:
    grid = spread * np.array([-2.0, -1.0, 1.0, 2.0])
    over_x = [[2, 3, 3, 1], [0, 1.5, 1.5, 0], [0, 1.5, 1.5, 0], [2, 3, 3, 1]]
    return HeightMap(grid, grid, rise * np.array(over_x))


def surface_of(element: dict[str, Any]) -> Surface:
    sizes = element["params"]
    makers: dict[str, Any] = {
        "sphere": Sphere,
        "cylinder": Cylinder,
        "torus": Torus,
        "halfspace": HalfSpace,
        "heightmap": upstream_height_map,
        "ellipsoid": lambda *radii: Ellipsoid(radii),
    }
    return makers[element["type"]](*sizes)


def cable_of(case: dict[str, Any], system: CableSystem | None = None) -> CableSpan:
    """Return the cable of a case, in a system of its own or a given one."""
    owner = system or CableSystem(1 + len(case["bodies"]))
    ends = [case[end][key] for end in ("origin", "termination") for key in ("body", "station")]
    cable = CableSpan(owner, *ends)
    for element in case["elements"]:
        if element["kind"] == "via":
            cable.add_via_point(element["body"], element["station"])
        else:
            surface = surface_of(element)
            cable.add_obstacle(element["body"], element["pose"], surface, element["hint"])
    cable.algorithm = {"MinimumLength": "minimum_length", "Scholz2015": "scholz_2015"}[
        case["algorithm"]
    ]
    if case["settings"] != "default":
        settings = case["settings"]
        cable.curve_segment_accuracy = settings["curve_segment_accuracy"]
        cable.smoothness_tolerance = settings["smoothness_tolerance"]
        cable.solver_max_iterations = settings["max_iterations"]
    return cable


def place_bodies(state: CableState, poses: np.ndarray) -> None:
    """Move a state of one simulation to poses (b, 7)."""
    state.set_poses(poses[:, :3], poses[:, 3:])


def poses_of(case: dict[str, Any]) -> np.ndarray:
    """Return the poses (b, 7) of all bodies, the ground first."""
    return np.array([GROUND, *[body["pose"] for body in case["bodies"]]])


def solved(case: dict[str, Any]) -> tuple[CableSpan, CableState]:
    """Return the cable of a case and a state with its poses and velocities."""
    cable = cable_of(case)
    state = cable.owner.new_state()
    place_bodies(state, poses_of(case))
    velocities = np.array([[0.0] * 6, *case.get("body_velocities", [])])
    if len(velocities) == len(state.velocity[0]):
        state.set_velocities(velocities[:, 3:], velocities[:, :3])
    return cable, state
