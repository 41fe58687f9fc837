"""The races bring everybody to the start."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from tendon_gym.evaluation.bench import parts
from tendon_gym.evaluation.bench.settings import FULL, QUICK, thread_counts
from tendon_gym.evaluation.bench.timing import Protocol
from tendon_gym.registration import ENTRIES

SHORT = dataclasses.replace(QUICK, protocol=Protocol(5, 1e-4))


def test_all_legal_interfaces_are_measured():
    asked = {(s[1]["rotor_action"], s[1]["tendon_action"]) for s in parts._setups(FULL)}
    track, clamped = ENTRIES["Track"], ENTRIES["ArmBend"]
    legal = set(itertools.product(track.rotor_actions, track.tendon_actions))
    legal |= set(itertools.product(clamped.rotor_actions, clamped.tendon_actions))
    assert asked == legal and len(legal) == 17


def test_the_full_scope_measures_what_it_should():
    assert FULL.numbers == (1, 16, 64, 256, 1024)
    assert FULL.links == (6, 12, 24, 48)
    assert FULL.protocol.rounds >= 5
    assert FULL.mission == 18_000
    assert FULL.flat_steps == 1_000_000 and FULL.flat_resets == 2_000


@pytest.mark.parametrize(
    ("usable", "counts"),
    [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))],
)
def test_threads_double_up_to_those_that_may_be_used(usable, counts, monkeypatch):
    monkeypatch.setattr("tendon_gym.evaluation.bench.settings.cores", lambda: usable)
    assert thread_counts() == counts


def test_no_environment_has_more_threads_than_simulations():
    scope = dataclasses.replace(SHORT, numbers=(1, 2))
    rows = parts.native(scope, ("mujoco",))
    assert all(row["threads"] <= row["num_envs"] for row in rows)
    assert {row["num_envs"] for row in rows if row["speed"]} == {1, 2}


def test_each_number_of_links_has_its_own_yardstick():
    rows = parts.links(SHORT, ("mujoco", "compiled"))
    for links in SHORT.links:
        found = [row for row in rows if row["links"] == links]
        assert [row["speed"] is None for row in found] == [True, False, False]
        assert {row["nv"] for row in found} == {6 + 2 * links}


def test_ten_physics_steps_have_a_yardstick_of_ten():
    rows = parts.native_50_hz(SHORT, ("mujoco",))
    assert {row["substeps"] for row in rows} == {10}
