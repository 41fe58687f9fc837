"""The model that tendons are added to: its spec, and what of it tendons may be on."""

from __future__ import annotations

import itertools

import mujoco

from tendon_gym import checks
from tendon_gym.tendons.building import PREFIX
from tendon_gym.tendons.naming import checked_name
from tendon_gym.tendons.places import Places, sites_of
from tendon_gym.tendons.scene import TendonRecord
from tendon_gym.tendons.transfer import Kept, all_kept, without_body

TOLERANCE, LINE_SEARCH = 1e-14, 500
"""Of MuJoCo's solver, and iterations of its line search, in worlds that begin empty. Its own 1e-8
and 50 are too coarse for hard rows: a line search that gives up leaves dry friction unbalanced."""


class Base:
    """A spec without the tendons of a world, compiled for the names in it.

    Attributes:
        spec: the spec; not to be changed.
        places: the bodies, sites, frames, flexes and joints by name.
    """

    def __init__(self, spec: mujoco.MjSpec) -> None:
        """Take over `spec`. Static bodies are not fused, so that they keep their names.

        Raises:
            ValueError: the integrator RK4 or the flag diagexact, for which there are no exact rows;
                elements with names that begin as those do that a world adds.
        """
        spec.compiler.fusestatic = False
        _check(spec)
        self.spec = spec
        self._model = spec.compile()
        self.places = Places(spec, self._model)

    @property
    def kept(self) -> Kept:
        """Everything, for a model with other tendons."""
        return all_kept(self._model)

    def without(self, name: str) -> tuple[Base, Kept]:
        """Return the base without a body and all below it, and what of this one stays.

        Raises:
            ValueError: no such body, or the world.
        """
        spec = self.spec.copy()
        body = spec.body(checked_name("name", name))
        if body is None or name == "world":
            legal = ", ".join(b.name for b in spec.bodies[1:] if b.name)
            checks.reject("body", name, f"one of {legal or 'nothing'}")
        kept = without_body(spec, body)
        return Base(spec), kept

    def holds(self, tendon: TendonRecord) -> bool:
        """Say whether all is there that a tendon is on."""
        try:
            for site in itertools.chain.from_iterable(map(sites_of, tendon.path)):
                self.places.of(site)
            for term in tendon.joints:
                self.places.check_joint(term.joint)
        except ValueError:
            return False
        return True


def copied(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Return a copy of a spec.

    Raises:
        ValueError: a tendon of the spec's own would be lost: MuJoCo leaves out without a word
            those with a path that refers to what isn't there.
    """
    copy = spec.copy()
    kept = [tendon.name for tendon in copy.tendons]
    for tendon in spec.tendons:
        if tendon.name not in kept:
            raise ValueError(f"the path of the model's tendon {tendon.name!r} is none")
    return copy


def empty_spec() -> mujoco.MjSpec:
    """Return an empty spec with the discrete integrator and a solver fine enough for hard rows."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.tolerance, spec.option.ls_iterations = TOLERANCE, LINE_SEARCH
    return spec


def _check(spec: mujoco.MjSpec) -> None:
    """Raise if a world's rows would not hold in a model, or its names are taken."""
    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise ValueError(
            "the integrator must be discrete, Euler, implicit or implicitfast, got RK4: it has no "
            "rows that obey a compliance exactly"
        )
    if spec.option.enableflags & int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT):
        raise ValueError("the flag diagexact must be off: compliances would change with the pose")
    groups = (spec.bodies, spec.joints, spec.sites, spec.geoms, spec.tendons, spec.actuators)
    for element in itertools.chain(*groups, spec.equalities):
        if element.name.startswith(PREFIX):
            raise ValueError(f"names must not begin with {PREFIX!r}, got {element.name!r}")
