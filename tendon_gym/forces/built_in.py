"""The built-in force terms in one compiled kernel, for any range of simulations.

A term is a code and a row of parameters per simulation. One kernel that knows all codes can run
inside an engine's own compiled step, which a user's term in Python can't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import compiled
from tendon_gym.forces.term import ForceTerm, Motion, Push

EXTERNAL_WRENCH, IMPULSE, WIND = range(3)

START, END, FIRST = 0, 1, 2
"""Every row begins with the span of time, s, in which the term acts; the rest is its own."""

# s; a time that a user writes down may fall short of a count of time steps by rounding.
_ROUNDING = 1e-9


class BuiltIn:
    """A term that the kernel knows.

    Attributes:
        code: which one it is.
        needs_motion: whether it reads the motion while it acts.
        parameters: (n, p), each simulation's row: START, END, then the term's own.
    """

    def __init__(self, code: int, row: NDArray, n: int, needs_motion: bool = False) -> None:
        """Start with the same row (p,) in all n simulations."""
        self.code, self.needs_motion = code, needs_motion
        self._start = np.tile(np.asarray(row, float), (n, 1))
        self.parameters = self._start.copy()

    @property
    def state(self) -> NDArray:
        """All that the term remembers, live: the parameters."""
        return self.parameters

    def put(self, i: int, row: NDArray) -> None:
        """Give simulation `i` a row (p,) of its own until its next reset."""
        last = len(self.parameters) - 1
        self.parameters[checks.integer("simulation", i, minimum=0, maximum=last)] = row

    def reset(self, ids: NDArray) -> None:
        """Put back the row that the term was made with."""
        self.parameters[ids] = self._start[ids]

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Take note of model fields (k, ...) that the simulations `ids` have for their own."""

    def add(self, time: NDArray, motion: Motion | None, push: Push) -> None:
        """Add what the term gives; see `ForceTerm.add`."""
        seen = no_motion() if motion is None else motion
        terms = join([self], len(time), push.wind)
        for i in range(len(time)):
            add_terms(i, time[i], terms, seen, push)


class Terms(NamedTuple):
    """Some built-in terms together.

    Attributes:
        code: (t,).
        start: (t,), each term's first column of the parameters.
        needs_motion: (t,).
        parameters: (n, p), the terms' rows side by side.
        wind: (n, 3), of the model itself, m/s.
    """

    code: NDArray[np.int64]
    start: NDArray[np.int64]
    needs_motion: NDArray[np.bool_]
    parameters: NDArray[np.float64]
    wind: NDArray[np.float64]


def join(terms: Sequence[BuiltIn], n: int, wind: NDArray) -> Terms:
    """Put the rows of the terms side by side; the terms' own arrays become views of them."""
    widths = [term.parameters.shape[1] for term in terms]
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    parameters = np.zeros((n, max(1, starts[-1])))
    for term, start, width in zip(terms, starts[:-1], widths, strict=True):
        parameters[:, start : start + width] = term.parameters
        term.parameters = parameters[:, start : start + width]
    return Terms(
        np.array([term.code for term in terms], np.int64),
        starts[:-1].copy(),
        np.array([term.needs_motion for term in terms], bool),
        parameters,
        np.array(np.broadcast_to(wind, (n, 3)), float),
    )


def no_motion() -> Motion:
    """Return a motion for terms that don't look at it."""
    return Motion(
        np.zeros((0, 0, 3)),
        np.zeros((0, 0, 3, 3)),
        np.zeros((0, 0, 3)),
        np.zeros((0, 0, 3)),
        np.zeros((0, 0, 3)),
        np.zeros((0, 0)),
    )


@compiled
def acts(i: int, time: float, terms: Terms, t: int) -> bool:
    """Say whether term t acts on simulation i at this time."""
    row = terms.parameters[i, terms.start[t] :]
    now = time + _ROUNDING
    return row[START] <= now and now < row[END]


@compiled
def look(i: int, time: float, terms: Terms) -> bool:
    """Say whether a term that acts on simulation i reads its motion."""
    for t in range(terms.code.shape[0]):
        if terms.needs_motion[t] and acts(i, time, terms, t):
            return True
    return False


