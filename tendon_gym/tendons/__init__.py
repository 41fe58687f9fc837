"""RaiSim's tendon API for any MuJoCo model: tendons, drives, limits, locks and couplings."""

from tendon_gym.tendons.batch import TendonBatch
from tendon_gym.tendons.drive import Drive
from tendon_gym.tendons.forces import Forces
from tendon_gym.tendons.geometry import JointGradient, PointGradient, VisualSegment
from tendon_gym.tendons.handles import Coupling, Tendon, TendonForces
from tendon_gym.tendons.path import (
    Cylinder,
    JointTerm,
    PathElement,
    Pulley,
    Site,
    Sphere,
    Via,
    cylinder,
    pulley,
    sphere,
    via,
)
from tendon_gym.tendons.properties import CouplingProperties, Properties
from tendon_gym.tendons.state import WorldState
from tendon_gym.tendons.world import TendonWorld

__all__ = [
    "Coupling",
    "CouplingProperties",
    "Cylinder",
    "Drive",
    "Forces",
    "JointGradient",
    "JointTerm",
    "PathElement",
    "PointGradient",
    "Properties",
    "Pulley",
    "Site",
    "Sphere",
    "Tendon",
    "TendonBatch",
    "TendonForces",
    "TendonWorld",
    "Via",
    "VisualSegment",
    "WorldState",
    "cylinder",
    "pulley",
    "sphere",
    "via",
]
