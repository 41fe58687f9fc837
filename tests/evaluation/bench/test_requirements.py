"""What is asked for is looked up in the right rows and judged by the worse quartile."""

from __future__ import annotations

import copy

import pytest

from tendon_gym.evaluation.bench.requirements import judge
from tests.evaluation.bench.results import result


def judged(changed=None):
    return {each["name"]: each for each in judge(changed or result())}


def test_speeds_are_judged_by_their_lower_quartile():
    found = judged()
    alone = found["engine alone: engine alone, 1 simulation, 1 thread, compiled"]
    assert alone["value"] == pytest.approx(9.0)
    assert (alone["must"], alone["aim"], alone["holds"]) == (8.0, 12.0, True)
    many = found["engine alone: engine alone, 64 simulations, 1 thread, compiled"]
    assert (many["value"], many["must"], many["holds"]) == (pytest.approx(14.4), 18.0, False)


def test_every_number_of_threads_is_judged():
    names = [name for name in judged() if name.startswith("native: ")]
    assert len(names) == 3
    assert "native: native, 64 envs, 2 threads, compiled" in names


def test_the_scalar_environment_may_cost_15_percent():
    bound = judged()["held actions: scalar, mujoco"]
    assert 1.0 / bound["must"] == pytest.approx(1.15)
    assert not bound["holds"]


def test_what_is_no_requirement_is_not_judged():
    names = judged()
    assert not any("mj_step" in name for name in names)
    assert not any(name.startswith("law at every 2 ms:") for name in names)


def test_memory_is_bounded_from_above():
    found = judged()
    assert found["memory: engine_bytes, compiled"]["holds"]
    assert not found["memory: environment_bytes, compiled"]["holds"]
    assert found["memory: growth_over_resets, compiled"]["holds"]
    grown = copy.deepcopy(result())
    grown["memory"]["compiled"]["growth_over_steps"] = 3e6
    assert not judged(grown)["memory: growth_over_steps, compiled"]["holds"]


def test_phases_must_add_up():
    found = judged()
    assert found["phases add up: law, 64 envs, compiled"]["holds"]
    assert not found["phases add up: law, 1 env, compiled"]["holds"]
    assert found["phases add up: law, 1 env, compiled"]["value"] == pytest.approx(0.1)


def test_parts_that_were_not_measured_are_not_judged():
    assert judge({**result(), "rows": [], "memory": {}, "phases": []}) == []
