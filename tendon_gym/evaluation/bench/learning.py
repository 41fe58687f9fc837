"""What a step costs when Stable-Baselines3 learns from it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tendon_gym.evaluation.bench.flights import bare, record
from tendon_gym.evaluation.bench.parts import contestant
from tendon_gym.evaluation.bench.settings import HELD, Scope
from tendon_gym.evaluation.bench.timing import race

ENVS = 64

BATCH, EPOCHS = 2048, 5
"""Samples of a gradient step, at most; passes over a rollout. The network is SB3's default."""


def learning(scope: Scope, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Measure PPO, rollouts and updates, one PyTorch thread; nothing where it isn't installed."""
    if importlib.util.find_spec("stable_baselines3") is None:
        return []
    flight = record(*HELD)
    with ExitStack() as stack:
        stack.enter_context(_one_thread())
        contestants = [bare("mj_step", flight)]
        for engine in engines:
            run = _Learner(_model(stack, engine, scope.rollout), scope.rollout).run
            case = f"SB3 PPO, {ENVS} envs, 1 thread"
            contestants.append(contestant(case, run, flight, engine, ENVS, 1))
        return race("learning", contestants, scope.protocol)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: more only wait for each other in networks of this size."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _model(stack: ExitStack, engine: str, rollout: int) -> Any:
    from stable_baselines3 import PPO

    from tendon_gym.sb3 import make_vec_env

    env = make_vec_env(HELD[0], ENVS, seed=0, engine=engine, threads=1, **HELD[1])
    stack.callback(env.close)
    batch = min(BATCH, ENVS * rollout)
    return PPO(
        "MlpPolicy", env, seed=0, device="cpu", n_steps=rollout, batch_size=batch, n_epochs=EPOCHS
    )


class _Learner:
    """A model that goes on learning."""

    def __init__(self, model: Any, rollout: int) -> None:
        self._model, self._steps = model, ENVS * rollout

    def run(self, count: int) -> int:
        """Make `count` rollouts, with an update after each."""
        steps = count * self._steps
        self._model.learn(steps, reset_num_timesteps=False)
        return steps
