"""The docstrings of the environments, which are their pages, against what the environments do."""

from __future__ import annotations

import inspect
import json
import re

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.envs.task import EnvConfig
from tendon_gym.registration import ENTRIES

every_task = pytest.mark.parametrize("name", ENTRIES)
SECTIONS = [
    "Description",
    "Action space",
    "Observation space",
    "Rewards",
    "Starting state",
    "Episode end",
    "Success",
    "Arguments",
    "Version history",
]


def make(name, **settings):
    return gym.make(ENTRIES[name].id, **settings).unwrapped


def sections(env):
    """Return the text of each section by its title."""
    parts = re.split(r"^## (.*)$", inspect.cleandoc(type(env).__doc__), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def tables(text):
    """Return each table as a list of dicts by the head of its columns, without marks and quotes."""
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.strip().splitlines()]
        if not lines[0].startswith("|"):
            continue
        rows = [[re.sub(r'[`"]', "", c).strip() for c in line.split("|")[1:-1]] for line in lines]
        head = rows[0]
        assert all(len(row) == len(head) for row in rows)
        assert set("".join(rows[1])) == {"-"}
        found.append([dict(zip(head, row, strict=True)) for row in rows[2:]])
    return found


def span(text):
    """Return the indices that "3" or "0-2" names."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


@every_task
def test_a_page_has_all_its_sections_in_order(name):
    assert list(sections(make(name))) == SECTIONS


@every_task
def test_the_sizes_are_those_of_the_spaces(name):
    env = make(name)
    said = sections(env)
    action = re.search(r"Box\(-1, 1, \((\d+),\), float32\)", said["Action space"])
    observation = re.search(r"Box\(\.\.\., \((\d+),\), float32\)", said["Observation space"])
    assert env.action_space == gym.spaces.Box(-1, 1, (int(action[1]),), np.float32)
    assert env.observation_space.shape == (int(observation[1]),)


@every_task
def test_the_observation_table_is_the_layout(name):
    env = make(name)
    (rows,) = tables(sections(env)["Observation space"])
    assert [row["Slice"] for row in rows] == list(env.observation_layout)
    for row in rows:
        part = env.observation_layout[row["Slice"]]
        assert span(row["Num"]) == list(range(part.start, part.stop))
        assert row["Unit"] == part.unit
        assert row["Frame"] == (part.frame or "-")
        assert float(row["Bound"]) == pytest.approx(part.bound, rel=1e-3)


def action_tables(name):
    """Return the tables of the rotor and the tendon part, and that of the winch if there is one."""
    found = tables(sections(make(name))["Action space"])
    return [t for t in found if "winch" not in t[0]], [t for t in found if "winch" in t[0]]


def commanded(name, rotor, tendon, value):
    """Return what an action of `value` everywhere commands: the rotor part, and the tensions."""
    env = make(name, rotor_action=rotor, tendon_action=tendon)
    env.reset(seed=0)
    env.core.step(np.full((1, env.action_space.shape[0]), value))
    return env.core.interface.command[0, :4].copy(), env.core.engine.ctrl[0, -3:].copy()


@every_task
def test_the_action_tables_are_the_interfaces(name):
    entry = ENTRIES[name]
    found, _ = action_tables(name)
    tendons = found[-1]
    names = dict.fromkeys(row["tendon_action"] for row in tendons)
    assert tuple(names) == entry.tendon_actions
    rotors = found[0] if len(found) == 2 else []
    names = dict.fromkeys(row["rotor_action"] for row in rotors)
    assert (tuple(names) or ("none",)) == entry.rotor_actions
    for column, value in (("-1", -1.0), ("0", 0.0), ("+1", 1.0)):
        for row in rotors:
            command, _ = commanded(name, row["rotor_action"], "tension", value)
            for k in span(row["Num"]):
                assert float(row[column]) == pytest.approx(command[k], abs=5e-3)
        for row in tendons:
            if row["tendon_action"] == "tension":
                _, tensions = commanded(name, entry.rotor_actions[0], "tension", value)
                for k in span(row["Num"]):
                    assert float(row[column]) == pytest.approx(tensions[k], abs=1e-9)
            elif row["tendon_action"] == "bend":
                assert float(row[column]) == value


@every_task
def test_every_element_of_an_action_is_told_once(name):
    entry = ENTRIES[name]
    found, winch = action_tables(name)
    for table, key in zip(found, ("rotor_action", "tendon_action")[-len(found) :], strict=True):
        told = {}
        for row in table:
            elements = [] if row["Num"] == "none" else span(row["Num"])
            told.setdefault(row[key], []).extend(elements)
        for choice, elements in told.items():
            assert elements == list(range(len(elements)))
            other = {"rotor_action": "tension"} if key == "rotor_action" else {}
            settings = {key: choice, **({"tendon_action": "tension"} if other else {})}
            size = make(name, **settings).action_space.shape[0]
            rest = 3 if other else (0 if entry.rotor_actions == ("none",) else 4)
            rest += len(winch)
            assert len(elements) == size - rest


@every_task
def test_the_winch_is_told_where_there_is_one(name):
    env = make(name)
    _, found = action_tables(name)
    assert len(found) == (env.core.rig is not None)
    for (row,) in found:
        env.reset(seed=0)
        assert row["Num"] == "last"
        for column, value in (("-1", -1.0), ("0", 0.0), ("+1", 1.0)):
            action = np.zeros(env.action_space.shape, np.float32)
            action[-1] = value
            before = env.core.signals["rest_length"][0]
            env.step(action)
            change = env.core.signals["rest_length"][0] - before
            assert float(row[column]) * env.core.step_time == pytest.approx(change, abs=1e-12)


@every_task
def test_the_reward_table_is_the_tasks(name):
    env = make(name)
    (rows,) = tables(sections(env)["Rewards"])
    said = {row["Term"]: (float(row["Weight"]), float(row["Margin"])) for row in rows}
    real = {key: (term.weight, term.margin) for key, term in env.core.config.reward.items()}
    assert said == real
    assert sum(weight for weight, _ in said.values()) == pytest.approx(1.0)


@every_task
def test_the_start_table_is_the_tasks(name):
    env = make(name)
    (rows,) = tables(sections(env)["Starting state"])
    start = env.core.config.start
    said = {row["start"]: float(row["Spread"]) for row in rows}
    moving = [key for key in vars(start) if key != "phase"]
    assert set(said) == set(moving if env.core.layout.free else ("bend", "bend_rate"))
    assert all(getattr(start, key) == value for key, value in said.items())
    assert ("`goal`" in sections(env)["Starting state"]) == (env.task.reference == "goal")


@every_task
def test_the_ends_are_those_of_the_task(name):
    env = make(name)
    text = sections(env)["Episode end"]
    seconds = float(re.search(r"Truncation after ([\d.]+) s", text)[1])
    assert seconds == pytest.approx(env.core.horizon * env.core.step_time)
    assert '"unstable"' in text
    for row in next(iter(tables(text)), []):
        limit = getattr(env.core.config.limits, row["limits"])
        assert float(row["Limit"]) == pytest.approx(limit, rel=1e-3)
        assert row["Ends"] == ("below" if row["Reason"] in ("crash", "obstacle") else "above")


@every_task
def test_the_success_table_is_the_tasks(name):
    env = make(name)
    (rows,) = tables(sections(env)["Success"])
    assert {row["Signal"]: float(row["Limit"]) for row in rows} == env.task.success


@every_task
def test_the_arguments_are_the_settings_with_their_defaults(name):
    env = make(name)
    (rows,) = tables(sections(env)["Arguments"])
    said = {row["Argument"]: row["Default"] for row in rows}
    with pytest.raises(ValueError) as error:
        make(name, nonsense=1)
    legal = str(error.value).partition("it takes ")[2].split(", ")
    assert set(said) == set(legal) <= set(EnvConfig.__dataclass_fields__)
    defaults = {
        key: getattr(env.core.config, key)
        for key in ("rotor_action", "tendon_action", "goal", "reference", "horizon", "engine")
    }
    defaults |= {"threads": None, "observation_mode": "state", "control_frequency": 100}
    for key, value in defaults.items():
        if key in said:
            assert said[key] == (f"{value:g}" if isinstance(value, float) else str(value))
    if "preview" in said:
        assert said["preview"] == f"{env.core.config.preview.points} points"
    others = ["render_mode", "width", "height", "camera"]
    others += ["autoreset_mode", "max_episode_steps", "copy", "render_ids", "render_grid"]
    for key in others:
        assert f"`{key}`" in sections(env)["Arguments"]


@every_task
def test_the_example_of_laws_on_tendons_works(name):
    text = sections(make(name))["Arguments"]
    example = json.loads(re.search(r"`model=(\{.*?\})`", text)[1])
    coupling = json.loads(re.search(r'`"couplings": (\[.*?\}\])`', text, re.DOTALL)[1])
    example["tendons"]["couplings"] = coupling
    env = make(name, model=example)
    assert env.model.tendon_stiffness.tolist() == [20.0] * 3
    assert env.model.tendon_limited.all() and env.model.neq == 1
    env.reset(seed=0)
    env.step(env.action_space.sample())
    for word in ("springs", "limits", "dry friction", "inertia", "couplings"):
        assert word in text
