"""What a tendon world is described by: frozen records, which the compiler turns into a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tendon_gym.tendons.drive import Drive
from tendon_gym.tendons.path import JointTerm, PathElement, Pulley, Via
from tendon_gym.tendons.properties import CouplingProperties, Properties


@dataclass(frozen=True)
class TendonRecord:
    """A tendon.

    Attributes:
        name: unique among the tendons of the model.
        properties: of the tendon.
        path: the route of a spatial tendon, else empty.
        joints: the terms of a fixed tendon as given, else empty.
        drive: None: never driven, so that it needs no actuator.
        enabled: whether it does anything.
        reference: the reference length, m; None: the length at the next compilation.
        activation: to start from, N.
        chained: whether all that it moves lies in one chain of joints, each below the one before.
    """

    name: str
    properties: Properties
    path: tuple[PathElement, ...] = ()
    joints: tuple[JointTerm, ...] = ()
    drive: Drive | None = None
    enabled: bool = True
    reference: float | None = None
    activation: float = 0.0
    chained: bool = True

    @property
    def type(self) -> Literal["spatial", "fixed"]:
        """Whether the tendon runs through space or is a combination of joints."""
        return "spatial" if self.path else "fixed"

    @property
    def geared(self) -> bool:
        """Whether the armature needs a rotor of its own.

        MuJoCo has none on wrapped paths, and of one that is in several chains it drops what
        couples them: its inertia matrix has no room for that.
        """
        straight = all(isinstance(element, (Via, Pulley)) for element in self.path)
        return self.properties.armature > 0.0 and not (straight and self.chained)

    @property
    def structure(self) -> tuple[bool, bool, float]:
        """What a compiled model cannot change: actuator, lock, inertia.

        Where a tendon has inertia, MuJoCo takes none of the short cuts that it knows for the
        inertia matrix of bodies that move alone.
        """
        return self.drive is not None, self.properties.locked, self.properties.armature


@dataclass(frozen=True)
class CouplingRecord:
    """A coupling of the tendon `first` to `second`, or to its own reference length with None."""

    name: str
    first: str
    second: str | None
    properties: CouplingProperties


@dataclass(frozen=True)
class Scene:
    """Tendons and couplings, in the order in which they were added."""

    tendons: tuple[TendonRecord, ...] = ()
    couplings: tuple[CouplingRecord, ...] = ()
