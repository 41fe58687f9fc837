"""Many simulations as a Gymnasium vector environment, equal to the scalar one bit for bit."""

from __future__ import annotations

import copy as copying
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import mujoco
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.envs.closing import Closable
from tendon_gym.envs.core import Core
from tendon_gym.envs.episodes import Episodes, check_seeds
from tendon_gym.envs.grid import tiled
from tendon_gym.envs.infos import Infos, only
from tendon_gym.envs.observations import Slice
from tendon_gym.envs.rebuilding import Rebuilt
from tendon_gym.envs.rendering import Renderer
from tendon_gym.envs.state import EnvState, check_arrays, check_maker, maker_of
from tendon_gym.envs.task import Task

Bools = NDArray[np.bool_]

MOST_ENVS = 1_000_000
"""Largest number of simulations in one vector environment."""


class TendonVectorEnv(
    Rebuilt, Closable, VectorEnv[NDArray[np.float32], NDArray[np.float32], NDArray[Any]]
):
    """A task as a vector environment: the core with `num_envs` simulations.

    Sub-environment i with seed s + i flies exactly what the scalar environment flies with that
    seed, in every autoreset mode. Subclasses name their `task`.
    """

    task: ClassVar[Task]
    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own attribute)
        "render_modes": ["rgb_array", "depth_array"],
        "render_fps": 100,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        camera: str = "chase",
        render_ids: Sequence[int] | None = None,
        render_grid: bool = False,
        **settings: Any,
    ) -> None:
        """Build the simulations.

        Args:
            num_envs: number of simulations.
            autoreset_mode: Gymnasium's; "NextStep", "SameStep" or "Disabled".
            max_episode_steps: a time limit in steps, on top of the horizon in seconds.
            copy: whether observations are the caller's own. False returns the same array every
                time, which the next step or reset overwrites.
            render_mode: "rgb_array" or "depth_array".
            width: of a picture.
            height: of a picture.
            camera: name of a camera.
            render_ids: the sub-environments that are rendered, in this order; None: all of them.
            render_grid: whether their pictures are tiled to a single one.
            settings: those of `envs.task.EnvConfig`, as plain values.
        """
        chosen = {
            "num_envs": num_envs, "autoreset_mode": autoreset_mode,
            "max_episode_steps": max_episode_steps, "copy": copy, "render_mode": render_mode,
            "width": width, "height": height, "camera": camera, "render_ids": render_ids,
            "render_grid": render_grid,
        }  # fmt: skip
        # what the caller does to them later changes nothing
        settings, chosen = copying.deepcopy(settings), copying.deepcopy(chosen)
        self._arguments = {**chosen, **settings}
        if render_mode is not None:
            checks.choice("render_mode", render_mode, self.metadata["render_modes"])
        self.num_envs = checks.integer("num_envs", num_envs, minimum=1, maximum=MOST_ENVS)
        self._mode = _autoreset_mode(autoreset_mode)
        self._copy = checks.flag("copy", copy)
        self._render_ids = _render_ids(render_ids, num_envs)
        self._render_grid = checks.flag("render_grid", render_grid)
        self._core = core = Core(self.task, num_envs, settings)
        if max_episode_steps is not None:
            core.limit_steps(checks.integer("max_episode_steps", max_episode_steps, minimum=1))
        self._infos = Infos(core)
        self.single_observation_space = core.observation_space
        self.single_action_space = core.action_space
        self.observation_space = batch_space(core.observation_space, num_envs)
        self.action_space = batch_space(core.action_space, num_envs)
        self.render_mode = render_mode
        self.metadata = {
            **self.metadata,
            "render_fps": core.frame_rate,
            "autoreset_mode": self._mode,
        }
        self._renderer = Renderer(core.model, render_mode, width, height, camera)
        self._episodes: list[Episodes | None] = [None] * num_envs
        self._ended = np.zeros(num_envs, bool)

    @property
    def core(self) -> Core:
        """The simulations behind the environment."""
        return self._core

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model that all simulations share."""
        return self._core.model

    @property
    def control_frequency(self) -> float:
        """Actions per second."""
        return self._core.config.control_frequency

    @property
    def observation_layout(self) -> dict[str, Slice]:
        """The parts of one observation by name, with unit and frame."""
        return dict(self._core.observer.layout)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start episodes in all simulations, or in those of `options["reset_mask"]` (n,) bool.

        Args:
            seed: s seeds sub-environment i with s + i; a list seeds each; None goes on.
            options: see `envs.starts.START_OPTIONS`, each for all or one row for each.

        Raises:
            ValueError: an option or a seed that isn't legal; nothing has changed then.
            TypeError: one of the wrong type, likewise.
            RuntimeError: the environment is closed; so do all that follow.
        """
        self._check_open("reset")
        mask, others = _split_options(options, self.num_envs)
        ids = np.flatnonzero(mask)
        seeds = check_seeds(seed, self.num_envs)
        given = self._core.check_options(len(ids), others)
        for i in ids:
            if seeds[i] is not None:
                self._episodes[i] = Episodes.seeded(seeds[i])
        self._core.reset(ids, self._episodes_of(ids), given)
        self._ended[ids] = False
        return self._observation(), self._infos.vector(mask)

    def _episodes_of(self, ids: NDArray[np.int64]) -> list[Episodes]:
        """Return where the random numbers come from, at random where no seed was given."""
        for i in ids:
            if self._episodes[i] is None:
                self._episodes[i] = Episodes.seeded(None)
        return [each for i in ids if (each := self._episodes[i]) is not None]

    def _observation(self) -> NDArray[np.float32]:
        observation = self._core.observation
        return observation.copy() if self._copy else observation

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Apply actions (n, size) in [-1, 1] for one control step.

        Raises:
            ValueError: actions of another shape or not finite; in the mode "Disabled" also a step
                of an episode that has ended. Nothing has changed then.
        """
        self._check_open("step")
        values = np.asarray(actions)
        if values.shape != self.action_space.shape:
            raise ValueError(
                f"actions must have shape {self.action_space.shape}, got {values.shape}"
            )
        core, late = self._core, self._ended
        waiting = late.any()
        if waiting and self._mode is AutoresetMode.DISABLED:
            raise ValueError(
                f"the episodes of sub-environments {np.flatnonzero(late).tolist()} have "
                'ended: reset them with options={"reset_mask": ...}'
            )
        if waiting:  # what they were told to do is of no importance, and not looked at
            values = np.where(late[:, None], 0.0, values)
        core.step(values)
        if waiting:
            self._restart(np.flatnonzero(late))
        reward, terminated, truncated = core.reward.copy(), core.reason > 0, core.truncated.copy()
        infos = self._infos.vector()
        ended = terminated | truncated
        if self._mode is AutoresetMode.SAME_STEP:
            if ended.any():
                infos = self._restart_now(ended, infos)
        else:
            self._ended = ended
        return self._observation(), reward, terminated, truncated, infos

    def _restart(self, ids: NDArray[np.int64]) -> None:
        self._core.reset(ids, self._episodes_of(ids))

    def _restart_now(self, ended: Bools, infos: dict[str, Any]) -> dict[str, Any]:
        """Restart what has ended; return the infos of the new episodes with those of the old."""
        ids, observation = np.flatnonzero(ended), self._core.observation
        final = np.full(self.num_envs, None, object)
        for i in ids:
            final[i] = observation[i].copy()
        last = only(infos, ended)
        self._restart(ids)
        return {
            **self._infos.vector(),
            "final_obs": final,
            "_final_obs": ended,
            "final_info": last,
            "_final_info": ended.copy(),
        }

    def get_state(self) -> EnvState:
        """Return the whole state of all simulations, to go back to with `set_state`.

        Wrappers that count have a memory of their own.
        """
        self._check_open("get_state")
        arrays = {**self._core.get_state(), "ended": self._ended.copy()}
        return EnvState(self._maker(), arrays, tuple(self.random_state))

    def set_state(self, state: EnvState) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Go to a state of this or of another environment that was made alike.

        Returns:
            The observations and the infos at that moment.

        Raises:
            ValueError: the state is of an environment with other settings, which are named.
            TypeError: it is no state.
        """
        self._check_open("set_state")
        check_maker(self._maker(), state)
        check_arrays({"ended": self._ended}, state.arrays)
        episodes = [Episodes.restored(each) for each in state.episodes]
        self._core.set_state(state.arrays)
        self._episodes = [*episodes]
        self._ended = state.arrays["ended"].copy()
        return self._observation(), self._infos.vector()

    @property
    def random_state(self) -> list[dict[str, Any]]:
        """Where each sub-environment's next episodes come from, as plain values; may be set."""
        return [each.state() for each in self._episodes_of(np.arange(self.num_envs))]

    @random_state.setter
    def random_state(self, states: Sequence[Mapping[str, Any]]) -> None:
        self._check_open("set its random_state")
        if len(states) != self.num_envs:
            raise ValueError(f"random_state must have {self.num_envs} states, got {len(states)}")
        self._episodes = [Episodes.restored(each) for each in states]

    def _maker(self) -> dict[str, Any]:
        steps, mode = self._core.horizon, self._mode.value
        return maker_of(
            self._core.config, task=self.task.entry.id, num_envs=self.num_envs,
            autoreset_mode=mode, steps_of_an_episode=steps,
        )  # fmt: skip

    def render(self) -> tuple[NDArray[Any], ...]:
        """Return one picture for each sub-environment, as Gymnasium's wrappers want them.

        First come the rendered ones, see `pictures`, then black ones. So `RecordVideo` films all
        of them; with `record_first_only` the first of `render_ids`, or the grid, fills the film.
        """
        rendered = self.pictures()
        black = np.zeros_like(rendered[0])
        return (*rendered, *[black] * (self.num_envs - len(rendered)))

    def pictures(self) -> tuple[NDArray[Any], ...]:
        """Return a picture of each simulation in `render_ids`, or all of them as one."""
        self._check_open("render")
        core, renderer = self._core, self._renderer
        shown = (
            renderer.render(core.engine.data(i), partial(core.draw, i)) for i in self._render_ids
        )
        rendered = [picture for picture in shown if picture is not None]
        return (tiled(rendered),) if self._render_grid else tuple(rendered)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the renderer; part of Gymnasium's `close`."""
        if hasattr(self, "_renderer"):  # Gymnasium also closes what could not be made
            self._renderer.close()


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    legal = {each.value: each for each in AutoresetMode}
    return legal[checks.choice("autoreset_mode", mode, legal)]


def _render_ids(ids: Any, n: int) -> list[int]:
    """Return the simulations to render."""
    if ids is None:
        return list(range(n))
    if isinstance(ids, (str, bytes, Mapping)) or not np.iterable(ids):
        raise TypeError(f"render_ids must be a list of integers, got {checks.shown(ids)}")
    chosen = [
        checks.integer(f"render_ids[{k}]", i, minimum=0, maximum=n - 1) for k, i in enumerate(ids)
    ]
    if not chosen or len(set(chosen)) < len(chosen):
        checks.reject("render_ids", chosen, "at least one sub-environment, none twice")
    return chosen


def _split_options(options: Any, n: int) -> tuple[Bools, Any]:
    """Return which of n simulations a reset is for, and its other options."""
    if not isinstance(options, Mapping) or "reset_mask" not in options:
        return np.ones(n, bool), options
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
        raise TypeError(
            f"options['reset_mask'] must be a bool array of shape ({n},), "
            f"got {checks.described(mask)}"
        )
    if not mask.any():
        raise ValueError("options['reset_mask'] must choose at least one sub-environment")
    return mask.copy(), {name: value for name, value in options.items() if name != "reset_mask"}