@compiled
def clear(i: int, terms: Terms, push: Push) -> None:
    """Begin with nothing but the model's own wind."""
    for b in range(push.wrench.shape[1]):
        for k in range(6):
            push.wrench[i, b, k] = 0.0
    for k in range(push.joint_force.shape[1]):
        push.joint_force[i, k] = 0.0
    for k in range(3):
        push.wind[i, k] = terms.wind[i, k]


@compiled
def add_terms(i: int, time: float, terms: Terms, motion: Motion, push: Push) -> None:
    """Add all terms that act on simulation i."""
    for t in range(terms.code.shape[0]):
        if not acts(i, time, terms, t):
            continue
        code, row = terms.code[t], terms.parameters[i, terms.start[t] + FIRST :]
        if code == WIND:
            for k in range(3):
                push.wind[i, k] += row[k]
        elif code == EXTERNAL_WRENCH:
            body = int(row[0])
            for k in range(6):
                push.wrench[i, body, k] += row[1 + k]
        elif code == IMPULSE:
            _add_impulse(i, row, motion, push)


@compiled
def push_one(i: int, time: float, terms: Terms, motion: Motion, push: Push) -> None:
    """Write what all terms together give to simulation i; the motion is up to date."""
    clear(i, terms, push)
    add_terms(i, time, terms, motion, push)


@compiled
def _add_impulse(i: int, row: NDArray, motion: Motion, push: Push) -> None:
    """Add a force at a point: row = body, point from its centre of mass (3), force (3), site."""
    body = int(row[0])
    for k in range(3):
        push.wrench[i, body, k] += row[4 + k]
    if row[1] == 0.0 and row[2] == 0.0 and row[3] == 0.0:
        return
    r = motion.body_rotation[i, body]
    x = r[0, 0] * row[1] + r[0, 1] * row[2] + r[0, 2] * row[3]
    y = r[1, 0] * row[1] + r[1, 1] * row[2] + r[1, 2] * row[3]
    z = r[2, 0] * row[1] + r[2, 1] * row[2] + r[2, 2] * row[3]
    push.wrench[i, body, 3] += y * row[6] - z * row[5]
    push.wrench[i, body, 4] += z * row[4] - x * row[6]
    push.wrench[i, body, 5] += x * row[5] - y * row[4]


class Pushes:
    """The force terms of one engine, added up before a physics step.

    Attributes:
        terms: all of them, in the order in which they add.
        own: those that are Python alone.
        built_in: the others, joined.
        push: what they add to.
        failed: (n,), whether a term has failed since `begin`.
    """

    def __init__(self, terms: Sequence[ForceTerm], push: Push, model: mujoco.MjModel) -> None:
        """Keep the terms and the arrays that the physics reads."""
        self.terms, self.push = tuple(terms), push
        known = [term for term in terms if isinstance(term, BuiltIn)]
        self.own = [term for term in terms if not isinstance(term, BuiltIn)]
        self.built_in = join(known, len(push.wrench), model.opt.wind[None])
        self.needs_motion = any(term.needs_motion for term in self.terms)
        self.failed = np.zeros(len(push.wrench), bool)

    def __bool__(self) -> bool:
        """Say whether anything pushes at all."""
        return bool(self.terms)

    def reset(self, ids: NDArray) -> None:
        """Reset every term in the simulations `ids`."""
        for term in self.terms:
            term.reset(ids)

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Take note of model fields (k, ...) that the simulations `ids` have for their own."""
        if "opt.wind" in values:
            self.built_in.wind[ids] = values["opt.wind"]
            self.push.wind[ids] = values["opt.wind"]
        for term in self.terms:
            take = getattr(term, "set_model_fields", None)
            if take is not None:
                take(ids, values)

    def begin(self) -> None:
        """Begin a control step, in which nothing has failed yet."""
        self.failed[:] = False

    def apply(self, time: NDArray, motion: Motion) -> None:
        """Write the sum of all terms at the present state, given the motion where it is needed."""
        _apply(time, self.built_in, motion, self.push)
        for term in self.own:
            term.add(time, motion, self.push)
            self.failed |= getattr(term, "failed", False)


@compiled
def _apply(time: NDArray, terms: Terms, motion: Motion, push: Push) -> None:
    for i in range(time.shape[0]):
        push_one(i, time[i], terms, motion, push)
