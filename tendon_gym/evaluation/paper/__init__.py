"""`tendon-gym paper`: the experiments of the paper, flown again and held against its numbers.

The paper is "An Open MuJoCo Simulation Framework for a Quadrotor Carrying a Tendon-Driven Soft
Continuum Arm". Its model is reconstructed from its text, partly by fitting numbers that are judged
here: those rows are marked F, the others, which are predictions, P.
"""

from tendon_gym.evaluation.paper.command import PaperCommand

__all__ = ["PaperCommand"]
