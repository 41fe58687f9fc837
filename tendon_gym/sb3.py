"""The vector environment as Stable-Baselines3 wants it.

    from stable_baselines3 import PPO
    from tendon_gym.sb3 import make_vec_env

    model = PPO("MlpPolicy", make_vec_env("TendonGym/Track-v0", num_envs=16, seed=0))

It needs the extra `train`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from tendon_gym import checks
from tendon_gym.envs.episodes import check_seed
from tendon_gym.envs.vector import TendonVectorEnv

_OF_ONE = {
    "observation_space": "single_observation_space",
    "action_space": "single_action_space",
}


def make_vec_env(id: str, num_envs: int = 1, seed: int | None = None, **kwargs: Any) -> SB3VecEnv:
    """Make environments of one of this package's ids for Stable-Baselines3.

    Args:
        id: such as "TendonGym/Track-v0", or "tendon_gym:TendonGym/Track-v0".
        num_envs: number of simulations.
        seed: s seeds simulation i with s + i, and the action space; None leaves it to chance.
        kwargs: arguments of the vector environment, but for `autoreset_mode`.

    Raises:
        ValueError, TypeError: a seed or an argument that isn't legal.
    """
    seed = check_seed("seed", seed)
    env = gymnasium.make_vec(id, num_envs=num_envs, autoreset_mode="SameStep", **kwargs)
    adapter = SB3VecEnv(env)
    if seed is not None:
        adapter.seed(seed)
        adapter.action_space.seed(seed)
    return adapter


class SB3VecEnv(VecEnv):
    """A `TendonVectorEnv` behind Stable-Baselines3's interface, equal to its `DummyVecEnv`.

    An episode that ended starts anew in the same step; its last info then has
    "terminal_observation", "TimeLimit.truncated", "is_success", "termination_reason" and the
    statistics "episode" ("r" return, "l" steps, "t" s since this adapter was made). All other
    infos are empty.
    """

    def __init__(self, env: Any) -> None:
        """Wrap a `TendonVectorEnv` that was made with autoreset_mode "SameStep".

        Raises:
            TypeError: `env` is none, a scalar one for example.
            ValueError: it restarts episodes in another way.
        """
        if not isinstance(env, TendonVectorEnv):
            kind = "a scalar environment" if isinstance(env, gymnasium.Env) else "none"
            raise TypeError(
                "env must be a vector environment of this package, "
                f"got {checks.shown(env)}, which is {kind}: make it with "
                "tendon_gym.sb3.make_vec_env(id, num_envs=...); wrappers go around the SB3VecEnv"
            )
        if env.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "env must be made with autoreset_mode='SameStep', got "
                f"{checks.shown(env.metadata['autoreset_mode'].value)}"
            )
        self.env: TendonVectorEnv = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self.metadata = env.metadata
        self._actions = np.zeros(env.action_space.shape or (), np.float32)
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._start = time.perf_counter()

    def reset(self) -> NDArray[np.float32]:
        """Start an episode everywhere, with the seeds and options that were set before."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observation, _ = self.env.reset(seed=seeds, options=_stacked(self._options))
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        self._returns[:], self._lengths[:] = 0.0, 0
        return observation

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Let the next reset seed sub-environment i with seed + i; None draws one at random.

        Raises:
            ValueError, TypeError: a seed that isn't legal.
        """
        return super().seed(check_seed("seed", seed))

    def step_async(self, actions: NDArray) -> None:
        """Keep the actions (n, size) for `step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Return observations, rewards, which episodes ended, and infos."""
        observation, reward, terminated, truncated, infos = self.env.step(self._actions)
        done = terminated | truncated
        self._returns += reward
        self._lengths += 1
        result: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done).tolist():
            last = infos["final_info"]
            result[i] = {
                "terminal_observation": infos["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "is_success": bool(last["is_success"][i]),
                "termination_reason": last["termination_reason"][i],
                "episode": self._episode(i),
            }
        self._returns[done], self._lengths[done] = 0.0, 0
        return observation, reward.astype(np.float32), done, result

    def _episode(self, i: int) -> dict[str, float]:
        now = round(time.perf_counter() - self._start, 6)
        return {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": now}

    @property
    def random_state(self) -> list[dict[str, Any]]:
        """Where the sub-environments' next episodes come from, as plain values."""
        return self.env.random_state

    @random_state.setter
    def random_state(self, states: list[dict[str, Any]]) -> None:
        # seeds that wait for a reset would win
        self.env.random_state = states
        self._reset_seeds()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the vector environment, which all sub-environments share.

        Spaces are those of one sub-environment.
        """
        name = _OF_ONE.get(attr_name, attr_name)
        return [getattr(self.env, name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the vector environment for all sub-environments."""
        self._only_all("set_attr", indices)
        setattr(self.env, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method of the vector environment once, for all sub-environments."""
        self._only_all("env_method", indices)
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * self.num_envs

    def _only_all(self, name: str, indices: VecEnvIndices) -> None:
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise ValueError(
                f"{name} works on all sub-environments together, "
                f"got indices={checks.shown(indices)}"
            )

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Say yes to Monitor alone: its statistics are in the infos."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return one picture per rendered sub-environment, or all of them as one."""
        return self.env.pictures()

    def close(self) -> None:
        """Close the vector environment."""
        self.env.close()


def _stacked(options: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the options of all sub-environments as one row each."""
    names = set(options[0])
    if any(set(each) != names for each in options):
        told = checks.shown(options)
        raise ValueError(f"options must name the same for all sub-environments, got {told}")
    return {name: np.stack([each[name] for each in options]) for name in sorted(names)} or None
