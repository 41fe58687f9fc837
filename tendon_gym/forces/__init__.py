"""Force terms: what pushes on the vehicle besides the engine's own forces, registered by name."""

from tendon_gym.forces.built_in import Pushes
from tendon_gym.forces.cable import Cable, CableTerm
from tendon_gym.forces.external_wrench import ExternalWrench, ExternalWrenchTerm
from tendon_gym.forces.impulse import Impulse, ImpulseTerm
from tendon_gym.forces.term import ForceTerm, Motion, Push, make, register
from tendon_gym.forces.wind import Wind, WindTerm

__all__ = [
    "Cable",
    "CableTerm",
    "ExternalWrench",
    "ExternalWrenchTerm",
    "ForceTerm",
    "Impulse",
    "ImpulseTerm",
    "Motion",
    "Push",
    "Pushes",
    "Wind",
    "WindTerm",
    "make",
    "register",
]
