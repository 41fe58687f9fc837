"""How a vector environment shows itself: observations without copies, pictures, wrappers."""

from __future__ import annotations

import gymnasium as gym
import imageio_ffmpeg
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

from tendon_gym.envs import TendonVectorEnv
from tendon_gym.envs.grid import tiled
from tendon_gym.registration import ENTRIES

HOVER = ENTRIES["Hover"].id
SMALL = {"render_mode": "rgb_array", "width": 32, "height": 24}


def test_the_class_is_public():
    envs = gym.make_vec(HOVER, num_envs=2)
    assert isinstance(envs, TendonVectorEnv)
    assert isinstance(envs.unwrapped, TendonVectorEnv)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_without_copies_it_says_the_same_in_one_array(mode):
    settings = {"horizon": 0.1, "autoreset_mode": mode}
    shared, copied = (gym.make_vec(HOVER, num_envs=3, copy=c, **settings) for c in (False, True))
    kept, first = shared.reset(seed=0)[0], copied.reset(seed=0)[0]
    assert np.array_equal(kept, first)
    finals = []
    for k in range(25):
        mine, theirs = (each.step(np.full((3, 7), 0.1)) for each in (shared, copied))
        assert mine[0] is kept
        assert theirs[0] is not first and not np.shares_memory(theirs[0], first)
        for one, other in zip(mine[:4], theirs[:4], strict=True):
            assert np.array_equal(one, other)
        if mode == "SameStep" and k % 10 == 9:
            finals.append((mine[4]["final_obs"], [row.copy() for row in mine[4]["final_obs"]]))
    for held, wanted in finals:  # the last observations of an episode stay what they were
        assert all(np.array_equal(*rows) for rows in zip(held, wanted, strict=True))
    assert len(finals) == (2 if mode == "SameStep" else 0)


def test_the_threads_change_nothing_however_many_simulations():
    """Enough of them that the kernels around the physics run on several threads, too."""
    for engine in ("mujoco", "compiled"):
        said = []
        for threads in (1, 2, 3):
            envs = gym.make_vec(
                ENTRIES["Track"].id, num_envs=150, threads=threads, rotor_action="residual",
                tendon_action="reference", horizon=0.05, engine=engine, autoreset_mode="SameStep",
            )  # fmt: skip
            rows = [envs.reset(seed=0)[0]]
            for _ in range(7):
                observation, reward, *_, infos = envs.step(np.full((150, 4), 0.1))
                rows += [observation, reward, infos["position_error"]]
            said.append(rows)
        for other in said[1:]:
            assert all(np.array_equal(a, b) for a, b in zip(said[0], other, strict=True))


def test_pictures_are_of_the_chosen_simulations():
    envs = gym.make_vec(HOVER, num_envs=4, **SMALL)
    envs.reset(seed=0)
    every = envs.render()
    assert isinstance(every, tuple) and len(every) == 4
    assert [picture.shape for picture in every] == [(24, 32, 3)] * 4
    black = np.zeros((24, 32, 3), np.uint8)
    some = gym.make_vec(HOVER, num_envs=4, render_ids=[2, 0], **SMALL)
    some.reset(seed=0)
    assert alike(some.unwrapped.pictures(), (every[2], every[0]))
    assert alike(some.render(), (every[2], every[0], black, black))
    grid = gym.make_vec(HOVER, num_envs=4, render_grid=True, **SMALL)
    grid.reset(seed=0)
    (picture,) = grid.unwrapped.pictures()
    assert picture.shape == (48, 64, 3)
    tiles = picture[:24, :32], picture[:24, 32:], picture[24:, :32], picture[24:, 32:]
    assert alike(tiles, every)
    assert alike(grid.render(), (picture, *[np.zeros((48, 64, 3))] * 3))


def alike(pictures, others):
    """Say whether pictures are the same, one by one."""
    return all(np.array_equal(a, b) for a, b in zip(pictures, others, strict=True))


@pytest.mark.parametrize(
    "count, shape", [(1, (1, 1)), (2, (1, 2)), (3, (2, 2)), (5, (2, 3)), (9, (3, 3))]
)
def test_a_grid_is_about_square_and_ends_in_black(count, shape):
    pictures = [np.full((2, 3), k + 1.0, np.float32) for k in range(count)]
    grid = tiled(pictures)
    assert grid.shape == (2 * shape[0], 3 * shape[1]) and grid.dtype == np.float32
    tiles = grid.reshape(shape[0], 2, shape[1], 3).swapaxes(1, 2).reshape(-1, 6)
    values = np.arange(1.0, len(tiles) + 1.0)
    values[count:] = 0.0
    assert np.array_equal(tiles, np.repeat(values[:, None], 6, axis=1))


