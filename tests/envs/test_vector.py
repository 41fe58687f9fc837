"""The vector environment against Gymnasium's SyncVectorEnv of scalar environments, bit by bit."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tendon_gym.registration import ENTRIES

IDS = {name: entry.id for name, entry in ENTRIES.items()}
MODES = [mode.value for mode in AutoresetMode]
# Short horizons and tight limits, so that episodes end in every way within a few dozen steps.
SHORT = {"horizon": 0.2, "limits": {"distance": 0.45, "tilt": 0.5}}
FLIGHTS = [
    ("Hover", {**SHORT}),
    ("Hover", {**SHORT, "rotor_action": "body_rate", "tendon_action": "bend"}),
    ("Hover", {**SHORT, "rotor_action": "attitude", "observation_mode": "tip"}),
    ("Track", {**SHORT, "rotor_action": "residual", "tendon_action": "reference"}),
    ("Track", {**SHORT, "rotor_action": "acceleration", "reference": "smooth"}),
    ("Bend", {**SHORT, "model": "paper", "goal": "tip"}),
    ("ArmBend", {"horizon": 0.2, "tendon_action": "bend"}),
    ("Hover", {**SHORT, "forces": {"external_wrench": {"body": "link_12", "force": [1, 0, 0]}}}),
]


def make_vec(name, n=3, **settings):
    return gym.make_vec(IDS[name], num_envs=n, **settings)


def sync(name, n, mode, **settings):
    """Return scalar environments side by side, without the checkers of gym.make."""
    kind = type(gym.make(IDS[name], **settings).unwrapped)
    return SyncVectorEnv([lambda: kind(**settings)] * n, autoreset_mode=AutoresetMode(mode))


def assert_same(ours, theirs, path="") -> None:
    """Compare observations, rewards or infos: types alike, numbers equal bit by bit."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), path
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{path}/{key}")
        return
    if isinstance(theirs, tuple):
        for k, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(mine, other, f"{path}[{k}]")
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, path
    if theirs.dtype == object:
        for mine, other in zip(ours.ravel(), theirs.ravel(), strict=True):
            if isinstance(other, (str, type(None))):
                assert mine == other, path
            else:
                assert_same(mine, other, path)
        return
    assert ours.dtype == theirs.dtype, path
    assert np.array_equal(ours, theirs), path


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("flight", range(len(FLIGHTS)))
def test_it_flies_what_the_scalar_environment_flies(flight, mode, threads):
    name, settings = FLIGHTS[flight]
    n = 3
    ours = make_vec(name, n, threads=threads, autoreset_mode=mode, **settings)
    theirs = sync(name, n, mode, **settings)
    assert_same(ours.reset(seed=11), theirs.reset(seed=11))
    rng = np.random.default_rng(flight)
    ended = 0
    for _ in range(50):
        action = rng.uniform(-1.2, 1.2, ours.action_space.shape).astype(np.float32)
        mine, other = ours.step(action), theirs.step(action)
        assert_same(mine, other)
        late = mine[2] | mine[3]
        ended += late.sum()
        if mode == "Disabled" and late.any():
            for i in np.flatnonzero(late):  # one by one, the others waiting
                mask = np.arange(n) == i
                mine = ours.reset(options={"reset_mask": mask})
                assert_same(mine, theirs.reset(options={"reset_mask": mask.copy()}))
    assert ended >= 6
    ours.close()
    theirs.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_it_flies_what_the_scalar_environment_flies_for_thousands_of_steps(mode, engine):
    """Episodes of half a second that end in every way, with forces and drawn references."""
    settings = {
        "horizon": 0.5, "limits": {"distance": 0.4}, "rotor_action": "attitude",
        "tendon_action": "reference", "reference": "smooth", "engine": engine, "preview":
        {"points": 2}, "forces": {"wind": {"velocity": [1.0, 0.0, 0.0], "start": 0.1}},
    }  # fmt: skip
    n = 6
    ours = make_vec("Track", n, threads=2, autoreset_mode=mode, **settings)
    theirs = sync("Track", n, mode, **settings)
    assert_same(ours.reset(seed=1), theirs.reset(seed=1))
    rng, ended = np.random.default_rng(0), np.zeros(2, np.int64)
    for _ in range(2000):
        action = rng.uniform(-0.7, 0.7, ours.action_space.shape)
        mine = ours.step(action)
        assert_same(mine, theirs.step(action))
        late = mine[2] | mine[3]
        ended += mine[2].sum(), mine[3].sum()
        if mode == "Disabled" and late.any():
            mine = ours.reset(options={"reset_mask": late})
            assert_same(mine, theirs.reset(options={"reset_mask": late.copy()}))
    assert (ended > 40).all(), ended
    ours.close()
    theirs.close()


