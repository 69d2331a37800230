"""Native computation of the times at which sound in flight reaches moving receivers.

A wave front spreads from the origin o of the last leg: |r(t) − o| + extra = c (t − sent). The arrival is first
predicted for a receiver that keeps its velocity. Within the step in which the sound arrives, the time is then found
exactly, from the cubic through the positions and velocities of the receiver at both ends of that step.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.acoustics.channel import paths
from skerry.acoustics.channel.paths import flight_time, surface_height
from skerry.core.kernels import kernel

# Columns of sound in flight. The tick at which it is expected to have arrived is stored in a separate array.
SIGNAL: Final = 0
RECEIVER: Final = 1
PATH: Final = 2
ORIGIN: Final = 3  # 3 columns
EXTRA: Final = 6
SPEED: Final = 7
SENT: Final = 8
CLOSING: Final = 9
GRAZING: Final = 10
NEEDS_REPLY: Final = 11  # 1 if the receiver will reply
STORE_ONLY: Final = 12  # 1 if the receiver only stores the arrival until it is read
IN_FLIGHT_COLUMNS: Final = 13

# Columns of sound that has arrived
A_SIGNAL: Final = 0
A_RECEIVER: Final = 1
A_PATH: Final = 2
A_TIME: Final = 3
A_DOPPLER: Final = 4
STORED_COLUMNS: Final = 5  # number of columns of sound that is only stored
A_LENGTH: Final = 5
A_DEPTH: Final = 6  # depth of the receiver below the surface, m
A_GRAZING: Final = 7
A_ORIGIN: Final = 8  # 3 columns
A_EXTRA: Final = 11
A_SPEED: Final = 12
A_SENT: Final = 13
ARRIVAL_COLUMNS: Final = 14

MAX_EXTRAPOLATION: Final = 0.02  # longest time beyond a step over which a receiver's motion is extrapolated, s
MAX_DELAY: Final = 0.15  # a front that passed a teleported receiver longer ago than this is not received, s


@kernel
def part_motions(motion: Any, bodies: Any, offsets: Any, out: Any) -> None:
    """Write the positions and velocities of points that are fixed to bodies.

    Args:
        motion: Motions of all bodies, (bodies, 13).
        bodies: Body of each point, (n,).
        offsets: Position of each point on its body, m, (n, 3).
        out: Positions and velocities in the world, (n, 6).
    """
    for i in range(len(bodies)):
        row = motion[bodies[i]]
        x, y, z, w = row[3], row[4], row[5], row[6]
        a, b, c = offsets[i, 0], offsets[i, 1], offsets[i, 2]
        ax = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c
        ay = 2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c
        az = 2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c
        p, q, r = row[10], row[11], row[12]
        out[i, 0], out[i, 1], out[i, 2] = row[0] + ax, row[1] + ay, row[2] + az
        out[i, 3], out[i, 4], out[i, 5] = row[7] + q * az - r * ay, row[8] + r * ax - p * az, row[9] + p * ay - q * ax


@kernel
def motion_at(before: Any, now: Any, step: float, since: float, out: Any) -> None:
    """Write the position and velocity (6,) of a point `since` seconds after the end of a step.

    `before` and `now` (6,) are the position and velocity at the start and at the end of the step.
    """
    u = 1.0 + since / step
    for i in range(3):
        p, q, a, b = before[i], now[i], step * before[3 + i], step * now[3 + i]
        k2, k3 = 3.0 * (q - p) - 2.0 * a - b, 2.0 * (p - q) + a + b
        out[i] = p + u * (a + u * (k2 + u * k3))
        out[3 + i] = (a + u * (2.0 * k2 + 3.0 * u * k3)) / step


@kernel
def meeting_time(
    origin: Any, extra: float, c: float, since_sent: float, before: Any, now: Any, step: float, at: Any
) -> float:
    """Return when a front meets a point, in seconds after the end of a step.

    Args:
        origin: Origin of the last leg, m, (3,).
        extra: Length of the path before the origin, m.
        c: Speed of sound, m/s.
        since_sent: Time from the transmission to the end of the step, s.
        before: Position and velocity of the point at the start of the step, (6,).
        now: The same at the end of the step.
        step: Length of the step, s.
        at: Receives the position and velocity of the point at the meeting, (6,).
    """
    x, y, z = now[0] - origin[0], now[1] - origin[1], now[2] - origin[2]
    since = flight_time(x, y, z, now[3], now[4], now[5], c * since_sent - extra, c)
    if since > MAX_EXTRAPOLATION or since < -step - MAX_EXTRAPOLATION:
        motion_at(now, now, step, 0.0, at)
        return since
    for _ in range(8):
        motion_at(before, now, step, since, at)
        x, y, z = at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]
        length = np.sqrt(x * x + y * y + z * z)
        moving = (x * at[3] + y * at[4] + z * at[5]) / length if length > 0.0 else 0.0
        change = (length + extra - c * (since_sent + since)) / (c - moving)
        since += change
        if abs(change) < 1e-15:
            break
    return since


@kernel
def add_in_flight(found: Any, number: int, sent: float, asked: int, keeper: int, in_flight: Any, count: int) -> int:
    """Append the clear paths of a sound to the sound in flight.

    Args:
        found: Paths of the sound, rows of `paths.PATH_COLUMNS`.
        number: Number of the signal.
        sent: Time of the transmission, s.
        asked: Index of the receiver that will reply; −1 if no receiver replies.
        keeper: Index of the receiver that only stores the sound; −1 for all receivers, −2 for none.
        in_flight: Sound in flight.
        count: Number of rows in use.

    Returns:
        The new number of rows in use.
    """
    for i in range(len(found)):
        path = found[i]
        if path[paths.STATUS] != paths.CLEAR:
            continue
        row = in_flight[count]
        row[SIGNAL], row[RECEIVER], row[PATH], row[SENT] = number, path[paths.RECEIVER], path[paths.PATH], sent
        row[ORIGIN], row[ORIGIN + 1], row[ORIGIN + 2] = (
            path[paths.ORIGIN],
            path[paths.ORIGIN + 1],
            path[paths.ORIGIN + 2],
        )
        row[EXTRA], row[SPEED], row[CLOSING] = path[paths.EXTRA], path[paths.SPEED], path[paths.CLOSING]
        row[GRAZING] = path[paths.GRAZING]
        row[NEEDS_REPLY] = 1.0 if path[paths.RECEIVER] == asked else 0.0
        row[STORE_ONLY] = 1.0 if keeper == -1 or path[paths.RECEIVER] == keeper else 0.0
        count += 1
    return count


@kernel
def predict_due(due: Any, in_flight: Any, first: int, count: int, time: float, step: float, now: Any) -> None:
    """Predict the ticks at which sound will have arrived, from the motions of the receivers at `time`."""
    for i in range(first, count):
        row = in_flight[i]
        p = now[int(row[RECEIVER])]
        gone = row[SPEED] * (time - row[SENT]) - row[EXTRA]
        x, y, z = p[0] - row[ORIGIN], p[1] - row[ORIGIN + 1], p[2] - row[ORIGIN + 2]
        due[i] = np.ceil((time + flight_time(x, y, z, p[3], p[4], p[5], gone, row[SPEED])) / step)


@kernel
def collect_arrivals(
    due: Any,
    in_flight: Any,
    count: int,
    tick: int,
    time: float,
    step: float,
    before: Any,
    now: Any,
    in_air: Any,
    simple: Any,
    sea: Any,
    out: Any,
    stored: Any,
) -> Any:
    """Remove the sound that has arrived from the sound in flight.

    Args:
        due: Expected tick of each sound in flight.
        in_flight: Sound in flight.
        count: Number of rows of `in_flight` in use.
        tick: Tick at the end of the step.
        time: Time at the end of the step, s.
        step: Length of the step, s.
        before: Positions and velocities of the receivers at the start of the step, (n, 6).
        now: The same at the end of the step.
        in_air: True for receivers that also receive above the water, (n,).
        simple: True for receivers that only store sound marked as STORE_ONLY, (n,).
        sea: Addresses of the water's function, its table and its state, (3,).
        out: Receives the arrivals with all columns.
        stored: Receives the arrivals that are only stored.

    Returns:
        The number of sounds still in flight, of rows of `out`, and of rows of `stored`.
    """
    found, kept = 0, 0
    at = np.empty(6)
    i = 0
    while i < count:
        if due[i] > tick + 1:  # it may arrive one step earlier than predicted
            i += 1
            continue
        row = in_flight[i]
        j = int(row[RECEIVER])
        o, p = (row[ORIGIN], row[ORIGIN + 1], row[ORIGIN + 2]), now[j]
        gone = row[SPEED] * (time - row[SENT]) - row[EXTRA]
        # cheap check for sound that is expected one step later
        since = flight_time(p[0] - o[0], p[1] - o[1], p[2] - o[2], p[3], p[4], p[5], gone, row[SPEED])
        if since < 0.1 * step:
            since = meeting_time(o, row[EXTRA], row[SPEED], time - row[SENT], before[j], now[j], step, at)
        if since > 0.0:
            due[i] = max(due[i], tick + 1)
            i += 1
            continue
        depth = surface_height(sea, time + since, at[0], at[1], at[2]) - at[2]
        if since >= -MAX_DELAY and (depth >= 0.0 or in_air[j]):
            is_only_stored = simple[j] and row[STORE_ONLY] > 0.0
            a = stored[kept] if is_only_stored else out[found]
            x, y, z = at[0] - o[0], at[1] - o[1], at[2] - o[2]
            length = np.sqrt(x * x + y * y + z * z)
            leaving = (x * at[3] + y * at[4] + z * at[5]) / (length * row[SPEED]) if length > 0.0 else 0.0
            a[A_SIGNAL], a[A_RECEIVER], a[A_PATH], a[A_TIME] = row[SIGNAL], j, row[PATH], time + since
            a[A_DOPPLER] = (1.0 - leaving) / (1.0 - row[CLOSING]) - 1.0
            if is_only_stored:
                kept += 1
            else:
                a[A_LENGTH], a[A_DEPTH], a[A_GRAZING] = length + row[EXTRA], depth, row[GRAZING]
                a[A_EXTRA], a[A_SPEED], a[A_SENT] = row[EXTRA], row[SPEED], row[SENT]
                a[A_ORIGIN], a[A_ORIGIN + 1], a[A_ORIGIN + 2] = o
                found += 1
        count -= 1
        due[i] = due[count]
        for k in range(IN_FLIGHT_COLUMNS):
            row[k] = in_flight[count, k]
    return count, found, kept


@kernel
def mark_due(due: Any, count: int, tick: int, marks: Any) -> None:
    """Mark the ticks after `tick` at which sound may arrive; marks[0] is the next tick.

    Three ticks are marked per sound. The step of the arrival is then always among them, so that the result does not
    depend on when the arrival was last predicted.
    """
    for i in range(count):
        index = max(int(due[i]), tick + 1) - tick - 1
        for k in range(max(index - 1, 0), min(index + 2, len(marks))):
            marks[k] = 1


@kernel
def next_reply_tick(due: Any, in_flight: Any, count: int) -> float:
    """Return the first tick at which sound may arrive that needs a reply; infinity if there is none."""
    first = np.inf
    for i in range(count):
        if in_flight[i, NEEDS_REPLY] > 0.0 and due[i] - 1.0 < first:
            first = due[i] - 1.0
    return first


@kernel
def sort_stored(rows: Any, starts: Any, out: Any) -> None:
    """Sort stored rows by receiver and then by time.

    The rows are almost sorted by time already, so an insertion sort is fast.

    Args:
        rows: Stored arrivals, (n, STORED_COLUMNS).
        starts: Receives the index of the first row of each receiver, (receivers + 1,).
        out: Receives the sorted rows.
    """
    starts[:] = 0
    for i in range(len(rows)):
        starts[int(rows[i, A_RECEIVER]) + 1] += 1
    for j in range(1, len(starts)):
        starts[j] += starts[j - 1]
    filled = starts[:-1].copy()
    for i in range(len(rows)):
        j = int(rows[i, A_RECEIVER])
        k = filled[j]
        while k > starts[j] and out[k - 1, A_TIME] > rows[i, A_TIME]:
            for n in range(STORED_COLUMNS):
                out[k, n] = out[k - 1, n]
            k -= 1
        for n in range(STORED_COLUMNS):
            out[k, n] = rows[i, n]
        filled[j] += 1
