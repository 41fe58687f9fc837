"""Small worlds for the tests."""

from __future__ import annotations

import mujoco

from tendon_gym.tendons import TendonWorld

INTEGRATORS = {
    "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}


def empty(gravity=0.0, h=1e-3, integrator="discrete") -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = h
    spec.option.gravity = [0.0, 0.0, gravity]
    spec.option.integrator = INTEGRATORS[integrator]
    spec.option.tolerance = 1e-15
    return spec


def add_ball(spec, name, position, mass=1.0, joint="free", radius=0.05) -> mujoco.MjsBody:
    """Add a ball that moves freely, or along z."""
    body = spec.worldbody.add_body(name=name, pos=position)
    if joint == "free":
        body.add_freejoint(name=name)
    else:
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    geom = body.add_geom(size=[radius, 0, 0], mass=mass)
    geom.contype = geom.conaffinity = 0
    return body


def hanging(gravity=0.0, h=1e-3, integrator="discrete", height=1.0, joint="free", limits=None):
    """Return a world with a ball of 1 kg, "load", whose centre is at this height."""
    spec = empty(gravity, h, integrator)
    add_ball(spec, "load", [0, 0, height], joint=joint)
    return TendonWorld(spec, limits=limits or "predictive")


def sliders(*masses, gravity=0.0, h=1e-3, integrator="discrete") -> TendonWorld:
    """Return a world with bodies on slide joints along x, "slide_0" and so on."""
    spec = empty(gravity, h, integrator)
    for k, mass in enumerate(masses):
        body = spec.worldbody.add_body(name=f"slide_{k}", pos=[0, k, 0])
        body.add_joint(name=f"slide_{k}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
        body.add_geom(size=[0.05, 0, 0], mass=mass)
    return TendonWorld(spec)