@pytest.mark.parametrize("mode", MODES)
def test_an_episode_depends_on_seed_place_and_count_alone(mode):
    """Episode k of sub-environment i starts alike, however long the episodes before were."""
    starts = []
    for push in (0.0, 0.9, -0.9):
        envs = make_vec("Bend", 3, horizon=0.3, autoreset_mode=mode)
        observation, _ = envs.reset(seed=5)
        found = [[row] for row in observation]
        ended = np.zeros(3, bool)
        for k in range(200):
            action = np.full(envs.action_space.shape, push, np.float32)
            action[:, 0] = np.sin(k) if push else 0.0
            observation, _, terminated, truncated, _ = envs.step(action)
            late = terminated | truncated
            if mode == "Disabled" and late.any():
                observation, _ = envs.reset(options={"reset_mask": late})
            fresh = ended if mode == "NextStep" else late
            for i in np.flatnonzero(fresh):
                found[i].append(observation[i])
            ended = late
        starts.append([np.array(rows[:5]) for rows in found])
    for other in starts[1:]:
        for i in range(3):
            assert np.array_equal(other[i], starts[0][i])
    every = np.concatenate(starts[0])
    assert len(np.unique(every, axis=0)) == 15


def test_all_modes_start_the_same_episodes():
    firsts = {}
    for mode in MODES:
        envs = make_vec("Track", 2, horizon=0.1, autoreset_mode=mode, reference="smooth")
        rows, seen = [envs.reset(seed=3)[0]], 0
        ended = np.zeros(2, bool)
        while seen < 3:
            observation, _, terminated, truncated, _ = envs.step(np.zeros(envs.action_space.shape))
            late = terminated | truncated
            if mode == "Disabled" and late.any():
                observation, _ = envs.reset(options={"reset_mask": late})
            if (ended if mode == "NextStep" else late).all():
                rows.append(observation)
                seen += 1
            ended = late
        firsts[mode] = np.array(rows)
    assert np.array_equal(firsts["NextStep"], firsts["SameStep"])
    assert np.array_equal(firsts["NextStep"], firsts["Disabled"])


def test_stepping_one_leaves_the_others_alone():
    one, other = make_vec("Hover", 3), make_vec("Hover", 3)
    one.reset(seed=0)
    other.reset(seed=0)
    action = np.zeros((3, 7), np.float32)
    for _ in range(30):
        different = action.copy()
        different[1] = np.random.default_rng(1).uniform(-1, 1, 7)
        a, b = one.step(action), other.step(different)
        assert np.array_equal(a[0][[0, 2]], b[0][[0, 2]])
        assert np.array_equal(a[1][[0, 2]], b[1][[0, 2]])
    assert not np.array_equal(a[0][1], b[0][1])


