"""What the paper reports, how close a flight must come to it, and what is only shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Tolerance:
    """The legal range of a measured value: around the paper's value or, without it, as it is.

    Attributes:
        share: of the paper's value, above and below it.
        margin: in the row's unit, above and below the paper's value.
        low, high: the range itself.
    """

    share: float | None = None
    margin: float | None = None
    low: float = -math.inf
    high: float = math.inf

    @property
    def around_paper(self) -> bool:
        """Whether the range lies around the paper's value."""
        return self.share is not None or self.margin is not None

    def limits(self, paper: float | None) -> tuple[float, float]:
        """Return the smallest and the largest legal value."""
        if not self.around_paper:
            return self.low, self.high
        if paper is None:
            raise ValueError("a share or a margin needs the paper's value")
        width = self.margin if self.share is None else self.share * abs(paper)
        assert width is not None
        return paper - width, paper + width

    def __str__(self) -> str:
        if self.share is not None:
            return f"{100.0 * self.share:g} %"
        if self.margin is not None:
            return f"+-{self.margin:g}"
        if self.low == self.high:
            return "yes" if self.low else "no"
        if math.isinf(self.low):
            return f"<= {self.high:g}"
        return f"{self.low:g} .. {self.high:g}"


@dataclass(frozen=True)
class Expected:
    """One row of the table, before it is measured.

    Attributes:
        experiment: what is measured.
        paper: what the paper reports, in `unit`; 1.0 for "yes"; None: nothing.
        unit: "" for a pure number, "yes/no" for 1.0 and 0.0.
        tolerance: None: the row is information only.
        source: "F" if the number served to reconstruct the model, "P" if it is predicted.
        better: which direction another controller improves on; "" for rows that say nothing
            about a controller.
        held: the flights in which the bend must be held for the row to count: the base's position
            is easy to keep for a controller that doesn't bend.
    """

    experiment: str
    paper: float | None
    unit: str
    tolerance: Tolerance | None = None
    source: Literal["F", "P"] = "P"
    better: Literal["less", "more", ""] = "less"
    held: Literal["mission", "hold", "bends", "push", ""] = ""


YES = Tolerance(low=1.0, high=1.0)
HALF = Tolerance(low=0.4, high=0.6)


def _within(percent: float) -> Tolerance:
    return Tolerance(share=percent / 100.0)


MISSION: dict[str, Expected] = {
    "mission.rms": Expected(
        "mission: RMS position error", 3.1, "cm", _within(3), "F", held="mission"
    ),
    "mission.rotating_bend_rms": Expected(
        "mission: the same in the rotating bend", 3.3, "cm", _within(10), held="mission"
    ),
    "mission.lowest_thrust": Expected("mission: lowest rotor thrust", None, "N"),
    "mission.highest_thrust": Expected("mission: highest rotor thrust", None, "N"),
    "mission.tip_distance": Expected(
        "mission: largest horizontal distance tip - base", 37.0, "cm", _within(3), held="mission"
    ),
    "mission.tip_off_axis": Expected(
        "mission: largest distance of the tip from the body axis", None, "cm"
    ),
}

GAINS: dict[str, Expected] = {
    "gains.softest": Expected(
        "attitude gains: RMS after 24 s, softest", 34.0, "cm", _within(10), "F", held="mission"
    ),
    "gains.soft": Expected("attitude gains: RMS after 24 s, soft", None, "cm"),
    "gains.medium": Expected("attitude gains: RMS after 24 s, medium", None, "cm"),
    "gains.nominal": Expected("attitude gains: RMS after 24 s, nominal", None, "cm"),
    "gains.medium_over_soft": Expected(
        "attitude gains: error at K_R x 2, medium / soft", 0.5, "", HALF, better=""
    ),
    "gains.nominal_over_medium": Expected(
        "attitude gains: error at K_R x 2, nominal / medium", 0.5, "", HALF, better=""
    ),
    "gains.frequency": Expected(
        "attitude gains: oscillation in hover, softest",
        None, "Hz", Tolerance(high=0.5), better="",
    ),
}  # fmt: skip

BEND: dict[str, Expected] = {
    "bend.lateral": Expected(
        "bend: tip at 5 s, lateral", 15.3, "cm", _within(3), "F", better="more"
    ),
    "bend.below": Expected("bend: tip at 5 s, below the base", 37.8, "cm", _within(3), "F"),
    "bend.grows": Expected("bend, mu 0 to 1: lateral grows", 1.0, "yes/no", YES, better=""),
    "bend.saturates": Expected(
        "bend, mu 0 to 1: linear at first, then saturates", 1.0, "yes/no", YES, better=""
    ),
    "bend.rises": Expected("bend, mu 0 to 1: the tip rises", 1.0, "yes/no", YES, better=""),
    "bend.straight": Expected(
        "bend, mu = 0: tip below the base", 52.6, "cm", Tolerance(margin=0.3), better=""
    ),
    "bend.radius_spread": Expected(
        "bend, beta in 15 degree steps: radius within +-",
        1.2, "%", Tolerance(high=1.5), held="bends",
    ),
    "bend.older_lowest": Expected("bend, older map: smallest radius over beta", None, "cm"),
    "bend.older_highest": Expected("bend, older map: largest radius over beta", None, "cm"),
    "hold.drift_5": Expected("bend held: drift of the base after 5 s", None, "cm", held="hold"),
    "hold.drift_15": Expected("bend held: drift of the base after 15 s", None, "cm", held="hold"),
    "hold.drift_30": Expected("bend held: drift of the base after 30 s", None, "cm", held="hold"),
    "hold.tilt_30": Expected("bend held: tilt after 30 s", None, "deg"),
}  # fmt: skip

PUSH: dict[str, Expected] = {
    "push.swing": Expected("push: largest lateral swing of the tip", 47.0, "cm", _within(3)),
    "push.tilt": Expected("push: largest tilt", 7.0, "deg", _within(3), "F"),
    "push.deviation": Expected(
        "push: largest deviation of the base", 7.9, "cm", _within(10), held="push"
    ),
    "push.settling": Expected(
        "push: base over 1 cm away for the last time after", 5.0, "s", _within(10), "F", held="push"
    ),
}

COST: dict[str, Expected] = {
    "cost.step": Expected("cost: a step of the mission", 129.0, "us"),
    "cost.real_time": Expected("cost: times real time", 15.0, "x", better="more"),
    "cost.over_bare": Expected("cost: step / bare mj_step", None, ""),
    "cost.policy_over_bare": Expected("cost: step by predict at 500 Hz / bare", None, ""),
    "cost.over_numpy": Expected("cost: step / step with a controller in NumPy", None, ""),
}

EXPECTED: dict[str, Expected] = {**MISSION, **GAINS, **BEND, **PUSH, **COST}
"""All rows by key, in the order of the table."""
