"""OpenSim's Scholz2015GeometryPath, which is Simbody's CableSpan, on the set-ups of cables.py.

Reads the set-ups as JSON from the file that is named first, and prints JSON: for every one, us
per pose of small and of large steps, the same of a straight cable between the same points, and
the lengths of the large steps. A pose is setting the origin's place and asking for the length.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import opensim


def contact(kind: str, sizes: list[float], pose: list[float], ground: Any) -> Any:
    """Return an obstacle fixed to the ground."""
    turn = opensim.Rotation(opensim.Quaternion(*pose[3:])).convertRotationToBodyFixedXYZ()
    place = (opensim.Vec3(*pose[:3]), turn, ground)
    if kind == "sphere":
        made = opensim.ContactSphere(sizes[0], place[0], ground)
        made.set_orientation(turn)
        return made
    if kind == "cylinder":
        return opensim.ContactCylinder(sizes[0], *place)
    if kind == "ellipsoid":
        return opensim.ContactEllipsoid(opensim.Vec3(*sizes), *place)
    return opensim.ContactTorus(sizes[0], sizes[1], *place)


class Rig:
    """A cable from a body that moves to the ground."""

    def __init__(self, case: dict[str, Any], straight: bool) -> None:
        """Build the model and solve it once."""
        self._model = opensim.Model()
        ground, body = self._model.getGround(), opensim.Body()
        body.setName("origin")
        body.setMass(1.0)
        body.setInertia(opensim.Inertia(1.0))
        self._model.addBody(body)
        joint = opensim.FreeJoint("free", ground, body)
        self._model.addJoint(joint)
        self._place = [joint.get_coordinates(k) for k in (3, 4, 5)]
        for coordinate, value in zip(self._place, case["bodies"][0]["pose"], strict=False):
            coordinate.setDefaultValue(value)
        self._path = opensim.Scholz2015GeometryPath()
        self._path.setName("path")
        self._model.addComponent(self._path)
        self._path.appendPathPoint(body, opensim.Vec3(*case["origin"]["station"]))
        for k, element in enumerate([] if straight else case["elements"]):
            made = contact(element["type"], element["params"], element["pose"], ground)
            made.setName(f"obstacle_{k}")
            self._model.addContactGeometry(made)
            self._path.appendObstacle(made, opensim.Vec3(*element["hint"]))
        self._path.appendPathPoint(ground, opensim.Vec3(*case["termination"]["station"]))
        self._state = self._model.initSystem()

    def length(self, place: list[float]) -> float:
        """Move the origin and return the cable's length."""
        for coordinate, value in zip(self._place, place, strict=True):
            coordinate.setValue(self._state, value, False)
        self._model.realizePosition(self._state)
        return self._path.getLength(self._state)


def timed(rig: Rig, places: list[list[float]]) -> float:
    """Return us per pose."""
    begin = time.perf_counter()
    for place in places:
        rig.length(place)
    return 1e6 * (time.perf_counter() - begin) / len(places)


def main() -> None:
    """Measure all set-ups."""
    opensim.Logger.setLevelString("Error")
    found = {}
    for name, case in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        rig, line = Rig(case, straight=False), Rig(case, straight=True)
        for place in case["small"]:
            rig.length(place)
        times = {
            f"{kind}{suffix}": timed(each, case[kind])
            for kind in ("small", "large")
            for suffix, each in (("", rig), ("_straight", line))
        }
        found[name] = {**times, "lengths": [rig.length(place) for place in case["large"]]}
    sys.stdout.write(json.dumps({"version": opensim.GetVersion(), "times": found}) + "\n")


if __name__ == "__main__":
    main()
