"""What of a scene becomes which element of the spec."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import Properties, Site, Sphere, TendonWorld, Via, via
from tendon_gym.tendons.embedding import structure

MODEL = """
<mujoco>
  <option integrator="discrete"/>
  <worldbody>
    <site name="hook" pos="0 0 2"/>
    <body name="load" pos="0 0.3 1" euler="20 0 0">
      <freejoint/>
      <geom size="0.05" mass="1"/>
      <site name="eye" pos="0 0 0.05" euler="0 40 0"/>
    </body>
    <site name="outside" pos="1 0 1.5"/>
  </worldbody>
</mujoco>"""


def named(name, position=(0.0, 0.0, 0.0)):
    return Site(name, position, kind="site")


def wrapped(model, tendon):
    """Return the names of the sites that a tendon runs through."""
    start, count = model.tendon_adr[tendon], model.tendon_num[tendon]
    path = range(start, start + count)
    kinds = [model.wrap_type[w] == mujoco.mjtWrap.mjWRAP_SITE for w in path]
    return [
        model.site(model.wrap_objid[w]).name for w, kind in zip(path, kinds, strict=True) if kind
    ]


def test_a_path_goes_through_the_very_sites_that_it_names():
    world = TendonWorld.from_string(MODEL)
    world.add_spatial_tendon("t", [Via(named("hook")), Via(named("eye"))])
    assert world.model.nsite == 3
    assert wrapped(world.model, 0) == ["hook", "eye"]


def test_a_side_site_is_the_very_one_that_is_named():
    world = TendonWorld.from_string(MODEL)
    guide = Sphere(Site(None, (0.0, 0.0, 1.5)), 0.1, side=named("outside"))
    world.add_spatial_tendon("t", [Via(named("hook")), guide, Via(named("eye"))])
    model = world.model
    assert model.nsite == 3
    prm = model.wrap_prm[model.tendon_adr[0] + 1]
    assert int(prm) == model.site("outside").id


def test_a_place_beside_a_named_site_gets_one_of_its_own():
    world, direct = TendonWorld.from_string(MODEL), TendonWorld.from_string(MODEL)
    offset = np.array([0.1, -0.2, 0.3])
    tendon = world.add_spatial_tendon("t", [Via(named("hook")), Via(named("eye", tuple(offset)))])
    assert world.model.nsite == 4
    site = world.data.site("eye")
    place = site.xpos + site.xmat.reshape(3, 3) @ offset
    assert tendon.length == pytest.approx(np.linalg.norm(place - [0.0, 0.0, 2.0]), abs=1e-12)
    other = direct.add_spatial_tendon("t", [via(None, (0, 0, 2)), Via(named("eye"))])
    assert direct.model.nsite == 4
    assert other.length == pytest.approx(np.linalg.norm(site.xpos - [0.0, 0.0, 2.0]), abs=1e-12)


def test_the_spec_has_the_looks():
    world = TendonWorld.from_string(MODEL)
    looks = Properties(width=0.02, color=(0.25, 0.5, 0.75, 1.0))
    world.add_spatial_tendon("t", [Via(named("hook")), Via(named("eye"))], looks)
    model = structure(world).compile()
    assert model.tendon_width[0] == 0.02
    assert model.tendon_rgba[0].tolist() == [0.25, 0.5, 0.75, 1.0]
