"""Force terms: what pushes on the vehicle besides MuJoCo's own forces, registered by name."""

from tendon_gym.forces.external_wrench import ExternalWrench, ExternalWrenchTerm
from tendon_gym.forces.term import BodyMotion, ForceTerm, make, register

__all__ = ["BodyMotion", "ExternalWrench", "ExternalWrenchTerm", "ForceTerm", "make", "register"]
