"""Many simulations as a Gymnasium vector environment, equal to the scalar one bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import mujoco
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.envs.core import Core
from tendon_gym.envs.infos import Infos
from tendon_gym.envs.observations import Slice
from tendon_gym.envs.rebuilding import Rebuilt
from tendon_gym.envs.rendering import Renderer
from tendon_gym.envs.task import Task

Bools = NDArray[np.bool_]


class SoftArmVectorEnv(Rebuilt, VectorEnv[NDArray[np.float32], NDArray[np.float32], NDArray[Any]]):
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
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        camera: str = "chase",
        **settings: Any,
    ) -> None:
        """Build the simulations.

        Args:
            num_envs: number of simulations.
            autoreset_mode: Gymnasium's; "NextStep", "SameStep" or "Disabled".
            max_episode_steps: a time limit in steps, on top of the horizon in seconds.
            render_mode: "rgb_array" or "depth_array".
            width: of a picture.
            height: of a picture.
            camera: name of a camera.
            settings: those of `envs.task.EnvConfig`, as plain values.
        """
        pictures = {"render_mode": render_mode, "width": width, "height": height, "camera": camera}
        self._arguments = {
            "num_envs": num_envs,
            "autoreset_mode": autoreset_mode,
            "max_episode_steps": max_episode_steps,
            **pictures,
            **settings,
        }
        if render_mode is not None:
            checks.choice("render_mode", render_mode, self.metadata["render_modes"])
        self.num_envs = checks.integer("num_envs", num_envs, minimum=1)
        self._mode = _autoreset_mode(autoreset_mode)
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
        self._rngs = [seeding.np_random(None)[0] for _ in range(num_envs)]
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

    @property
    def generators(self) -> list[np.random.Generator]:
        """The random generators of the sub-environments, in order."""
        return list(self._rngs)

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
        """
        options = dict(options or {})
        mask = _reset_mask(options.pop("reset_mask", None), self.num_envs)
        ids = np.flatnonzero(mask)
        self._seed(seed, ids)
        self._core.reset(ids, [self._rngs[i] for i in ids], options)
        self._ended[ids] = False
        return self._core.observation.copy(), self._infos.vector(mask)

    def _seed(self, seed: int | Sequence[int | None] | None, ids: NDArray) -> None:
        if seed is None:
            return
        if isinstance(seed, (int, np.integer)):
            seeds: list[int | None] = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed must be a list of {self.num_envs} seeds, got {len(seeds)}")
        for i in ids:
            if seeds[i] is not None:
                self._rngs[i] = seeding.np_random(seeds[i])[0]

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Apply actions (n, size) in [-1, 1] for one control step.

        Raises:
            ValueError: actions of another shape or not finite; in the mode "Disabled" also a step
                of an episode that has ended.
        """
        values = np.asarray(actions)
        if values.shape != self.action_space.shape:
            raise ValueError(
                f"actions must have shape {self.action_space.shape}, got {values.shape}"
            )
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            raise ValueError(
                f"the episodes of sub-environments {np.flatnonzero(self._ended).tolist()} have "
                'ended: reset them with options={"reset_mask": ...}'
            )
        core, late = self._core, self._ended.copy()
        restarts = self._mode is AutoresetMode.NEXT_STEP and late.any()
        if restarts:  # what they were told to do is of no importance, and not looked at
            values = np.where(late[:, None], 0.0, values)
        core.step(values)
        if restarts:
            self._restart(np.flatnonzero(late))
        reward, reason = core.reward.copy(), core.reason.copy()
        terminated, truncated = reason > 0, core.truncated.copy()
        infos = self._infos.vector()
        self._ended = terminated | truncated
        if self._mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._restart_now(infos)
        return core.observation.copy(), reward, terminated, truncated, infos

    def _restart(self, ids: NDArray) -> None:
        self._core.reset(ids, [self._rngs[i] for i in ids])

    def _restart_now(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Restart what has ended; return the infos of the new episodes with those of the old."""
        ended, observation = self._ended, self._core.observation
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended):
            final[i] = observation[i].copy()
        last = _masked(infos, ended)
        self._restart(np.flatnonzero(ended))
        return {
            **self._infos.vector(),
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": last,
            "_final_info": ended.copy(),
        }

    def render(self) -> tuple[Any, ...]:
        """Return one picture per simulation."""
        data = (self._core.engine.data(i) for i in range(self.num_envs))
        return tuple(self._renderer.render(each) for each in data)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the renderer; part of Gymnasium's `close`."""
        if hasattr(self, "_renderer"):  # Gymnasium also closes what could not be made
            self._renderer.close()


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    legal = {each.value: each for each in AutoresetMode}
    return legal[checks.choice("autoreset_mode", mode, legal)]


def _reset_mask(mask: Any, n: int) -> Bools:
    """Return which simulations a reset is for."""
    if mask is None:
        return np.ones(n, bool)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
        raise TypeError(f"options['reset_mask'] must be a bool array of shape ({n},), got {mask!r}")
    if not mask.any():
        raise ValueError("options['reset_mask'] must choose at least one sub-environment")
    return mask.copy()


def _masked(infos: dict[str, Any], mask: Bools) -> dict[str, Any]:
    """Return infos whose masks say that they are there for `mask` alone."""
    result: dict[str, Any] = {}
    for key, value in infos.items():
        if isinstance(value, dict):
            result[key] = _masked(value, mask)
        else:
            result[key] = value & mask if key.startswith("_") else value
    return result
