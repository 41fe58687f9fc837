"""One simulation as a Gymnasium environment."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, ClassVar

import gymnasium
import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym.envs.closing import Closable
from tendon_gym.envs.core import Core
from tendon_gym.envs.episodes import Episodes, check_seed
from tendon_gym.envs.infos import Infos
from tendon_gym.envs.observations import Slice
from tendon_gym.envs.rebuilding import Rebuilt
from tendon_gym.envs.rendering import Renderer
from tendon_gym.envs.state import EnvState, check_maker, maker_of
from tendon_gym.envs.task import Task

_ONLY = np.zeros(1, np.int64)


class TendonEnv(Rebuilt, Closable, gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """A task as a scalar environment: the core with one simulation.

    Subclasses name their `task`. `settings` are those of `envs.task.EnvConfig`, as plain values.
    """

    task: ClassVar[Task]
    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own attribute)
        "render_modes": ["human", "rgb_array", "depth_array"],
        "render_fps": 100,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        camera: str = "chase",
        **settings: Any,
    ) -> None:
        """Build the simulation; nothing is rendered until `render` is called."""
        settings = copy.deepcopy(settings)  # what the caller does to them later changes nothing
        pictures = {"render_mode": render_mode, "width": width, "height": height, "camera": camera}
        self._arguments = {**pictures, **settings}
        self._core = Core(self.task, 1, settings)
        self._infos = Infos(self._core)
        self.observation_space = self._core.observation_space
        self.action_space = self._core.action_space
        self._action_shape = self._core.action_space.shape
        self.metadata = {**self.metadata, "render_fps": self._core.frame_rate}
        self.render_mode = render_mode
        self._episodes: Episodes | None = None
        self._renderer = Renderer(self._core.model, render_mode, width, height, camera)

    @property
    def core(self) -> Core:
        """The simulation behind the environment."""
        return self._core

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model."""
        return self._core.model

    @property
    def data(self) -> mujoco.MjData:
        """The simulation itself, all derived quantities at its present state.

        Ask for it anew after a step: what is derived in an MjData that was kept may lie behind.
        """
        return self._core.engine.data(0)

    @property
    def control_frequency(self) -> float:
        """Actions per second."""
        return self._core.config.control_frequency

    @property
    def observation_layout(self) -> dict[str, Slice]:
        """The parts of the observation by name, with unit and frame."""
        return dict(self._core.observer.layout)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode; see `envs.starts.START_OPTIONS` for the options.

        The k-th reset after one with a seed starts the k-th episode of that seed.

        Raises:
            ValueError: an option or a seed that isn't legal; nothing has changed then.
            TypeError: one of the wrong type, likewise.
            RuntimeError: the environment is closed; so do all that follow.
        """
        self._check_open("reset")
        given = self._core.check_options(1, options)
        super().reset(seed=check_seed("seed", seed))
        self._core.reset(_ONLY, [self._now()], given)
        if self.render_mode == "human":
            self.render()
        return self._core.observation[0].copy(), self._infos.scalar()

    def step(
        self, action: ArrayLike
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Apply an action (size,) in [-1, 1] for one control step.

        Raises:
            ValueError: an action of another shape, or one that is not finite.
        """
        self._check_open("step")
        core = self._core
        values = np.asarray(action)
        if values.shape != self._action_shape:
            raise ValueError(f"action must have shape {self._action_shape}, got {values.shape}")
        core.step(values[None])
        if self.render_mode == "human":
            self.render()
        observation, reward = core.observation[0].copy(), core.reward.item()
        terminated, truncated = core.reason.item() > 0, core.truncated.item()
        return observation, reward, terminated, truncated, self._infos.scalar()

    def _now(self) -> Episodes:
        """Return where the random numbers come from, which may have been replaced."""
        if self._episodes is None or self._episodes.source is not self.np_random:
            self._episodes = Episodes(self.np_random)
        return self._episodes

    def get_state(self) -> EnvState:
        """Return the whole state, to go back to with `set_state`.

        Wrappers that count, such as a TimeLimit, have a memory of their own.
        """
        self._check_open("get_state")
        episodes = (self._now().state(),)
        return EnvState(self._maker(), self._core.get_state(), episodes)

    def set_state(self, state: EnvState) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Go to a state of this or of another environment that was made alike.

        Returns:
            The observation and the info at that moment.

        Raises:
            ValueError: the state is of an environment with other settings, which are named.
            TypeError: it is no state.
        """
        self._check_open("set_state")
        check_maker(self._maker(), state)
        episodes = Episodes.restored(state.episodes[0])
        self._core.set_state(state.arrays)
        self._episodes, self.np_random = episodes, episodes.source
        return self._core.observation[0].copy(), self._infos.scalar()

    def _maker(self) -> dict[str, Any]:
        return maker_of(self._core.config, task=self.task.entry.id, num_envs=1)

    def render(self) -> NDArray[Any] | None:
        """Return a picture, or show it in a window, as the render mode says."""
        self._check_open("render")
        return self._renderer.render(self.data, partial(self._core.draw, 0))

    def close(self) -> None:
        """Close the window, and the environment for good; calling it again does nothing."""
        self.closed = True
        self._renderer.close()
