"""Hook at the end of a winch's rope: it catches a rope, which then runs over it as over a pulley.

HANGING: the hook hangs free. If a rope passes within its reach, in line with the hook's own rope and not beside it,
that rope is divided into two sides that run over the hook, and the phase is PULLEY. When the free end of the caught
rope has been pulled up to the hook, the other side becomes the end of the winch's rope, which is longer by its length,
and the phase is CARRYING. The hook, the free end and the second rope no longer exist.
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
from skerry.ropes.payout import constants_of_rope, length_of, nodes_of, state_of_rope

# Cosine of the largest angle between the hook's own rope and the line from the hook to a rope that it catches, 60°.
FACING: Final = 0.5


@kernel
def _tail_direction(x: Any, i: int) -> float:
    """Return component i of the direction of a rope at its tail."""
    size = np.sqrt((x[3] - x[0]) ** 2 + (x[4] - x[1]) ** 2 + (x[5] - x[2]) ** 2)
    return (x[3 + i] - x[i]) / size if size > 1e-12 else 0.0


@kernel
def _touch_point(x: Any, k: int, hook: Any, reach: float) -> float:
    """Return the position on edge k at which the hook touches it, from 0 to 1, or −1."""
    ax, ay, az = x[3 * k], x[3 * k + 1], x[3 * k + 2]
    ex, ey, ez = x[3 * k + 3] - ax, x[3 * k + 4] - ay, x[3 * k + 5] - az
    square = ex * ex + ey * ey + ez * ez
    share = 0.0
    if square > 0.0:
        share = ((hook[0] - ax) * ex + (hook[1] - ay) * ey + (hook[2] - az) * ez) / square
        share = min(max(share, 0.0), 1.0)
    dx, dy, dz = ax + share * ex - hook[0], ay + share * ey - hook[1], az + share * ez - hook[2]
    distance = np.sqrt(dx * dx + dy * dy + dz * dz)
    if distance > reach:
        return -1.0
    facing = abs(dx * _tail_direction(hook, 0) + dy * _tail_direction(hook, 1) + dz * _tail_direction(hook, 2))
    return share if facing >= FACING * distance else -1.0


@kernel
def _catch(constants: Any, state: int, hook: int, rope: int, edge: int, share: float, time: float) -> None:
    """Divide a rope at a position on an edge into two ropes, each with its head at the hook."""
    own = constants_of_rope(constants, rope)
    row = state_of_rope(state, own)
    hooked = state_of_rope(state, constants_of_rope(constants, hook))
    second = constants_of_rope(constants, int(own[SPARE]))
    beyond = state_of_rope(state, second)
    x, v, rest, tension = nodes_of(row, own)
    y, w, other_rest, other_tension = nodes_of(beyond, second)
    at = nodes_of(hooked, constants_of_rope(constants, hook))[0]
    moving = nodes_of(hooked, constants_of_rope(constants, hook))[1]
    count = int(row[COUNT])
    # If the position is close to a node, the hook replaces that node, so that no side starts with a very short edge. At
    # the ends of the rope no node can be replaced; the short side then gets some extra rope.
    near, far = edge, edge + 1  # last nodes that remain on either side
    on_near, on_far = share * rest[edge], (1.0 - share) * rest[edge]
    if share < 0.1:
        if edge > 0:
            near, on_near, on_far = edge - 1, rest[edge - 1], rest[edge]
        else:
            on_near += 0.1 * rest[edge]
    elif share > 0.9:
        if edge + 1 < count - 1:
            far, on_near, on_far = edge + 2, rest[edge], rest[edge + 1]
        else:
            on_far += 0.1 * rest[edge]
    beyond_count = count - far  # nodes on the side of the head; their order is reversed
    for k in range(beyond_count):
        for i in range(3):
            y[3 * k + i], w[3 * k + i] = x[3 * (count - 1 - k) + i], v[3 * (count - 1 - k) + i]
        other_rest[k], other_tension[k] = rest[count - 2 - k], tension[count - 2 - k]
    for i in range(3):
        y[3 * beyond_count + i], w[3 * beyond_count + i] = at[i], moving[i]
        x[3 * (near + 1) + i], v[3 * (near + 1) + i] = at[i], moving[i]
    other_rest[beyond_count - 1], rest[near] = on_far, on_near
    row[COUNT], beyond[COUNT] = near + 2, beyond_count + 1
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
    """Append the far side of the caught rope to the winch's rope, so that its load hangs from the winch."""
    own = constants_of_rope(constants, hook)
    row = state_of_rope(state, own)
    loose = state_of_rope(state, constants_of_rope(constants, rope))
    second = constants_of_rope(constants, int(loose[OTHER_SIDE]))
    beyond = state_of_rope(state, second)
    x, v, rest, tension = nodes_of(row, own)
    y, w, other_rest, other_tension = nodes_of(beyond, second)
    count, more = int(row[COUNT]), int(beyond[COUNT]) - 1
    length = length_of(beyond, second)
    for k in range(count - 1, -1, -1):
        for i in range(3):
            x[3 * (k + more) + i], v[3 * (k + more) + i] = x[3 * k + i], v[3 * k + i]
        rest[k + more], tension[k + more] = rest[k], tension[k]
    for k in range(more):
        for i in range(3):
            x[3 * k + i], v[3 * k + i] = y[3 * k + i], w[3 * k + i]
        rest[k], tension[k] = other_rest[k], other_tension[k]
    row[COUNT] = count + more
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
        reach = own[HOOK] + other[RADIUS]
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
                x, at = nodes_of(end, side)[0], nodes_of(row, own)[0]
                distance = np.sqrt((x[0] - at[0]) ** 2 + (x[1] - at[1]) ** 2 + (x[2] - at[2]) ** 2)
                if distance <= side[END_RADIUS] + own[END_RADIUS] + side[MIN_LENGTH]:
                    _append_load(constants, state, userdata, hook, rope, time)
                    break
