"""Native XML to a tendon world: the format of RaiSim's world files, as far as MuJoCo can say it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco

from tendon_gym import checks
from tendon_gym.tendons.files.elements import Element, parse
from tendon_gym.tendons.files.object_elements import (
    OBJECTS,
    SYSTEMS,
    is_base,
    modernise,
    read_ground,
    read_shape,
    read_system,
    read_velocity,
)
from tendon_gym.tendons.files.objects import (
    Coordinates,
    Held,
    Objects,
    actuator_indices,
    local_indices,
    name_bodies,
)
from tendon_gym.tendons.files.paths import given_path
from tendon_gym.tendons.files.shapes import add_ground, add_shape
from tendon_gym.tendons.files.systems import System, attach, bodies_of, load_spec, make_absolute
from tendon_gym.tendons.files.tendon_elements import read_coupling, read_tendon
from tendon_gym.tendons.scene import TendonRecord
from tendon_gym.tendons.world import TendonWorld

TIME_STEP = 0.005
GRAVITY = (0.0, 0.0, -9.81)
"""Of a file that doesn't say, s and m/s^2."""
_ROOT = ("gravity", "timeStep", "objects", "tendon", "tendon_coupling")
_Holder = Callable[[mujoco.MjSpec, mujoco.MjModel], Held]


def load_scene(path: str | Path, *, limits: str = "predictive") -> TendonWorld:
    """Return the world that a native XML file describes, in the state that it describes.

    Paths in the file are relative to its folder. Without a model that it stands on (an articulated
    system with an empty prefix) a scene has MuJoCo's default options and the discrete integrator.

    Args:
        path: of the file.
        limits: as for `TendonWorld`.

    Raises:
        OSError: the file cannot be read.
        ValueError: what is wrong in it, with file, line and element.
    """
    path = given_path(path)
    root = parse(path)
    if root.tag != "raisim":
        root.fail("the first element of a scene must be <raisim>")
    root.check(["version"], _ROOT)
    return _Reader(root, path.resolve().parent).world(limits)