def test_next_step_ignores_the_action_and_the_reward_of_a_restart():
    envs = make_vec("Hover", 2, horizon=0.05)
    envs.reset(seed=0)
    action = np.zeros((2, 7))
    for _ in range(5):
        *_, truncated, _ = envs.step(action)
    assert truncated.all()
    observation, reward, terminated, truncated, infos = envs.step(np.full((2, 7), np.nan))
    assert np.array_equal(reward, [0.0, 0.0]) and not terminated.any() and not truncated.any()
    assert np.array_equal(infos["time"], [0.0, 0.0])
    assert sum(infos["reward_terms"][name][0] for name in ("position", "tip", "yaw")) == 0.0
    assert envs.observation_space.contains(observation)


def test_a_reset_mask_restarts_only_what_it_names():
    envs = make_vec("Hover", 4)
    envs.reset(seed=0)
    for _ in range(5):
        before, *_ = envs.step(np.zeros((4, 7)))
    mask = np.array([True, False, False, True])
    after, infos = envs.reset(options={"reset_mask": mask})
    assert np.array_equal(after[~mask], before[~mask])
    assert (after[mask] != before[mask]).any(axis=1).all()
    assert np.array_equal(infos["_time"], mask)
    assert np.array_equal(infos["time"][mask], [0.0, 0.0])
    assert np.array_equal(infos["time"], np.zeros(4))  # Gymnasium's: nothing is told of the others
    mask[:] = True  # the caller's own
    assert np.array_equal(infos["_time"], [True, False, False, True])


@pytest.mark.parametrize(
    "mask, told",
    [
        ([True, False], r"got \[True, False\] of type list"),
        (np.array([1, 0], np.int32), r"got \[1, 0\], an array of shape \(2,\) and type int32"),
        (np.array([True]), r"got \[True\], an array of shape \(1,\) and type bool"),
        (
            np.array([[True, False]]),
            r"got \[\[True, False\]\], an array of shape \(1, 2\) and type bool",
        ),
        (np.ones(300, bool), r"got an array of shape \(300,\) and type bool"),
    ],
    ids=str,
)
def test_a_reset_mask_of_another_kind_raises(mask, told):
    envs = make_vec("Hover", 2)
    envs.reset(seed=0)
    with pytest.raises(TypeError, match=r"reset_mask.*bool array of shape \(2,\), " + told):
        envs.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="at least one"):
        envs.reset(options={"reset_mask": np.zeros(2, bool)})


def test_seeds_are_one_for_each():
    envs = make_vec("Hover", 3)
    spread, _ = envs.reset(seed=7)
    named, _ = envs.reset(seed=[7, 8, 9])
    assert np.array_equal(spread, named)
    some, _ = envs.reset(seed=[7, None, 9])
    assert np.array_equal(some[[0, 2]], spread[[0, 2]])
    assert not np.array_equal(some[1], spread[1])
    masked, _ = envs.reset(seed=7, options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(masked[1], spread[1])
    with pytest.raises(ValueError, match="3 seeds, got 2"):
        envs.reset(seed=[1, 2])
    assert len(np.unique(spread, axis=0)) == 3


@pytest.mark.parametrize("mode", MODES)
def test_max_episode_steps_ends_episodes_early(mode):
    envs = make_vec("Hover", 2, max_episode_steps=7, autoreset_mode=mode)
    envs.reset(seed=0)
    for k in range(7):
        *_, terminated, truncated, infos = envs.step(np.zeros((2, 7)))
        assert np.array_equal(truncated, [k == 6] * 2)
        assert not terminated.any()
    last = infos["final_info"] if mode == "SameStep" else infos
    assert "is_success" in last
    with pytest.raises(ValueError, match="max_episode_steps"):
        make_vec("Hover", 2, max_episode_steps=0)


def test_a_later_max_episode_steps_leaves_the_horizon():
    envs = make_vec("Hover", 2, horizon=0.04, max_episode_steps=1000)
    envs.reset(seed=0)
    assert [envs.step(np.zeros((2, 7)))[3][0] for _ in range(4)] == [False, False, False, True]


def test_disabled_refuses_to_step_what_has_ended():
    envs = make_vec("Hover", 2, horizon=0.02, autoreset_mode="Disabled")
    envs.reset(seed=0)
    for _ in range(2):
        envs.step(np.zeros((2, 7)))
    with pytest.raises(ValueError, match=r"\[0, 1\].*reset_mask"):
        envs.step(np.zeros((2, 7)))
    envs.reset(options={"reset_mask": np.array([True, True])})
    envs.step(np.zeros((2, 7)))


def test_what_is_returned_is_the_callers():
    envs = make_vec("Hover", 2, horizon=0.05, autoreset_mode="SameStep")
    kept = [envs.reset(seed=0)[0]]
    copies = [kept[0].copy()]
    for _ in range(12):
        observation, reward, terminated, truncated, infos = envs.step(np.ones((2, 7)))
        mine = [observation, reward, terminated, truncated, infos["thrusts"], infos["time"]]
        mine += [infos["reward_terms"]["position"], infos["sim_unstable"], infos["action_clipped"]]
        if "final_obs" in infos:
            mine += list(infos["final_obs"])
        for array in mine:
            assert not any(np.shares_memory(array, other) for other in kept)
        kept += mine
        copies += [array.copy() for array in mine]
    for array, kept_copy in zip(kept, copies, strict=True):
        assert np.array_equal(array, kept_copy)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (2, 6), (2, 7, 1), ()])
