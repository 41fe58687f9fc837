"""A tendon world to native XML, and to a model file beside it for what native XML cannot say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from tendon_gym.tendons.files.elements import Element, joined, render, shortest
from tendon_gym.tendons.files.object_elements import ground_element, shape_element, system_element
from tendon_gym.tendons.files.objects import (
    Coordinates,
    Held,
    Objects,
    actuator_indices,
    local_indices,
    name_bodies,
)
from tendon_gym.tendons.files.paths import output_path
from tendon_gym.tendons.files.shapes import Ground, Shape, ground_of, shape_of
from tendon_gym.tendons.files.sidecars import frozen, mjcf_text
from tendon_gym.tendons.files.systems import System, attached, bodies_of, without
from tendon_gym.tendons.files.tendon_elements import TendonWriter
from tendon_gym.tendons.naming import of_kind
from tendon_gym.tendons.places import Places
from tendon_gym.tendons.world import TendonWorld


def save_scene(world: TendonWorld, path: str | Path) -> tuple[Path, ...]:
    """Write a world in its present state to a native XML file; return the files that were written.

    Bodies that native XML can say are objects of their own, and systems that were read from files
    refer to these. Everything else of the model goes to the file NAME.model.xml beside NAME.xml, as
    MJCF, if there is anything else. The same world always gives the same bytes, and `load_scene`
    the same world; what is not kept are the time and forces that the user applied.

    Raises:
        OSError: a file cannot be written.
        ValueError: a folder; the world has assets from memory, names with characters that XML
            hasn't, or a system whose own file would be written over.
    """
    of_kind("world", world, TendonWorld)
    path = output_path(path)
    texts = _Writer(world, path).texts()
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
    return tuple(texts)


@dataclass
class _Parts:
    """The spec of a world, taken apart.

    Attributes:
        grounds: floors.
        shapes: single bodies by index.
        systems: those from files.
        rest: everything else.
    """

    grounds: list[Ground]
    shapes: dict[int, Shape]
    systems: list[System]
    rest: mujoco.MjSpec


class _Writer:
    """Writes one world."""

    def __init__(self, world: TendonWorld, path: Path) -> None:
        self._path, self._world, self._data = path, world, world.data
        self._spec = spec = frozen(world)
        self._model = spec.compile()
        name_bodies(spec)
        self._model = spec.compile()
        self._places = Places(spec, self._model)

    def texts(self) -> dict[Path, str]:
        """Return what to write, by file: the scene last, which refers to the others."""
        parts = _take_apart(self._spec, self._model)
        for system in parts.systems:
            if system.path.resolve() == self._path.resolve():
                raise ValueError(f"{str(self._path)!r} is the file of the system {system.name}")
        texts, objects, elements = {}, [], []
        bare = mujoco.MjSpec()
        bare.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        for name in ("timestep", "gravity"):
            setattr(bare.option, name, getattr(self._spec.option, name))
        folder = self._path.parent
        model = mjcf_text(parts.rest, folder)
        if model != mjcf_text(bare, folder):
            file = self._path.with_name(f"{self._path.stem}.model.xml")
            texts[file] = model
            held = self._base(parts)
            objects.append(held)
            element = system_element(System(held.name, file), folder)
            element.attributes["prefix"] = ""
            elements.append(self._with_state(element, held))
        for element, held in self._objects(parts):
            elements.append(element)
            objects.append(held)
        root = Element("raisim", {"version": "2.0.0"})
        root.children.append(Element("gravity", {"value": joined(self._spec.option.gravity)}))
        root.children.append(Element("timeStep", {"value": shortest(self._spec.option.timestep)}))
        root.children.append(Element("objects", {}, elements))
        root.children += self._tendons(Objects(self._model, objects))
        texts[self._path] = render(root)
        return texts

    def _objects(self, parts: _Parts) -> list[tuple[Element, Held]]:
        """Return the objects that are not of the rest, in the order of their bodies."""
        found: list[tuple[int, Element, Held]] = []
        for ground in parts.grounds:
            found.append((0, ground_element(ground), Held(ground.name, height=ground.height)))
        for body, shape in parts.shapes.items():
            place = Coordinates(self._model, (body,))
            positions, velocities = place.positions(self._data), place.velocities(self._data)
            element = shape_element(shape, positions, velocities, self._path.parent)
            found.append((body, element, Held(shape.name, "", (body,), (body,))))
        first = len(self._spec.actuators) - sum(map(_actuators, parts.systems))
        for system in parts.systems:
            bodies = tuple(bodies_of(self._spec, system))
            actuators = range(first, first + _actuators(system))
            first = actuators.stop
            local = local_indices(self._model, bodies)
            held = Held(system.name, system.prefix, bodies, local, actuators, True)
            element = self._with_state(system_element(system, self._path.parent), held)
            found.append((min(bodies, default=0), element, held))
        found.sort(key=lambda item: item[0])
        return [item[1:] for item in found]

    def _base(self, parts: _Parts) -> Held:
        """Return what the rest has in the model."""
        taken = {*parts.shapes, *(b for s in parts.systems for b in bodies_of(self._spec, s))}
        bodies = tuple(b for b in range(1, self._model.nbody) if b not in taken)
        names = {ground.name for ground in parts.grounds} | {s.name for s in parts.systems}
        names |= {shape.name for shape in parts.shapes.values()}
        name = "model"
        while name in names:
            name += "_"
        local = local_indices(self._model, bodies)
        return Held(name, "", bodies, local, range(len(parts.rest.actuators)), True)

    def _with_state(self, element: Element, held: Held) -> Element:
        """Return the element of a system with its state in it, if it has any."""
        place = Coordinates(self._model, held.bodies)
        state = {}
        if place.qpos.size:
            state["qpos"] = joined(place.positions(self._data))
            state["qvel"] = joined(place.velocities(self._data))
        for name, source in (("act", self._data.act), ("ctrl", self._data.ctrl)):
            values = source[actuator_indices(self._model, held.actuators, name)]
            if values.any():
                state[name] = joined(values)
        if state:
            element.children.append(Element("state", state))
        return element

    def _tendons(self, objects: Objects) -> list[Element]:
        """Return the elements of tendons and couplings."""
        writer = TendonWriter(self._places, objects)
        records = self._world.simulation.records(self._world.scene)
        elements = [writer.tendon(record) for record in records.tendons]
        return elements + [writer.coupling(record) for record in records.couplings]


def _take_apart(spec: mujoco.MjSpec, model: mujoco.MjModel) -> _Parts:
    """Return the parts of a spec, or all of it as rest if taking them apart would lose anything."""
    shapes = {body.id: shape_of(spec, model, body) for body in spec.worldbody.bodies}
    known = {index: shape for index, shape in shapes.items() if shape is not None}
    grounds = list(filter(None, map(ground_of, spec.worldbody.geoms)))
    systems = attached(spec)
    rest = without(spec, systems)
    for shape in known.values():
        rest.delete(rest.body(shape.name))
        if shape.mesh is not None:
            rest.delete(rest.mesh(shape.name))
    for ground in grounds:
        rest.delete(rest.geom(ground.name))
    owned = np.sum([_counts(system.load()) for system in systems] or [_counts(mujoco.MjSpec())], 0)
    if spec.keys or (_counts(rest) + owned != _counts(spec)).any():
        return _Parts([], {}, [], spec.copy())
    return _Parts(grounds, known, systems, rest)


def _counts(spec: mujoco.MjSpec) -> np.ndarray:
    """Return how many there are of what may refer to a body."""
    groups = (
        spec.actuators, spec.sensors, spec.equalities, spec.excludes, spec.pairs, spec.tendons,
        spec.cameras, spec.lights, spec.flexes, spec.skins, spec.tuples,
    )  # fmt: skip
    return np.array([len(group) for group in groups])


def _actuators(system: System) -> int:
    return len(system.load().actuators)
