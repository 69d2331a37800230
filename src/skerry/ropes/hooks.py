"""A hook at the end of a winch's rope: it catches a rope, lets it run as over a pulley, and ends as a plain load.

HANGING: the hook hangs free. When a rope passes within its reach, in line with its own rope rather than beside it, that
rope is cut into two that run over the hook: PULLEY. When the free end of it has been pulled up to the hook, what the
other side is tied to hangs from the winch's own rope, now that much longer: CARRYING. Hook, free end and second rope
are gone.
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
    FEED,
    HANGING,
    HEAD,
    HOOK,
    JOIN,
    LEAST,
    NOTHING,
    PARTNER,
    PHASE,
    PULLEY,
    RADIUS,
    SINCE,
    SPARE,
    TAIL,
    WINCH,
)
from skerry.ropes.payout import constants_of_rope, length_of, nodes_of, state_of_rope

# A rope beside a hook is not in it: the line to it must lie within 60° of the hook's own rope.
FACING: Final = 0.5


@kernel
def _up(x: Any, i: int) -> float:
    """A component of the direction of a rope at its tail."""
    size = np.sqrt((x[3] - x[0]) ** 2 + (x[4] - x[1]) ** 2 + (x[5] - x[2]) ** 2)
    return (x[3 + i] - x[i]) / size if size > 1e-12 else 0.0


@kernel
def _touches(x: Any, k: int, hook: Any, reach: float) -> float:
    """Where the hook touches edge k, as a share of it; or −1."""
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
    facing = abs(dx * _up(hook, 0) + dy * _up(hook, 1) + dz * _up(hook, 2))
    return share if facing >= FACING * distance else -1.0


@kernel
def _catch(constants: Any, state: int, hook: int, rope: int, edge: int, share: float, time: float) -> None:
    """Cut a rope in two at a place of an edge, each with its head at the hook."""
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
    # A place next to a node is that node, and the hook takes its place: no side begins with next to nothing. At the
    # very ends there is no such node; the short side then gets a little rope of its own.
    near, far = edge, edge + 1  # the last nodes that stay on either side
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
    beyond_count = count - far  # nodes on the side of the head, whose order is turned round
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
    row[HEAD + BODY] = beyond[HEAD + BODY] = NOTHING
    row[JOIN] = beyond[JOIN] = hook
    row[PARTNER], beyond[PARTNER] = own[SPARE], rope
    row[FEED] = beyond[FEED] = 0.0
    hooked[PHASE] = PULLEY
    hooked[SINCE + 1] = time


@kernel
def _carry(constants: Any, state: int, userdata: int, hook: int, rope: int, time: float) -> None:
    """Let what the far side is tied to hang from the winch: its rope becomes the end of the winch's."""
    own = constants_of_rope(constants, hook)
    row = state_of_rope(state, own)
    loose = state_of_rope(state, constants_of_rope(constants, rope))
    second = constants_of_rope(constants, int(loose[PARTNER]))
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
    row[SINCE + 2] = time
    loose[COUNT] = beyond[COUNT] = 0.0
    loose[JOIN] = beyond[JOIN] = loose[PARTNER] = beyond[PARTNER] = NOTHING
    if own[WINCH] >= 0.0:
        winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
        winch[EXTRA] += length
        winch[LENGTH] += length
        winch[TARGET] = winch[LENGTH]


@kernel
def _try_to_catch(constants: Any, state: int, ropes: int, hook: int, time: float) -> None:
    """Look at every edge of every rope that may be caught; take the first that is touched."""
    own = constants_of_rope(constants, hook)
    row = state_of_rope(state, own)
    at = nodes_of(row, own)[0]
    for rope in range(ropes):
        other = constants_of_rope(constants, rope)
        target = state_of_rope(state, other)
        if rope == hook or other[CATCHABLE] == 0.0 or target[COUNT] < 2.0 or target[JOIN] >= 0.0:
            continue
        x = nodes_of(target, other)[0]
        reach = own[HOOK] + other[RADIUS]
        for k in range(int(target[COUNT]) - 1):
            share = _touches(x, k, at, reach)
            if share >= 0.0:
                _catch(constants, state, hook, rope, k, share, time)
                return


@kernel
def move_hooks(constants: Any, userdata: int, state: int, ropes: int, time: float) -> None:
    """Let every hook go to its next phase if it is time."""
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
                # the loose side: joined to this hook, its tail tied to nothing
                if end[COUNT] == 0.0 or end[JOIN] != hook or end[TAIL + BODY] >= 0.0:
                    continue
                x, at = nodes_of(end, side)[0], nodes_of(row, own)[0]
                distance = np.sqrt((x[0] - at[0]) ** 2 + (x[1] - at[1]) ** 2 + (x[2] - at[2]) ** 2)
                if distance <= side[END_RADIUS] + own[END_RADIUS] + side[LEAST]:
                    _carry(constants, state, userdata, hook, rope, time)
                    break