@pytest.mark.parametrize(
    "ids, kind, message",
    [
        ([4], ValueError, r"render_ids\[0\] must be an integer from 0 to 3, got 4"),
        ([0, -1], ValueError, r"render_ids\[1\]"),
        ([0.0], TypeError, r"render_ids\[0\] must be an integer"),
        ([], ValueError, r"at least one sub-environment, none twice, got \[\]"),
        ([1, 2, 1], ValueError, r"none twice, got \[1, 2, 1\]"),
        (2, TypeError, "render_ids must be a list of integers, got 2"),
    ],
)
def test_simulations_that_are_none_cannot_be_rendered(ids, kind, message):
    with pytest.raises(kind, match=message):
        gym.make_vec(HOVER, num_envs=4, render_ids=ids, **SMALL)


def test_statistics_and_normalising_wrappers():
    """Gymnasium's own, against running means of what the bare environments say."""
    settings = {"num_envs": 4, "horizon": 0.1}
    bare = gym.make_vec(HOVER, **settings)
    wrapped = wrappers.NormalizeReward(
        wrappers.NormalizeObservation(
            wrappers.RecordEpisodeStatistics(gym.make_vec(HOVER, **settings))
        )
    )
    first, _ = bare.reset(seed=0)
    wrapped.reset(seed=0)
    seen, total = [first], np.zeros(4)
    for k in range(10):
        action = np.full((4, 7), 0.02 * k)
        observation, reward, *_ = bare.step(action)
        normal, _, _, _, infos = wrapped.step(action)
        seen.append(observation)
        total += reward
    np.testing.assert_allclose(infos["episode"]["r"], total)
    assert infos["episode"]["l"].tolist() == [10] * 4
    mean = np.concatenate(seen).mean(axis=0)
    moving = np.concatenate(seen).std(axis=0) > 1e-2
    expected = (observation - mean)[:, moving] / np.concatenate(seen).std(axis=0)[moving]
    np.testing.assert_allclose(normal[:, moving], expected, rtol=0.05, atol=0.05)


FILMED = {
    "all": ({}, {}, (24, 96)),
    "some": ({"render_ids": [2, 1]}, {}, (24, 96)),
    "one": ({"render_ids": [2]}, {"record_first_only": True}, (24, 32)),
    "grid": ({"render_grid": True}, {"record_first_only": True}, (48, 64)),
    "grid of two": (
        {"render_ids": [2, 0], "render_grid": True}, {"record_first_only": True}, (24, 64)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FILMED)
def test_videos_are_recorded_by_gymnasiums_wrapper(case, tmp_path):
    """Every frame is what a twin that renders all simulations shows, put together as asked."""
    pytest.importorskip("moviepy")
    chosen, how, shape = FILMED[case]
    envs = wrappers.RecordVideo(
        gym.make_vec(HOVER, num_envs=3, horizon=0.1, **SMALL, **chosen),
        str(tmp_path / "films"),
        video_length=8,
        video_aspect_ratio=(4, 1),
        **how,
    )
    twin = gym.make_vec(HOVER, num_envs=3, horizon=0.1, **SMALL)
    envs.reset(seed=0)
    twin.reset(seed=0)
    wanted = [twin.render()]
    for _ in range(5):
        envs.step(np.full((3, 7), 0.1))
        twin.step(np.full((3, 7), 0.1))
        wanted.append(twin.render())
    for frame, every in zip(envs.recorded_frames, wanted, strict=True):
        assert frame.shape == (*shape, 3)
        black = np.zeros_like(every[0])
        tiles = {
            "all": [every],
            "some": [[every[2], every[1], black]],
            "one": [[every[2]]],
            "grid": [every[:2], [every[2], black]],
            "grid of two": [[every[2], every[0]]],
        }[case]
        assert np.array_equal(frame, np.vstack([np.hstack(row) for row in tiles]))
    for _ in range(5):
        envs.step(np.zeros((3, 7)))
    envs.close()
    (film,) = tmp_path.glob("films/*.mp4")
    assert abs(imageio_ffmpeg.count_frames_and_secs(str(film))[0] - 8) <= 1
