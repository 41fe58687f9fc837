"""`TendonWorld`: a MuJoCo model with tendons and couplings that can be added and taken away."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import mujoco

from tendon_gym import checks
from tendon_gym.tendons.base import Base, copied, empty_spec
from tendon_gym.tendons.batch import TendonBatch
from tendon_gym.tendons.building import PREFIX
from tendon_gym.tendons.drive import Drive
from tendon_gym.tendons.forces import Forces, collect, no_forces
from tendon_gym.tendons.handles import Coupling, Tendon
from tendon_gym.tendons.naming import about, checked_name, of_kind
from tendon_gym.tendons.path import (
    JointTerm,
    PathElement,
    checked_joints,
    checked_path,
)
from tendon_gym.tendons.places import Places
from tendon_gym.tendons.properties import CouplingProperties, Properties
from tendon_gym.tendons.scene import CouplingRecord, Scene, TendonRecord
from tendon_gym.tendons.simulation import Simulation
from tendon_gym.tendons.state import WorldState, check_state, read_state, write_state
from tendon_gym.tendons.transfer import Kept

LIMITS = ("predictive", "native")


class TendonWorld:
    """Tendons and couplings on a MuJoCo model, with RaiSim's semantics.

    The model may be edited at any time between steps: it is compiled anew when it is asked for
    next, and everything that stays keeps its state. `model` and `data` are other objects then, in
    which the model's own joints, actuators, bodies and equalities come first, as they were.

    Attributes:
        limits: "predictive": unilateral limits are hard, a step never passes them by more than
            its own unforeseen acceleration; "native": MuJoCo's own, which a step at speed v passes
            by up to v h.
    """

    __slots__ = (
        "__weakref__", "_base", "_couplings", "_forces", "_limits", "_previous", "_simulation",
        "_tendons",
    )  # fmt: skip

    def __init__(self, spec: mujoco.MjSpec | None = None, *, limits: str = "predictive") -> None:
        """Take a copy of `spec`; without one, an empty world with the discrete integrator.

        The rows of limits, locks and couplings are hard, so that MuJoCo's solver stops early at
        its own tolerance of 1e-8: an empty world has a finer one, and a spec should.

        Raises:
            ValueError: a tendon of its own whose path refers to what isn't there; the integrator
                RK4 or the flag diagexact, for which there are no exact rows; elements with names
                that begin as those do that a world adds.
        """
        if spec is not None:
            of_kind("spec", spec, mujoco.MjSpec)
        self._limits = checks.choice("limits", limits, LIMITS)
        self._base = Base(empty_spec() if spec is None else copied(spec))
        self._tendons: list[Tendon] = []
        self._couplings: list[Coupling] = []
        self._simulation: Simulation | None = None
        self._previous: tuple[mujoco.MjModel, mujoco.MjData, Kept] | None = None
        self._forces: Forces | None = None

    @classmethod
    def from_file(cls, path: str | Path, *, limits: str = "predictive") -> TendonWorld:
        """Return a world around an MJCF or URDF file."""
        return cls(mujoco.MjSpec.from_file(str(path)), limits=limits)

    @classmethod
    def from_string(cls, xml: str, *, limits: str = "predictive") -> TendonWorld:
        """Return a world around MJCF or URDF text."""
        return cls(mujoco.MjSpec.from_string(xml), limits=limits)

    # -- tendons and couplings

    def add_spatial_tendon(
        self, name: str, path: Iterable[PathElement], properties: Properties | None = None
    ) -> Tendon:
        """Add a tendon along a path; its length now is its reference length.

        Raises:
            ValueError: a name that is taken; a path that is none; something that it is to be on
                but that the model hasn't. Nothing is changed then.
        """
        route = about(f"tendon {name}", lambda: checked_path(path))
        about(f"tendon {name}", lambda: self._base.places.check_path(route))
        chained = self._base.places.in_one_chain(route, ())
        return self._add(TendonRecord(name, _or_default(properties), path=route, chained=chained))

    def add_fixed_tendon(
        self, name: str, joint_terms: Iterable[JointTerm], properties: Properties | None = None
    ) -> Tendon:
        """Add a tendon whose length is the sum of coefficients times joint coordinates.

        Raises:
            ValueError: a name that is taken; no terms; a joint that the model hasn't or that is
                neither hinge nor slide. Nothing is changed then.
        """
        terms = about(f"tendon {name}", lambda: checked_joints(joint_terms))
        for term in terms:
            about(f"tendon {name}", lambda term=term: self._base.places.check_joint(term.joint))
        chained = self._base.places.in_one_chain((), terms)
        return self._add(TendonRecord(name, _or_default(properties), joints=terms, chained=chained))

    def add_coupling(
        self,
        name: str,
        first: Tendon,
        second: Tendon | None = None,
        properties: CouplingProperties | None = None,
    ) -> Coupling:
        """Tie the length of a tendon to that of another, or to its own reference length.

        Raises:
            ValueError: a name that is taken; tendons of another world; twice the same one.
        """
        self._check_coupling_name(name)
        self.check_own("first", first)
        if second is not None:
            self.check_own("second", second)
        if first is second:
            raise ValueError(f"coupling {name}: first and second are both {first.name}")
        properties = CouplingProperties() if properties is None else properties
        of_kind(f"coupling {name}: properties", properties, CouplingProperties)
        names = first.name, None if second is None else second.name
        coupling = Coupling(self, CouplingRecord(name, *names, properties), first, second)
        self._couplings.append(coupling)
        self.rebuild()
        return coupling

    @property
    def tendons(self) -> tuple[Tendon, ...]:
        """All tendons, in the order in which they were added."""
        return tuple(self._tendons)

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """All couplings, in the order in which they were added."""
        return tuple(self._couplings)

    def get_tendon(self, name: str) -> Tendon | None:
        """Return the tendon of a name, or None."""
        return next((tendon for tendon in self._tendons if tendon.name == name), None)

    def get_coupling(self, name: str) -> Coupling | None:
        """Return the coupling of a name, or None."""
        return next((each for each in self._couplings if each.name == name), None)

    def remove_tendon(self, tendon: Tendon) -> None:
        """Remove a tendon and the couplings that hold it."""
        self.check_own("tendon", tendon)
        self._remove([tendon])

    def remove_coupling(self, coupling: Coupling) -> None:
        """Remove a coupling."""
        of_kind("coupling", coupling, Coupling)
        if coupling not in self._couplings:
            raise ValueError(f"coupling {coupling.name} is none of this world's")
        self._couplings.remove(coupling)
        coupling.forget()
        self.rebuild()

    def remove_body(self, name: str) -> None:
        """Remove a body, all below it, and the tendons and couplings that hold on to any of them.

        Raises:
            ValueError: no such body, or the world.
        """
        base, kept = self._base.without(name)
        self.rebuild()
        self._base = base
        if self._previous is not None:
            model, data, before = self._previous
            self._previous = (model, data, before.then(kept))
        self._remove([tendon for tendon in self._tendons if not base.holds(tendon.record)])

    # -- simulation

    @property
    def limits(self) -> str:
        """Which unilateral limits it has, of LIMITS."""
        return self._limits

    @property
    def spec(self) -> mujoco.MjSpec:
        """A copy of the spec that the tendons are added to, without them."""
        return self._base.spec.copy()

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model, tendons included.

        Parameters that are written to it hold until it is compiled anew: what is to stay goes
        into the spec that the world is made of. A time step that is written counts at once.
        """
        return self.simulation.model

    @property
    def data(self) -> mujoco.MjData:
        """The simulation's data; write positions, velocities and controls as usual."""
        return self.simulation.data

    @property
    def places(self) -> Places:
        """The bodies, sites, frames, flexes and joints that tendons may be on."""
        return self._base.places

    @property
    def simulation(self) -> Simulation:
        """The compiled scene, made now if anything has been edited."""
        if self._simulation is None:
            self._simulation = Simulation(
                self._base, self.scene, self._limits == "native", self._previous
            )
            for tendon, record in zip(self._tendons, self._current().tendons, strict=True):
                tendon.record = record
            self._previous = None
            self._forget_forces()
        return self._simulation

    @property
    def scene(self) -> Scene:
        """The records of all tendons and couplings."""
        return Scene(
            tuple(tendon.record for tendon in self._tendons),
            tuple(coupling.record for coupling in self._couplings),
        )

    def step(self, steps: int = 1) -> None:
        """Advance the simulation by so many steps."""
        if type(steps) is not int or steps < 0:
            steps = checks.integer("steps", steps, minimum=0)
        simulation = self._simulation
        if simulation is None:
            simulation = self.simulation
        if simulation.timestep != simulation.model.opt.timestep:
            self.refill()  # all rows depend on it
        simulation.step(steps)
        self._forces = None  # those of this step, when they are asked for

    def batch(self, n: int, threads: int = 1) -> TendonBatch:
        """Return n simulations that start from the present state, on so many threads."""
        return TendonBatch(self, n, threads)

    def get_state(self) -> WorldState:
        """Return all that the future depends on; `set_state` goes on from there exactly."""
        return read_state(self.simulation, self.scene)

    def set_state(self, state: WorldState) -> None:
        """Go on from a state of this scene.

        Raises:
            ValueError: a state of another scene, or with numbers that aren't finite. Nothing is
                changed then.
        """
        simulation = self.simulation
        of_kind("state", state, WorldState)
        check_state(state, self.get_state())
        for tendon, enabled in zip(self._tendons, state.enabled, strict=True):
            tendon.record = replace(tendon.record, enabled=enabled)
        for coupling, enabled in zip(self._couplings, state.couplings_enabled, strict=True):
            properties = replace(coupling.properties, enabled=enabled)
            coupling.record = replace(coupling.record, properties=properties)
        write_state(simulation, self.scene, state)
        self._forget_forces()

    @property
    def forces(self) -> Forces:
        """The forces of the last step, by their parts; zeros before the first one of a model."""
        simulation = self.simulation  # compiles after an edit: then nothing has been carried yet
        if self._forces is None:
            self._forces = collect(simulation)
        return self._forces

    def refresh(self) -> Simulation:
        """Bring lengths and paths to the present state, without losing the last step's forces."""
        simulation = self.simulation
        _ = self.forces
        simulation.refresh()
        return simulation

    # -- what the handles call

    def check_own(self, what: str, tendon: Tendon) -> None:
        """Raise if a tendon isn't one of this world's."""
        of_kind(what, tendon, Tendon)
        if not any(tendon is each for each in self._tendons):
            raise ValueError(f"{what}: tendon {tendon.record.name} is none of this world's")

    def rename(self, tendon: Tendon, name: str) -> None:
        """Give a tendon another name."""
        if name == tendon.name:
            return
        self._check_name(name)
        self.rebuild()
        old = tendon.name
        tendon.record = replace(tendon.record, name=name)
        for coupling in self._couplings:
            record = coupling.record
            coupling.record = replace(
                record,
                first=name if record.first == old else record.first,
                second=name if record.second == old else record.second,
            )

    def change(self, tendon: Tendon, record: TendonRecord) -> None:
        """Give a tendon another record, and the model what is in it."""
        if record.structure != tendon.record.structure:
            self.rebuild()
            state = {"reference": tendon.record.reference, "activation": tendon.record.activation}
            record = replace(record, **state)
        tendon.record = record
        self.refill()

    def change_command(self, tendon: Tendon, drive: Drive) -> None:
        """Give a tendon a drive that differs in the feed-forward force only."""
        if tendon.record.drive is None:
            self.change(tendon, replace(tendon.record, drive=drive))
            return
        tendon.record = replace(tendon.record, drive=drive)
        if self._simulation is not None:
            self._simulation.law[0, self.index(tendon)]["force"] = drive.force

    def refill(self) -> None:
        """Write the parameters of the scene to the model, if there is one."""
        if self._simulation is not None:
            _ = self.forces  # of the last step, by the parameters that it had
            self._simulation.fill(self.scene)

    def rebuild(self) -> None:
        """Have the scene compiled anew when it is needed next; what stays keeps its state."""
        simulation = self._simulation
        if simulation is None:
            return
        for tendon, record in zip(self._tendons, self._current().tendons, strict=True):
            tendon.record = record
        # a copy: what is written to the old data from now on is no state of this world's
        self._previous = (simulation.model, copy.copy(simulation.data), self._base.kept)
        self._simulation = None

    def index(self, tendon: Tendon | Coupling) -> int:
        """Return the place of a tendon among the tendons, or of a coupling among the couplings."""
        group: Sequence[object] = self._tendons if isinstance(tendon, Tendon) else self._couplings
        return next(k for k, each in enumerate(group) if each is tendon)

    # -- inside

    def _forget_forces(self) -> None:
        self._forces = no_forces(len(self._tendons), len(self._couplings))

    def _add(self, record: TendonRecord) -> Tendon:
        self._check_name(record.name)
        of_kind(f"tendon {record.name}: properties", record.properties, Properties)
        self.rebuild()
        tendon = Tendon(self, record)
        self._tendons.append(tendon)
        return tendon

    def _remove(self, tendons: list[Tendon]) -> None:
        """Remove tendons and the couplings that hold them."""
        self.rebuild()
        for coupling in self.couplings:
            if coupling.first in tendons or coupling.second in tendons:
                self._couplings.remove(coupling)
                coupling.forget()
        for tendon in tendons:
            self._tendons.remove(tendon)
            tendon.forget()

    def _current(self) -> Scene:
        assert self._simulation is not None
        return self._simulation.records(self.scene)

    def _check_name(self, name: str) -> None:
        checked_name("name", name)
        taken = [tendon.name for tendon in self._tendons]
        taken += [tendon.name for tendon in self._base.spec.tendons]
        if name in taken or name.startswith(PREFIX):
            raise ValueError(f"the name of a tendon must be unique and new, got {name!r}")

    def _check_coupling_name(self, name: str) -> None:
        checked_name("name", name)
        if self.get_coupling(name) is not None:
            raise ValueError(f"the name of a coupling must be unique, got {name!r}")


def _or_default(properties: Properties | None) -> Properties:
    return Properties() if properties is None else properties
