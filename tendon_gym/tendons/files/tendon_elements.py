"""Tendons and couplings as elements of native XML, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks
from tendon_gym.tendons.drive import Drive
from tendon_gym.tendons.files.elements import Element, joined, shortest
from tendon_gym.tendons.files.objects import Objects
from tendon_gym.tendons.path import (
    Cylinder,
    JointTerm,
    PathElement,
    Pulley,
    Site,
    Sphere,
    Via,
    checked_joints,
    checked_path,
)
from tendon_gym.tendons.places import Places
from tendon_gym.tendons.properties import CouplingProperties, Properties
from tendon_gym.tendons.scene import CouplingRecord, TendonRecord

_SITE = ("object", "local_index", "pos")
_GUIDES = {"sphere": (*_SITE, "radius"), "cylinder": (*_SITE, "radius", "axis")}
_ROUTE = ("site", "sphere", "cylinder", "pulley")
_PROPERTIES = [field.name for field in fields(Properties)]
_TENDON = ("name", "type", "enabled", "reference_length", "activation", *_PROPERTIES)
_DRIVE = [field.name for field in fields(Drive)]
_COUPLING = ("name", "first", "second", *(field.name for field in fields(CouplingProperties)))


# -- reading


def read_tendon(element: Element, objects: Objects) -> TendonRecord:
    """Return the tendon that an element describes, on the objects of a scene.

    Raises:
        ValueError: what is wrong with it, with file, line and element.
    """
    kind = element.text("type")
    if kind not in ("spatial", "fixed"):
        element.fail(f"type must be one of spatial, fixed, got {checks.shown(kind)}")
    element.check(_TENDON, ("drive", *(_ROUTE if kind == "spatial" else ["joint"])))
    route = [child for child in element.children if child.tag != "drive"]
    path: tuple[PathElement, ...] = ()
    joints: tuple[JointTerm, ...] = ()
    with element.located():
        if kind == "spatial":
            path = checked_path([_read_step(child, objects) for child in route])
        else:
            joints = checked_joints([_read_term(child, objects) for child in route])
        reference = element.number("reference_length", np.nan)
        if "reference_length" in element.attributes:
            checks.number("reference_length", reference)
        return TendonRecord(
            element.text("name"),
            Properties(**_read_properties(element)),
            path,
            joints,
            _read_drive(element.only("drive")),
            element.flag("enabled", True),
            reference if "reference_length" in element.attributes else None,
            checks.number("activation", element.number("activation", 0.0)),
        )


def read_coupling(element: Element, tendons: Mapping[str, object]) -> CouplingRecord:
    """Return the coupling that an element describes, between tendons of a scene.

    Raises:
        ValueError: what is wrong with it, with file, line and element.
    """
    element.check(_COUPLING)
    names: dict[str, str | None] = {"first": element.text("first"), "second": None}
    if "second" in element.attributes:
        names["second"] = element.text("second")
    for what, name in names.items():
        if name is not None and name not in tendons:
            legal = ", ".join(tendons) or "nothing: there are no tendons"
            element.fail(f"{what} must be one of {legal}, got {checks.shown(name)}")
    default = CouplingProperties()
    with element.located():
        properties = CouplingProperties(
            element.numbers("coefficients", 5, default.coefficients),  # type: ignore[arg-type]
            element.number("compliance", default.compliance),
            element.number("position_correction", default.position_correction),
            element.flag("enabled", default.enabled),
        )
        return CouplingRecord(
            element.text("name"), element.text("first"), names["second"], properties
        )


def _read_properties(element: Element) -> dict[str, Any]:
    given = [name for name in _PROPERTIES if name in element.attributes]
    return {
        name: element.numbers(name, 4) if name == "color" else element.number(name)
        for name in given
    }


def _read_drive(element: Element | None) -> Drive | None:
    if element is None:
        return None
    element.check(_DRIVE)
    with element.located():
        return Drive(**{name: element.number(name) for name in element.attributes})


def _read_step(element: Element, objects: Objects) -> PathElement:
    """Return an element of a path."""
    with element.located():
        if element.tag == "pulley":
            element.check(["divisor"])
            return Pulley(element.number("divisor"))
        if element.tag == "site":
            element.check(_SITE)
            return Via(_read_site(element, objects))
        element.check(_GUIDES[element.tag], ["side"])
        center, radius = _read_site(element, objects), element.number("radius")
        side = element.only("side")
        if side is not None:
            side.check(_SITE)
        beside = None if side is None else _read_site(side, objects)
        if element.tag == "sphere":
            return Sphere(center, radius, beside)
        return Cylinder(center, radius, element.numbers("axis", 3, (0.0, 0.0, 1.0)), beside)  # type: ignore[arg-type]


def _read_site(element: Element, objects: Objects) -> Site:
    """Return where an element is."""
    with element.located():
        position = np.array(element.numbers("pos", 3, (0.0, 0.0, 0.0)))
        index = element.integer("local_index", 0)
        if "object" not in element.attributes:
            if index:
                element.fail(f"local_index must be 0 on the world, got {index}")
            return Site(None, tuple(position.tolist()))
        name = element.text("object")
        body = objects.body(name, index)
        if not body:
            position[2] += objects.height(name)
        return Site(objects.model.body(body).name if body else None, tuple(position.tolist()))


def _read_term(element: Element, objects: Objects) -> JointTerm:
    element.check(("object", "joint", "coefficient"))
    with element.located():
        joint = objects.joint(element.text("object"), element.text("joint"))
        return JointTerm(joint, element.number("coefficient", 1.0))


# -- writing


class TendonWriter:
    """Writes the tendons and couplings of a scene on its objects."""

    def __init__(self, places: Places, objects: Objects) -> None:
        self._places, self._objects = places, objects

    def tendon(self, record: TendonRecord) -> Element:
        """Return the element of a tendon, of which the reference length is known."""
        attributes = {"name": record.name, "type": record.type}
        if not record.enabled:
            attributes["enabled"] = "false"
        if record.reference is not None:
            attributes["reference_length"] = shortest(record.reference)
        if record.activation:
            attributes["activation"] = shortest(record.activation)
        element = Element("tendon", attributes | _changed(record.properties))
        if record.drive is not None:
            element.children.append(Element("drive", _changed(record.drive)))
        element.children += [self._step(step) for step in record.path]
        element.children += [self._term(term) for term in record.joints]
        return element

    def coupling(self, record: CouplingRecord) -> Element:
        """Return the element of a coupling."""
        attributes = {"name": record.name, "first": record.first}
        if record.second is not None:
            attributes["second"] = record.second
        return Element("tendon_coupling", attributes | _changed(record.properties))

    def _step(self, step: PathElement) -> Element:
        if isinstance(step, Pulley):
            return Element("pulley", {"divisor": shortest(step.divisor)})
        if isinstance(step, Via):
            return Element("site", self._site(step.site)[0])
        attributes, turn = self._site(step.center)
        attributes["radius"] = shortest(step.radius)
        element = Element("sphere", attributes)
        if isinstance(step, Cylinder):
            element.tag = "cylinder"
            axis = np.empty(3)
            mujoco.mju_rotVecQuat(axis, np.array(step.axis), turn)
            x, y, z = axis.tolist()
            attributes["axis"] = joined(Cylinder(step.center, step.radius, (x, y, z)).axis)
        if step.side is not None:
            element.children.append(Element("side", self._site(step.side)[0]))
        return element

    def _site(self, site: Site) -> tuple[dict[str, str], np.ndarray]:
        """Return the attributes of a site, and how its frame is turned in that of its body."""
        found = self._places.of(site)
        place = self._objects.place(found.body, found.position, found.quaternion)
        attributes = {"pos": joined(place.position)}
        if place.object is not None:
            on = {"object": place.object, "local_index": str(place.local_index)}
            attributes = on | attributes
        return attributes, place.quaternion

    def _term(self, term: JointTerm) -> Element:
        held = self._objects.owner_of_joint(term.joint)
        joint = term.joint.removeprefix(held.prefix)
        attributes = {"object": held.name, "joint": joint}
        return Element("joint", attributes | {"coefficient": shortest(term.coefficient)})


def _changed(config: Any) -> dict[str, str]:
    """Return the fields of a config that are not what they are by default, as attributes."""
    attributes = {}
    for field in fields(config):
        value = getattr(config, field.name)
        default = field.default
        if value == default or (value != value and default != default) or default is MISSING:
            continue
        if isinstance(value, bool):
            attributes[field.name] = "true" if value else "false"
        else:
            attributes[field.name] = joined(value if isinstance(value, tuple) else (value,))
    return attributes
