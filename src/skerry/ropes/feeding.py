"""Ropes that grow and shrink at their heads: by a winch, or over a hook by the pull of both sides.

Material points keep their nodes; only the edge at the head changes its rest length, and a node is born or vanishes when
that edge gets longer than one and a half times the usual, or shorter than half of it.

Over a hook, rope goes to the side that pulls harder: m ṡ = T₁ − T₂ − c s with the sheave's inertia m and drag c. Both
tensions answer at once to s, by the stiffness k of their edges, so the step is implicit:
s⁺ (m + h c + h² (k₁ + k₂)) = m s + h (T₁ − T₂) + h² (k₁ w₁ − k₂ w₂), w being how fast the ends move apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.actuators.winch import LENGTH, RELEASE, WINCH_STATE
from skerry.core.kernels import floats, kernel
from skerry.ropes.layout import (
    BODY,
    CAPACITY,
    COMMON,
    COUNT,
    DAMPING,
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
    SHEAVE_DRAG,
    SHEAVE_MASS,
    STEP,
    STIFFNESS,
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
        share = segment / rest[count - 2]
        for i in range(3):
            place, moving = x[3 * (count - 1) + i], v[3 * (count - 1) + i]
            x[3 * count + i], v[3 * count + i] = place, moving
            x[3 * (count - 1) + i] = x[3 * (count - 2) + i] + share * (place - x[3 * (count - 2) + i])
            v[3 * (count - 1) + i] = v[3 * (count - 2) + i] + share * (moving - v[3 * (count - 2) + i])
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
def _parting(x: Any, v: Any, count: int) -> float:
    """How fast the last two nodes move apart, m/s."""
    a, b = 3 * (count - 2), 3 * (count - 1)
    dx, dy, dz = x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]
    size = np.sqrt(dx * dx + dy * dy + dz * dz)
    if size < 1e-12:
        return 0.0
    return (dx * (v[b] - v[a]) + dy * (v[b + 1] - v[a + 1]) + dz * (v[b + 2] - v[a + 2])) / size


@kernel
def run_over_hook(constants: Any, state: int, rope: int) -> None:
    """Let rope run over a hook between two sides, of which `rope` is one."""
    first = constants_of_rope(constants, rope)
    row = state_of_rope(state, first)
    second = constants_of_rope(constants, int(row[PARTNER]))
    other = state_of_rope(state, second)
    hook = constants_of_rope(constants, int(row[JOIN]))
    h = constants[STEP]
    x1, v1, rest1, tension1 = nodes_of(row, first)
    x2, v2, rest2, tension2 = nodes_of(other, second)
    n1, n2 = int(row[COUNT]), int(other[COUNT])
    t1, t2 = tension1[n1 - 2], tension2[n2 - 2]
    k1 = (first[STIFFNESS] + first[DAMPING] / h) / rest1[n1 - 2] if t1 > 0.0 else 0.0
    k2 = (second[STIFFNESS] + second[DAMPING] / h) / rest2[n2 - 2] if t2 > 0.0 else 0.0
    pull = hook[SHEAVE_MASS] * row[FEED] + h * (t1 - t2)
    pull += h * h * (k1 * _parting(x1, v1, n1) - k2 * _parting(x2, v2, n2))
    speed = pull / (hook[SHEAVE_MASS] + h * hook[SHEAVE_DRAG] + h * h * (k1 + k2))
    most = length_of(other, second) - second[LEAST]
    least = first[LEAST] - length_of(row, first)
    more = min(max(h * speed, least), most)
    if more != h * speed:
        speed = 0.0
    row[FEED], other[FEED] = speed, -speed
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