def test_actions_of_another_shape_raise(shape):
    envs = make_vec("Hover", 2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions must have shape \(2, 7\)"):
        envs.step(np.zeros(shape))


def test_actions_that_are_not_finite_raise_and_say_where():
    envs = make_vec("Hover", 3)
    before, _ = envs.reset(seed=0)
    action = np.zeros((3, 7))
    action[2, 4] = np.nan
    with pytest.raises(ValueError, match=r"action\[4\] of simulation 2 must be finite, got nan$"):
        envs.step(action)
    again, _ = make_vec("Hover", 3).reset(seed=0)
    assert np.array_equal(before, again)
    assert np.array_equal(envs.core.engine.time, np.zeros(3))


def test_numbers_and_modes_that_are_none_raise():
    with pytest.raises(ValueError, match="num_envs"):
        make_vec("Hover", 0)
    with pytest.raises(ValueError, match="'NextStep', 'SameStep', 'Disabled'"):
        make_vec("Hover", 2, autoreset_mode="sometimes")
    with pytest.raises(ValueError, match="render_mode must be one of 'rgb_array', 'depth_array'"):
        make_vec("Hover", 2, render_mode="human")


def test_the_metadata_tells_the_mode():
    for mode in AutoresetMode:
        assert make_vec("Hover", 2, autoreset_mode=mode).metadata["autoreset_mode"] is mode
    assert make_vec("Hover", 2).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_gymnasiums_statistics_wrapper_counts_episodes():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(make_vec("Hover", 2, horizon=0.1))
    envs.reset(seed=0)
    total = np.zeros(2)
    for _ in range(10):
        _, reward, _, truncated, infos = envs.step(np.zeros((2, 7)))
        total += reward
    assert truncated.all()
    np.testing.assert_allclose(infos["episode"]["r"], total)
    assert np.array_equal(infos["episode"]["l"], [10, 10])


def test_closing_twice_is_fine():
    envs = make_vec("Hover", 2)
    envs.reset(seed=0)
    envs.close()
    envs.close()


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_many_flies_alike(way):
    envs = gym.make_vec(
        ENTRIES["Bend"].id, num_envs=3, goal="tip", max_episode_steps=9, autoreset_mode="SameStep"
    )
    twin = way(envs)
    assert twin.metadata == envs.metadata and twin.spec == envs.spec
    assert np.array_equal(twin.reset(seed=1)[0], envs.reset(seed=1)[0])
    for _ in range(12):
        action = np.full(envs.action_space.shape, 0.1)
        for mine, other in zip(twin.step(action)[:4], envs.step(action)[:4], strict=True):
            assert np.array_equal(mine, other)