class _Reader:
    """Builds a world from the elements of a file."""

    def __init__(self, root: Element, folder: Path) -> None:
        self._root, self._folder = root, folder
        self._holders: list[tuple[Element, _Holder]] = []

    def world(self, limits: str) -> TendonWorld:
        """Return the world."""
        spec = self._build(self._objects())
        with self._root.located():
            spec.compile()
            name_bodies(spec)
            model = spec.compile()
            world = TendonWorld(spec, limits=limits)
        held = []
        for element, holder in self._holders:
            held.append(holder(spec, model))
            if held[-1].bodies:
                _set_state(element, held[-1], world)
        self._add_tendons(world, Objects(model, held))
        return world

    def _objects(self) -> list[Element]:
        """Return the elements of objects, which must have names of their own."""
        objects = self._root.only("objects")
        if objects is None:
            return []
        objects.check((), OBJECTS)
        lines: dict[str, int] = {}
        for element in objects.children:
            modernise(element)
            name = element.text("name")
            if name == "world":
                element.fail("an object cannot have the name of the world")
            if name in lines:
                element.fail(
                    f"the name {checks.shown(name)} is ambiguous: line {lines[name]} has an object "
                    "of it too"
                )
            lines[name] = element.line
        return objects.children

    def _build(self, elements: list[Element]) -> mujoco.MjSpec:
        """Return the spec of all objects."""
        bases = [element for element in elements if is_base(element)]
        if bases:
            spec = self._base(bases[0])
        else:
            spec = mujoco.MjSpec()
            spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
            spec.option.timestep, spec.option.gravity = TIME_STEP, GRAVITY
        if len(bases) > 1:
            bases[1].fail(f"line {bases[0].line} has a system without prefix already")
        self._set_options(spec)
        for element in elements:
            if element not in bases:
                with element.located():
                    self._holders.append((element, self._add(element, spec)))
        return spec

    def _base(self, element: Element) -> mujoco.MjSpec:
        """Return the model that a scene stands on."""
        with element.located():
            system = read_system(element, self._folder)
            spec = load_spec(system.path)
            spec.meshdir = spec.meshdir if system.resources is None else str(system.resources)
            make_absolute(spec)
            spec.compile()
            spec.compiler.fusestatic = False
        bodies, actuators = tuple(range(1, len(spec.bodies))), range(len(spec.actuators))
        self._holders.append(
            (
                element,
                lambda _, model: Held(
                    system.name, "", bodies, local_indices(model, bodies), actuators, True
                ),
            )
        )
        return spec

    def _set_options(self, spec: mujoco.MjSpec) -> None:
        """Give a spec the options of the file."""
        if (gravity := self._root.only("gravity")) is not None:
            gravity.check(["value"])
            with gravity.located():
                spec.option.gravity = checks.array("value", gravity.numbers("value", 3), (3,))
        if (step := self._root.only("timeStep")) is not None:
            step.check(["value"])
            with step.located():
                spec.option.timestep = checks.number("value", step.number("value"), above=0.0)

    def _add(self, element: Element, spec: mujoco.MjSpec) -> _Holder:
        """Add an object to a spec; return what tells what it has in a model."""
        if element.tag in SYSTEMS:
            return self._add_system(read_system(element, self._folder), spec)
        if element.tag == "ground":
            ground = read_ground(element)
            add_ground(spec, ground)
            return lambda *_: Held(ground.name, height=ground.height)
        shape = read_shape(element, self._folder)
        body = add_shape(spec, shape)
        return lambda *_: Held(shape.name, "", (body.id,), (body.id,))

    def _add_system(self, system: System, spec: mujoco.MjSpec) -> _Holder:
        first = len(spec.actuators)
        attach(spec, system)
        actuators = range(first, len(spec.actuators))

        def held(spec: mujoco.MjSpec, model: mujoco.MjModel) -> Held:
            bodies = tuple(bodies_of(spec, system))
            local = local_indices(model, bodies)
            return Held(system.name, system.prefix, bodies, local, actuators, True)

        return held

    def _add_tendons(self, world: TendonWorld, objects: Objects) -> None:
        """Add the tendons and couplings of the file."""
        records: list[TendonRecord] = []
        for element in self._root.all("tendon"):
            records.append(read_tendon(element, objects))
            with element.located():
                add_tendon(world, records[-1])
        tendons = {tendon.name: tendon for tendon in world.tendons}
        for element in self._root.all("tendon_coupling"):
            record = read_coupling(element, tendons)
            second = None if record.second is None else tendons[record.second]
            with element.located():
                world.add_coupling(record.name, tendons[record.first], second, record.properties)
        for tendon, record in zip(world.tendons, records, strict=True):
            if record.reference is not None:
                tendon.reference_length = record.reference
            if record.activation:
                tendon.activation = record.activation


def add_tendon(world: TendonWorld, record: TendonRecord) -> None:
    """Add the tendon of a record to a world, all but its reference length and activation."""
    if record.path:
        tendon = world.add_spatial_tendon(record.name, record.path, record.properties)
    else:
        tendon = world.add_fixed_tendon(record.name, record.joints, record.properties)
    if record.drive is not None:
        tendon.drive = record.drive
    if not record.enabled:
        tendon.enabled = False


def _set_state(element: Element, held: Held, world: TendonWorld) -> None:
    """Bring an object of a world to the state that its element gives."""
    model, data = world.model, world.data
    coordinates = Coordinates(model, held.bodies)
    if not held.system:
        if coordinates.qvel.size:
            coordinates.write(data, (), read_velocity(element))
        return
    state = element.only("state")
    if state is None:
        return
    state.check(("qpos", "qvel", "act", "ctrl"))
    with state.located():
        positions = _vector(state, "qpos", len(coordinates.qpos))
        coordinates.write(data, positions, _vector(state, "qvel", len(coordinates.qvel)))
        for name, target in (("act", data.act), ("ctrl", data.ctrl)):
            indices = actuator_indices(model, held.actuators, name)
            if values := _vector(state, name, len(indices)):
                target[indices] = values


def _vector(state: Element, name: str, count: int) -> tuple[float, ...]:
    """Return the finite numbers of a state, or none if they are left out."""
    if name not in state.attributes:
        return ()
    values = state.numbers(name, None)
    if len(values) != count:
        state.fail(f"{name} must be {count} numbers, got {len(values)}")
    return tuple(checks.array(name, values, (None,)).tolist())
