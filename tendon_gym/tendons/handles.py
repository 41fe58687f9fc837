"""Tendons and couplings as a user holds them: live views of a world's records and simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from tendon_gym import checks
from tendon_gym.tendons import geometry
from tendon_gym.tendons.drive import Drive
from tendon_gym.tendons.forces import TendonForces
from tendon_gym.tendons.naming import about, of_kind
from tendon_gym.tendons.path import JointTerm, PathElement
from tendon_gym.tendons.properties import CouplingProperties, Properties
from tendon_gym.tendons.scene import CouplingRecord, TendonRecord

if TYPE_CHECKING:
    from tendon_gym.tendons.world import TendonWorld

Record = TypeVar("Record", TendonRecord, CouplingRecord)


class _Handle(Generic[Record]):
    """Something of a world, until it is removed."""

    __slots__ = ("_owner", "record")  # what else is set would be lost

    def __init__(self, world: TendonWorld, record: Record) -> None:
        self._owner: TendonWorld | None = world
        self.record: Record = record

    @property
    def _world(self) -> TendonWorld:
        if self._owner is None:
            raise ValueError(f"{self.record.name} has been removed from its world")
        return self._owner

    @property
    def removed(self) -> bool:
        """Whether it has been removed from its world."""
        return self._owner is None

    def forget(self) -> None:
        """Let go of the world, when it is removed from it."""
        self._owner = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.record.name}>"


class Tendon(_Handle[TendonRecord]):
    """A tendon of a world. Lengths, velocities and paths are those of the present state.

    Attributes:
        record: what it is described by.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Its name, unique in the world."""
        return self.record.name

    @name.setter
    def name(self, name: str) -> None:
        self._world.rename(self, name)

    @property
    def type(self) -> Literal["spatial", "fixed"]:
        """Whether it runs through space or is a combination of joints."""
        return self.record.type

    @property
    def path(self) -> tuple[PathElement, ...]:
        """The route of a spatial tendon; of a fixed one, nothing."""
        return self.record.path

    @property
    def joints(self) -> tuple[JointTerm, ...]:
        """The terms of a fixed tendon as they were given; of a spatial one, nothing."""
        return self.record.joints

    @property
    def properties(self) -> Properties:
        """Its properties; set others, made with `dataclasses.replace`, to change them."""
        return self.record.properties

    @properties.setter
    def properties(self, properties: Properties) -> None:
        of_kind(f"{self.name}: properties", properties, Properties)
        self._world.change(self, replace(self.record, properties=properties))

    @property
    def drive(self) -> Drive:
        """Its drive; setting one replaces all of it."""
        return self.record.drive or Drive()

    @drive.setter
    def drive(self, drive: Drive) -> None:
        of_kind(f"{self.name}: drive", drive, Drive)
        self._world.change(self, replace(self.record, drive=drive))

    def set_actuation_force(self, force: float) -> None:
        """Command a feed-forward force, N; positive lengthens. The rest of the drive stays."""
        drive = about(self.name, lambda: replace(self.drive, force=force))
        self._world.change_command(self, drive)

    def set_tension(self, tension: float) -> None:
        """Command a feed-forward tension, N: the negative of a force."""
        about(self.name, lambda: checks.number("tension", tension))
        self.set_actuation_force(-tension)

    @property
    def enabled(self) -> bool:
        """Whether it does anything; a disabled one keeps its activation as it is."""
        return self.record.enabled

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        on = about(self.name, lambda: checks.flag("enabled", enabled))
        self._world.change(self, replace(self.record, enabled=on))

    @property
    def reference_length(self) -> float:
        """The length that automatic springs and couplings refer to, m: that of its creation."""
        return float(self._world.simulation.references[self._index])

    @reference_length.setter
    def reference_length(self, length: float) -> None:
        value = about(self.name, lambda: checks.number("reference_length", length))
        self._world.simulation.references[self._index] = value
        self._world.refill()

    @property
    def activation(self) -> float:
        """The feed-forward force as filtered by the activation time, N."""
        return float(self._world.simulation.activation[self._index])

    @activation.setter
    def activation(self, activation: float) -> None:
        value = about(self.name, lambda: checks.number("activation", activation))
        self._world.simulation.activation[self._index] = value

    @property
    def id(self) -> int:
        """Its index among the tendons of the present model."""
        return self._world.simulation.wires.first + self._index

    @property
    def length(self) -> float:
        """Its length, m."""
        return float(self._world.refresh().data.ten_length[self.id])

    @property
    def velocity(self) -> float:
        """The rate of its length, m/s."""
        return float(self._world.refresh().data.ten_velocity[self.id])

    @property
    def forces(self) -> TendonForces:
        """What it has carried in the last step, by parts; zeros before the first one."""
        return self._world.forces.of(self._index)

    @property
    def force(self) -> float:
        """All that it has carried in the last step, N; positive lengthens."""
        return self.forces.total

    @property
    def tension(self) -> float:
        """The negative of `force`, N."""
        return -self.force

    @property
    def potential_energy(self) -> float:
        """Of the spring, J."""
        world, t = self._world, self.id
        model = world.refresh().model
        lower, upper = model.tendon_lengthspring[t]
        length = world.data.ten_length[t]
        stretch = length - min(max(length, lower), upper)
        return float(0.5 * model.tendon_stiffness[t] * stretch**2)

    @property
    def kinetic_energy(self) -> float:
        """Of the armature, J."""
        inertia = self.properties.armature if self.enabled else 0.0
        return 0.5 * inertia * self.velocity**2

    @property
    def point_gradients(self) -> tuple[geometry.PointGradient, ...]:
        """What its length does when points of it move; of a fixed one, nothing."""
        if self.type == "fixed":
            return ()
        simulation = self._world.refresh()
        return geometry.point_gradients(simulation.model, simulation.data, self.id)

    @property
    def joint_gradients(self) -> tuple[geometry.JointGradient, ...]:
        """The terms of a fixed tendon with their indices; of a spatial one, nothing."""
        return geometry.joint_gradients(self._world.model, self.record)

    @property
    def visual_segments(self) -> tuple[geometry.VisualSegment, ...]:
        """Its line in the world, arcs in short pieces; of a fixed one, nothing."""
        if self.type == "fixed":
            return ()
        simulation = self._world.refresh()
        return geometry.visual_segments(simulation.model, simulation.data, self.id)

    @property
    def _index(self) -> int:
        return self._world.index(self)


class Coupling(_Handle[CouplingRecord]):
    """A coupling of a world.

    Attributes:
        record: what it is described by.
    """

    __slots__ = ("_first", "_second")

    def __init__(
        self, world: TendonWorld, record: CouplingRecord, first: Tendon, second: Tendon | None
    ) -> None:
        super().__init__(world, record)
        self._first, self._second = first, second

    @property
    def name(self) -> str:
        """Its name, unique among the couplings of the world."""
        return self.record.name

    @property
    def first(self) -> Tendon:
        """The tendon whose length follows."""
        return self._first

    @property
    def second(self) -> Tendon | None:
        """The tendon that it follows, or None for its own reference length."""
        return self._second

    @property
    def properties(self) -> CouplingProperties:
        """Its properties; set others to change them."""
        return self.record.properties

    @properties.setter
    def properties(self, properties: CouplingProperties) -> None:
        of_kind(f"{self.name}: properties", properties, CouplingProperties)
        world = self._world
        self.record = replace(self.record, properties=properties)
        world.refill()

    @property
    def force(self) -> float:
        """Its force on the first tendon in the last step, N; the second has the reaction."""
        return float(self._world.forces.couplings[self._world.index(self)])
