"""Hook at the end of a winch's rope: it catches a rope, which then runs over it as over a pulley.

The hook is a ring with the radius `reach`, with a gate. HANGING: the hook hangs free. If a rope comes into the ring, in
line with the hook's own rope and not beside it, the gate closes behind it: the rope gets a node at the point that is
nearest to the centre, the contact point, and the phase is PULLEY. The contact point moves freely in the ring. Where it
touches the ring, an edge of the length `reach` from the centre pulls it, and the two sides of the rope run over it.

Nothing moves when a rope is caught, and no force acts then: the new node is on the rope, with the velocity that the
rope has there, and its share of mass, strain and height is that of the divided edge. So momentum, potential and elastic
energy stay the same, and kinetic energy does not grow, because |v|² is convex.

When the free end of the caught rope has been pulled up to the contact point, the other side becomes the end of the
winch's rope, which is longer by its length and by `reach`, and the phase is CARRYING. This part keeps its material. The
hook, the free end and the second rope no longer exist.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.actuators.winch import EXTRA, LENGTH, TARGET, WINCH_STATE
from skerry.core.kernels import floats, kernel
from skerry.ropes.layout import (
    BODY,
    CARRYING,
    CATCHABLE,
    COUNT,
    END,
    END_RADIUS,
    HANGING,
    HEAD,
    HOOK,
    HOOK_ROPE,
    LOAD_EDGES,
    LOAD_ROPE,
    MIN_LENGTH,
    NO_INDEX,
    OTHER_SIDE,
    PAYOUT_SPEED,
    PHASE,
    PHASE_TIMES,
    PULLEY,
    RADIUS,
    SPARE,
    TAIL,
    WINCH,
)
from skerry.ropes.payout import SHORTEST_OVER_HOOK, constants_of_rope, length_of, nodes_of, state_of_rope

# Cosine of the largest angle between the hook's own rope and the line from the hook to a rope that it catches, 60°.
FACING: Final = 0.5


@kernel
def ring_radius(hook: Any, rope: Any) -> float:
    """Return the largest distance of the contact point of a rope from the centre of a hook, m; both are constants."""
    return hook[HOOK] + rope[RADIUS]


@kernel
def _tail_direction(x: Any, i: int) -> float:
    """Return component i of the direction of a rope at its tail."""
    size = np.sqrt((x[3] - x[0]) ** 2 + (x[4] - x[1]) ** 2 + (x[5] - x[2]) ** 2)
    return (x[3 + i] - x[i]) / size if size > 1e-12 else 0.0


@kernel
def _touch_point(x: Any, k: int, hook: Any, reach: float) -> float:
    """Return the position on edge k at which the hook touches it, as a share of the edge, or −1."""
    ax, ay, az = x[3 * k] - hook[0], x[3 * k + 1] - hook[1], x[3 * k + 2] - hook[2]
    ex, ey, ez = x[3 * k + 3] - x[3 * k], x[3 * k + 4] - x[3 * k + 1], x[3 * k + 5] - x[3 * k + 2]
    square = ex * ex + ey * ey + ez * ez
    nearest = min(max(-(ax * ex + ay * ey + az * ez) / square, 0.0), 1.0) if square > 0.0 else 0.5
    dx, dy, dz = ax + nearest * ex, ay + nearest * ey, az + nearest * ez
    facing = abs(dx * _tail_direction(hook, 0) + dy * _tail_direction(hook, 1) + dz * _tail_direction(hook, 2))
    if facing < FACING * np.sqrt(dx * dx + dy * dy + dz * dz):
        return -1.0
    # Neither part of the divided edge may be very short, so the contact point may be a little off the nearest point.
    share = min(max(nearest, SHORTEST_OVER_HOOK), 1.0 - SHORTEST_OVER_HOOK)
    dx, dy, dz = ax + share * ex, ay + share * ey, az + share * ez
    return share if np.sqrt(dx * dx + dy * dy + dz * dz) <= reach else -1.0


@kernel
def _catch(constants: Any, state: int, hook: int, rope: int, edge: int, share: float, time: float) -> None:
    """Divide a rope at a position on an edge into two ropes, whose heads are both the contact point."""
    own = constants_of_rope(constants, rope)
    row = state_of_rope(state, own)
    hooked = state_of_rope(state, constants_of_rope(constants, hook))
    second = constants_of_rope(constants, int(own[SPARE]))
    beyond = state_of_rope(state, second)
    x, v, rest, tension = nodes_of(row, own)
    y, w, other_rest, other_tension = nodes_of(beyond, second)
    count = int(row[COUNT])
    far = edge + 1  # first node beyond the contact point
    beyond_count = count - far  # nodes on the side of the head; their order is reversed
    for k in range(beyond_count):
        for i in range(3):
            y[3 * k + i], w[3 * k + i] = x[3 * (count - 1 - k) + i], v[3 * (count - 1 - k) + i]
        other_rest[k], other_tension[k] = rest[count - 2 - k], tension[count - 2 - k]
    for i in range(3):
        y[3 * beyond_count + i] = (1.0 - share) * x[3 * edge + i] + share * x[3 * far + i]
        w[3 * beyond_count + i] = (1.0 - share) * v[3 * edge + i] + share * v[3 * far + i]
        x[3 * far + i], v[3 * far + i] = y[3 * beyond_count + i], w[3 * beyond_count + i]
    other_rest[beyond_count - 1] = (1.0 - share) * rest[edge]
    rest[edge] *= share
    row[COUNT], beyond[COUNT] = far + 1, beyond_count + 1
    for i in range(END):
        beyond[TAIL + i] = row[HEAD + i]
    row[HEAD + BODY] = beyond[HEAD + BODY] = NO_INDEX
    row[HOOK_ROPE] = beyond[HOOK_ROPE] = hook
    row[OTHER_SIDE], beyond[OTHER_SIDE] = own[SPARE], rope
    row[PAYOUT_SPEED] = beyond[PAYOUT_SPEED] = 0.0
    hooked[PHASE] = PULLEY
    hooked[PHASE_TIMES + 1] = time


@kernel
def _append_load(constants: Any, state: int, userdata: int, hook: int, rope: int, time: float) -> None:
    """Append the far side of the caught rope to the winch's rope, so that its load hangs from the winch.

    The edge from the contact point to the centre of the hook becomes an edge of the winch's rope.
    """
    own = constants_of_rope(constants, hook)
    row = state_of_rope(state, own)
    loose = state_of_rope(state, constants_of_rope(constants, rope))
    second = constants_of_rope(constants, int(loose[OTHER_SIDE]))
    beyond = state_of_rope(state, second)
    x, v, rest, tension = nodes_of(row, own)
    y, w, other_rest, other_tension = nodes_of(beyond, second)
    count, more = int(row[COUNT]), int(beyond[COUNT])
    ring = ring_radius(own, second)
    length = length_of(beyond, second) + ring
    for k in range(count - 1, -1, -1):
        for i in range(3):
            x[3 * (k + more) + i], v[3 * (k + more) + i] = x[3 * k + i], v[3 * k + i]
        rest[k + more], tension[k + more] = rest[k], tension[k]
    for k in range(more):
        for i in range(3):
            x[3 * k + i], v[3 * k + i] = y[3 * k + i], w[3 * k + i]
        rest[k], tension[k] = other_rest[k], other_tension[k]
    rest[more - 1], tension[more - 1] = ring, tension[more]
    row[COUNT] = count + more
    row[LOAD_ROPE], row[LOAD_EDGES] = loose[OTHER_SIDE], more - 1
    for i in range(END):
        row[TAIL + i] = beyond[TAIL + i]
    row[PHASE] = CARRYING
    row[PHASE_TIMES + 2] = time
    loose[COUNT] = beyond[COUNT] = 0.0
    loose[HOOK_ROPE] = beyond[HOOK_ROPE] = loose[OTHER_SIDE] = beyond[OTHER_SIDE] = NO_INDEX
    if own[WINCH] >= 0.0:
        winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
        winch[EXTRA] += length
        winch[LENGTH] += length
        winch[TARGET] = winch[LENGTH]


@kernel
def _try_to_catch(constants: Any, state: int, ropes: int, hook: int, time: float) -> None:
    """Catch the first edge within reach among all catchable ropes."""
    own = constants_of_rope(constants, hook)
    row = state_of_rope(state, own)
    at = nodes_of(row, own)[0]
    for rope in range(ropes):
        other = constants_of_rope(constants, rope)
        target = state_of_rope(state, other)
        if rope == hook or other[CATCHABLE] == 0.0 or target[COUNT] < 2.0 or target[HOOK_ROPE] >= 0.0:
            continue
        x = nodes_of(target, other)[0]
        reach = ring_radius(own, other)
        for k in range(int(target[COUNT]) - 1):
            share = _touch_point(x, k, at, reach)
            if share >= 0.0:
                _catch(constants, state, hook, rope, k, share, time)
                return


@kernel
def update_hooks(constants: Any, userdata: int, state: int, ropes: int, time: float) -> None:
    """Move every hook to its next phase when its condition is met."""
    for hook in range(ropes):
        own = constants_of_rope(constants, hook)
        row = state_of_rope(state, own)
        if own[HOOK] == 0.0 or row[COUNT] == 0.0 or row[TAIL + BODY] >= 0.0:
            continue
        if row[PHASE] == HANGING:
            _try_to_catch(constants, state, ropes, hook, time)
        elif row[PHASE] == PULLEY:
            for rope in range(ropes):
                side = constants_of_rope(constants, rope)
                end = state_of_rope(state, side)
                # the loose side: it runs over this hook, and its tail is free
                if end[COUNT] == 0.0 or end[HOOK_ROPE] != hook or end[TAIL + BODY] >= 0.0:
                    continue
                x, last = nodes_of(end, side)[0], 3 * (int(end[COUNT]) - 1)
                distance = np.sqrt((x[0] - x[last]) ** 2 + (x[1] - x[last + 1]) ** 2 + (x[2] - x[last + 2]) ** 2)
                if distance <= side[END_RADIUS] + own[END_RADIUS] + side[MIN_LENGTH]:
                    _append_load(constants, state, userdata, hook, rope, time)
                    break
