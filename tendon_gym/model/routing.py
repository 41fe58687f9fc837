"""The arm's tendons as a world of `tendon_gym.tendons`, on sites that have names of their own."""

from __future__ import annotations

import mujoco

from tendon_gym.model import appearance
from tendon_gym.model.parameters import ModelParameters
from tendon_gym.tendons import Site, TendonWorld, Via


def route(spec: mujoco.MjSpec, parameters: ModelParameters) -> TendonWorld:
    """Return a world around a spec with base and arm, with tendons from the flange along the rod.

    The spec gets the sites "anchor_i" and "via_k_i" (link k, tendon i) that they run through.
    """
    tendons, arm = parameters.tendons, parameters.arm
    places = [(spec.body("base"), "anchor", -arm.flange_offset)]
    places += [
        (spec.body(f"link_{k}"), f"via_{k}", -arm.link_length) for k in range(1, arm.n_links + 1)
    ]
    for i, (x, y) in enumerate(tendons.positions, start=1):
        for body, name, z in places:
            body.add_site(name=f"{name}_{i}", pos=[x, y, z], group=appearance.SITE_GROUP)
    world = TendonWorld(spec)
    colours = appearance.tendon_colours(tendons.n_tendons)
    for i, (own, (r, g, b, a)) in enumerate(zip(tendons.each, colours, strict=True), start=1):
        path = [Via(Site(f"{name}_{i}", kind="site")) for _, name, _ in places]
        properties = own.of_a_world(appearance.TENDON_RADIUS, (r, g, b, a))
        world.add_spatial_tendon(f"tendon_{i}", path, properties)
    for k, coupling in enumerate(tendons.couplings, start=1):
        first, second = (
            None if name is None else world.get_tendon(name)
            for name in (coupling.first, coupling.second)
        )
        assert first is not None  # the parameters know the names
        world.add_coupling(f"coupling_{k}", first, second, coupling.of_a_world())
    return world
