"""The protocol, with a clock that only moves when it is told to."""

from __future__ import annotations

import pytest

from tendon_gym.evaluation.bench import timing
from tendon_gym.evaluation.bench.timing import Contestant, Protocol, race

ABOUT = {"substeps": 5, "timestep": 0.002, "num_envs": 4}


class Clock:
    """A time that steps take, and the order in which they were taken."""

    def __init__(self):
        self.now, self.turns = 0.0, []

    def contestant(self, name, seconds, against=None, counted=1):
        """Take each time of `seconds` in turn per step, the last one for ever."""
        left = list(seconds)

        def run(count):
            self.turns.append((name, count))
            each = left.pop(0) if len(left) > 1 else left[0]
            self.now += count * each
            return count * counted

        return Contestant(name, run, ABOUT, against)

    def race(self, contestants, rounds, seconds):
        return race("part", contestants, Protocol(rounds, seconds), lambda: self.now)


@pytest.fixture
def clock():
    return Clock()


def test_all_take_turns_in_every_round(clock):
    contestants = [clock.contestant(name, [1.0]) for name in "ABC"]
    clock.race(contestants, 6, 2.0)
    measured = clock.turns[-18:]
    assert [name for name, _ in measured] == list("ABC") * 6
    assert all(name == "ABC"[k % 3] for k, (name, _) in enumerate(measured))


def test_slices_are_as_long_as_asked_whatever_a_step_takes(clock):
    contestants = [clock.contestant("slow", [0.5]), clock.contestant("fast", [0.01])]
    clock.race(contestants, 5, 2.0)
    assert clock.turns[-2:] == [("slow", 4), ("fast", 200)]


def test_a_slice_has_at_least_one_step_and_not_too_many(clock):
    contestants = [clock.contestant("slow", [9.0]), clock.contestant("free", [1e-9])]
    clock.race(contestants, 5, 2.0)
    assert clock.turns[-2:] == [("slow", 1), ("free", timing.MOST_STEPS)]


def test_medians_quartiles_and_rates(clock):
    warm = [1.0, 1.0]  # the first step, and the one that measures how long a slice is
    rows = clock.race(
        [
            clock.contestant("bare", [*warm, 1.0, 1.0, 1.0, 1.0, 1.0]),
            clock.contestant("env", [*warm, 2.0, 4.0, 5.0, 8.0, 10.0], against="bare"),
        ],
        5,
        1.0,
    )
    bare, env = rows
    assert bare["speed"] is None
    assert bare["us"]["median"] == pytest.approx(1e6)
    assert env["us"] == pytest.approx({"median": 5e6, "low": 4e6, "high": 8e6})
    # 1/10, 1/8, 1/5, 1/4, 1/2
    assert env["speed"] == pytest.approx({"median": 0.2, "low": 0.125, "high": 0.25})
    assert env["env_steps_per_second"] == pytest.approx(0.2)
    assert env["physics_steps_per_second"] == pytest.approx(1.0)
    assert env["simulated_seconds_per_second"] == pytest.approx(0.002)
    assert env["part"] == "part" and env["num_envs"] == 4


def test_what_slows_a_whole_round_leaves_the_speed_alone(clock):
    noise = [1.0, 7.0, 3.0, 100.0, 2.0]
    rows = clock.race(
        [
            clock.contestant("bare", [1.0, 1.0, *noise]),
            clock.contestant("env", [1.0, 1.0, *(3.0 * each for each in noise)], against="bare"),
        ],
        5,
        1.0,
    )
    assert rows[1]["speed"] == pytest.approx({"median": 1 / 3, "low": 1 / 3, "high": 1 / 3})


def test_a_step_is_one_of_one_environment(clock):
    rows = clock.race([clock.contestant("vector", [8.0], counted=4)], 5, 1.0)
    assert rows[0]["us"]["median"] == pytest.approx(2e6)


def test_fewer_than_five_rounds_are_refused():
    with pytest.raises(ValueError, match="rounds must be at least 5, got 4"):
        Protocol(4, 1.0)
