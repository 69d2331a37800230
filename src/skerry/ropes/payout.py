"""Ropes that grow and shrink at their heads: by a winch, or over a hook by the pull of both sides.

Material points keep their nodes; only the edge at the head changes its rest length, and a node is born or vanishes when
that edge gets longer than one and a half times the usual, or shorter than half of it.

Over a hook, rope goes to the side that pulls harder: m ṡ = T₁ − T₂ − c s with the sheave's inertia m and drag c. Both
tensions answer at once to s, so it is sought, by the secant method, together with the step of the ropes: see `step.py`.
"""

from __future__ import annotations

from typing import Any

from skerry.actuators.winch import LENGTH, RELEASE, WINCH_STATE
from skerry.core.kernels import floats, kernel
from skerry.ropes.layout import (
    BODY,
    CAPACITY,
    COMMON,
    COUNT,
    FEED,
    JOIN,
    LEAST,
    NODES,
    NOTHING,
    PARTNER,
    PER_NODE,
    PLACE,
    ROPE,
    SEGMENT,
    STEP,
    TAIL,
    WINCH,
)


@kernel
def constants_of_rope(constants: Any, rope: int) -> Any:
    """A rope's own constants."""
    return constants[COMMON + ROPE * rope : COMMON + ROPE * (rope + 1)]


@kernel
def state_of_rope(state: int, own: Any) -> Any:
    """A rope's state, with its nodes behind the numbers."""
    return floats(state + 8 * int(own[PLACE]), NODES + PER_NODE * int(own[CAPACITY]))


@kernel
def nodes_of(row: Any, own: Any) -> tuple[Any, Any, Any, Any]:
    """Positions, velocities, rest lengths and tensions of a rope's nodes."""
    n = int(own[CAPACITY])
    return (
        row[NODES : NODES + 3 * n],
        row[NODES + 3 * n : NODES + 6 * n],
        row[NODES + 6 * n : NODES + 7 * n],
        row[NODES + 7 * n : NODES + 8 * n],
    )


@kernel
def length_of(row: Any, own: Any) -> float:
    """The length of a rope at rest, m."""
    rest = nodes_of(row, own)[2]
    total = 0.0
    for k in range(int(row[COUNT]) - 1):
        total += rest[k]
    return total


@kernel
def grow(row: Any, own: Any, more: float) -> None:
    """Let a rope grow at its head, or shrink."""
    x, v, rest, tension = nodes_of(row, own)
    segment = own[SEGMENT]
    count = int(row[COUNT])
    rest[count - 2] += more
    while rest[count - 2] > 1.5 * segment and count < int(own[CAPACITY]):
        # Along itself the rope moves as one, so that the new node is as fast as the last one; across, it is in between.
        share = segment / rest[count - 2]
        last, head = 3 * (count - 2), 3 * (count - 1)
        dx, dy, dz = x[head] - x[last], x[head + 1] - x[last + 1], x[head + 2] - x[last + 2]
        square = dx * dx + dy * dy + dz * dz
        apart = dx * (v[head] - v[last]) + dy * (v[head + 1] - v[last + 1]) + dz * (v[head + 2] - v[last + 2])
        along = share * apart / square if square > 0.0 else 0.0
        for i in range(3):
            line = x[head + i] - x[last + i]
            x[head + 3 + i], v[head + 3 + i] = x[head + i], v[head + i]
            x[head + i] = x[last + i] + share * line
            v[head + i] = v[last + i] + share * (v[head + i] - v[last + i]) - along * line
        rest[count - 1] = rest[count - 2] - segment
        rest[count - 2] = segment
        tension[count - 1] = tension[count - 2]
        count += 1
    while count > 2 and rest[count - 2] < 0.5 * segment:
        rest[count - 3] += rest[count - 2]
        tension[count - 3] = tension[count - 2]
        for i in range(3):
            x[3 * (count - 2) + i] = x[3 * (count - 1) + i]
            v[3 * (count - 2) + i] = v[3 * (count - 1) + i]
        count -= 1
    row[COUNT] = count


@kernel
def feed_from_winch(userdata: int, row: Any, own: Any, step: float) -> None:
    """Make a rope as long as its winch says, and let go of its load if it says so."""
    winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
    if winch[RELEASE] != 0.0:
        winch[RELEASE] = 0.0
        row[TAIL + BODY] = NOTHING
    more = winch[LENGTH] - length_of(row, own)
    row[FEED] = more / step
    grow(row, own, more)


@kernel
def run_over_hook(constants: Any, state: int, rope: int) -> None:
    """Let rope run over a hook as fast as it did, between two sides, of which `rope` is one; `balance` corrects it."""
    first = constants_of_rope(constants, rope)
    row = state_of_rope(state, first)
    second = constants_of_rope(constants, int(row[PARTNER]))
    other = state_of_rope(state, second)
    h = constants[STEP]
    most = length_of(other, second) - second[LEAST]
    least = first[LEAST] - length_of(row, first)
    more = min(max(h * row[FEED], least), most)
    row[FEED], other[FEED] = more / h, -more / h
    grow(row, first, more)
    grow(other, second, -more)


@kernel
def feed_all(constants: Any, numbers: Any, userdata: int, state: int, ropes: int) -> None:
    """Feed every rope that is fed, once a step."""
    for rope in range(ropes):
        own = constants_of_rope(constants, rope)
        row = state_of_rope(state, own)
        if row[COUNT] == 0.0:
            continue
        if row[JOIN] >= 0.0:
            if row[PARTNER] > rope:  # each pair once
                run_over_hook(constants, state, rope)
        elif own[WINCH] >= 0.0:
            feed_from_winch(userdata, row, own, constants[STEP])
