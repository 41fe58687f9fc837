"""The benchmark: what a step costs, in every form, against bare `mj_step`."""

from tendon_gym.evaluation.bench.command import BenchCommand

__all__ = ["BenchCommand"]
