"""The drive of a tendon: feed-forward force and an implicit servo."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tendon_gym import checks


@dataclass(frozen=True)
class Drive:
    """What actuates a tendon; every field as it is, whatever it was before.

    The force is a + position_gain (target_length - l) + velocity_gain (target_velocity - l'), with
    l and l' at the end of the step, within the actuation bounds of the tendon. The activation a
    follows `force` with the time constant `activation_time`.

    Attributes:
        force: feed-forward, N; positive lengthens the tendon.
        target_length: m. It is not set to the present length by itself.
        target_velocity: m/s.
        position_gain: N/m; at least 0.
        velocity_gain: N s/m; at least 0.
        activation_time: s; 0: the force acts at once.
    """

    force: float = 0.0
    target_length: float = 0.0
    target_velocity: float = 0.0
    position_gain: float = 0.0
    velocity_gain: float = 0.0
    activation_time: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("position_gain", "velocity_gain", "activation_time"):
                value = checks.number(field.name, value, minimum=0.0)
            else:
                value = checks.number(field.name, value)
            object.__setattr__(self, field.name, value)
