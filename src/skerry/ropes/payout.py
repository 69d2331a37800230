"""Payout: ropes that get longer or shorter at their heads, by a winch, or over a hook by the tension of both sides.

Nodes stay at their material points. Only the edge at the head changes its rest length. A node is added when that edge
is longer than 1.5 times the nominal segment, and removed when it is shorter than half of it (over a hook, a quarter). A
removed node gives its mass to its neighbours together with its momentum, so kinetic energy does not grow.

Over a hook, the rope runs to the side with the larger tension: m ṡ = T₁ − T₂ − c s, with the inertia m and the drag c
of the pulley. Both tensions depend strongly on s, so `step.py` finds s by the secant method together with the step of
the ropes.
"""

from __future__ import annotations

from typing import Any, Final

from skerry.actuators.winch import LENGTH, RELEASE, WINCH_STATE
from skerry.core.kernels import floats, kernel
from skerry.ropes.layout import (
    BODY,
    CAPACITY,
    COMMON,
    COUNT,
    END_MASS,
    HEAD,
    HOOK_ROPE,
    LOAD_EDGES,
    MASS,
    MIN_LENGTH,
    NO_INDEX,
    NODES,
    OTHER_SIDE,
    PAYOUT_SPEED,
    PER_NODE,
    ROPE,
    SEGMENT,
    STATE_OFFSET,
    STEP,
    TAIL,
    WINCH,
)

# Length of the edge at the head below which its lower node is removed, as a share of the nominal segment
SHORTEST_ON_WINCH: Final = 0.5
SHORTEST_OVER_HOOK: Final = 0.25


@kernel
def constants_of_rope(constants: Any, rope: int) -> Any:
    """Return the constants of a rope."""
    return constants[COMMON + ROPE * rope : COMMON + ROPE * (rope + 1)]


@kernel
def state_of_rope(state: int, own: Any) -> Any:
    """Return the state of a rope: its header, then its nodes."""
    return floats(state + 8 * int(own[STATE_OFFSET]), NODES + PER_NODE * int(own[CAPACITY]))


@kernel
def nodes_of(row: Any, own: Any) -> tuple[Any, Any, Any, Any]:
    """Return positions, velocities, rest lengths and tensions of a rope's nodes; `own` are its constants."""
    n = int(own[CAPACITY])
    return (
        row[NODES : NODES + 3 * n],
        row[NODES + 3 * n : NODES + 6 * n],
        row[NODES + 6 * n : NODES + 7 * n],
        row[NODES + 7 * n : NODES + 8 * n],
    )


@kernel
def length_of(row: Any, own: Any) -> float:
    """Return the length of a rope at rest, m."""
    rest = nodes_of(row, own)[2]
    total = 0.0
    for k in range(int(row[COUNT]) - 1):
        total += rest[k]
    return total


@kernel
def change_length(row: Any, own: Any, more: float) -> None:
    """Make a rope longer at its head by `more`, or shorter if `more` is negative, m."""
    x, v, rest, tension = nodes_of(row, own)
    segment = own[SEGMENT]
    count = int(row[COUNT])
    rest[count - 2] += more
    while rest[count - 2] > 1.5 * segment and count < int(own[CAPACITY]):
        # Along the rope the new node has the velocity of the last node; across, it is interpolated.
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
    over_hook = row[HOOK_ROPE] >= 0.0 or row[OTHER_SIDE] >= 0.0
    shortest = segment * (SHORTEST_OVER_HOOK if over_hook else SHORTEST_ON_WINCH)
    while count > 2 and rest[count - 2] < shortest:
        last, gone = 3 * (count - 3), 3 * (count - 2)
        under, over = rest[count - 3], max(rest[count - 2], 0.0)
        kept = own[MASS] * under + (own[MASS] * rest[count - 4] if count > 3 else 2.0 * own[END_MASS])
        to_last, to_head = own[MASS] * over / (kept + own[MASS] * over), under / (under + over)
        for i in range(3):
            v[last + i] += to_last * (v[gone + i] - v[last + i])
            if over_hook:
                v[gone + 3 + i] += to_head * (v[gone + i] - v[gone + 3 + i])
        rest[count - 3] += rest[count - 2]
        tension[count - 3] = tension[count - 2]
        for i in range(3):
            x[3 * (count - 2) + i] = x[3 * (count - 1) + i]
            v[3 * (count - 2) + i] = v[3 * (count - 1) + i]
        count -= 1
    row[COUNT] = count
    row[LOAD_EDGES] = min(row[LOAD_EDGES], count - 1)


@kernel
def follow_winch(userdata: int, row: Any, own: Any, step: float) -> None:
    """Set the length of a rope to that of its winch, and release its end if the winch requests it."""
    winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
    if winch[RELEASE] != 0.0:
        winch[RELEASE] = 0.0
        row[TAIL + BODY] = NO_INDEX
    more = winch[LENGTH] - length_of(row, own)
    row[PAYOUT_SPEED] = more / step
    change_length(row, own, more)


@kernel
def run_over_hook(constants: Any, state: int, rope: int) -> None:
    """Run rope over a hook or pulley at the speed of the last step; `_balance` corrects it. `rope` is either side."""
    first = constants_of_rope(constants, rope)
    row = state_of_rope(state, first)
    second = constants_of_rope(constants, int(row[OTHER_SIDE]))
    other = state_of_rope(state, second)
    h = constants[STEP]
    most = length_of(other, second) - second[MIN_LENGTH]
    least = first[MIN_LENGTH] - length_of(row, first)
    more = min(max(h * row[PAYOUT_SPEED], least), most)
    row[PAYOUT_SPEED], other[PAYOUT_SPEED] = more / h, -more / h
    change_length(row, first, more)
    change_length(other, second, -more)


@kernel
def update_lengths(constants: Any, numbers: Any, userdata: int, state: int, ropes: int) -> None:
    """Update the length of every rope on a winch or over a hook or pulley, once per step."""
    for rope in range(ropes):
        own = constants_of_rope(constants, rope)
        row = state_of_rope(state, own)
        if row[COUNT] == 0.0:
            continue
        if row[HOOK_ROPE] >= 0.0:
            if row[OTHER_SIDE] > rope:  # visit each pair once
                run_over_hook(constants, state, rope)
        elif own[WINCH] >= 0.0 and row[HEAD + BODY] >= 0.0:
            follow_winch(userdata, row, own, constants[STEP])
