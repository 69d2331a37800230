"""Native step of all ropes of a world: hooks, winches, implicit step of each group of ropes, forces on bodies."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.actuators.winch import EXTRA, LENGTH, RATE, WINCH_STATE
from skerry.core.kernels import floats, kernel, load_word, words
from skerry.parts.law import (
    FIELDS,
    HEADER,
    LAYOUT,
    STATE_START,
    USERDATA_OFFSET,
    constants_of,
    law,
    time_of,
)
from skerry.physics.mujoco import LAYOUT_SIZE, QFRC_APPLIED
from skerry.physics.points import free, mark, scratch, update_kinematics
from skerry.ropes import contacts, loads
from skerry.ropes.contacts import add_friction, find_body_contacts, find_ground_contacts, push_bodies
from skerry.ropes.ends import (
    DISTURBANCE,
    END_MOTION,
    END_POSITION,
    END_VELOCITY,
    INERTIA,
    PRESCRIBED,
    end_of,
    measure_ends,
    pull_end,
    read_end,
    update_ends,
)
from skerry.ropes.group import (
    BEND,
    CONTACTS,
    FIXED,
    GOAL,
    LIMIT,
    MASS,
    NODE_MASS,
    PARENT,
    PLANES,
    REST,
    START,
    STIFF,
    TOUCH,
    TOUCHES,
    TOUCHING,
    WIDTH,
    X,
    floats_at,
    integers_at,
)
from skerry.ropes.hooks import ring_radius, update_hooks
from skerry.ropes.layout import (
    AXES,
    BENDING,
    BODY,
    BROKEN,
    CARRYING,
    COMMON,
    COUNT,
    DAMPING,
    HAS_WIND,
    HEAD,
    HOOK_ROPE,
    LOAD_EDGES,
    LOAD_ROPE,
    MAX_FORCE,
    MAX_LENGTH,
    MIN_LENGTH,
    NO_INDEX,
    OTHER_SIDE,
    PAYOUT_SPEED,
    PHASE,
    ROPES,
    SHEAVE_DRAG,
    SHEAVE_MASS,
    SLIPS,
    STEP,
    STIFFNESS,
    TAIL,
    WINCH,
)
from skerry.ropes.loads import load_node, sample_environment
from skerry.ropes.matrices import invert, times
from skerry.ropes.payout import constants_of_rope, length_of, nodes_of, state_of_rope, update_lengths
from skerry.ropes.solver import minimise_energy

AROUND: Final = loads.PER_NODE + contacts.PER_NODE  # floats of scratch memory per node for the environment
# Floats that the first side of a rope over a hook or pulley passes to the second: inertia and momentum of its half edge
# at the contact point, then its tension there.
PASSED: Final = 12
MAX_ROUNDS: Final = 40  # largest number of solves of a step with a rope over a hook or pulley


@kernel
def _limit_tension(userdata: int, own: Any, row: Any, head_tied: bool, tail_tied: bool, count: int, limit: Any) -> None:
    """Limit the tension of a rope where it may slip or break: at a winch, or at its tied ends."""
    if own[SLIPS] == 0.0:
        if head_tied:
            limit[count - 2] = own[MAX_FORCE]
        if tail_tied:
            limit[0] = own[MAX_FORCE]
    elif head_tied:
        winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
        if winch[LENGTH] < own[MAX_LENGTH] + winch[EXTRA]:
            limit[count - 2] = own[MAX_FORCE]


@kernel
def _slip(userdata: int, own: Any, rest: Any, k: int, much: float, h: float) -> None:
    """Let a rope run out of its winch by the length `much` on edge k, or until the drum is empty."""
    winch = floats(userdata + 8 * int(own[WINCH]), WINCH_STATE)
    much = min(much, own[MAX_LENGTH] + winch[EXTRA] - winch[LENGTH])
    rest[k] += much
    winch[LENGTH] += much
    winch[RATE] += much / h


@kernel
def _prepare(
    model: int,
    data: int,
    table: int,
    layout: Any,
    constants: Any,
    numbers: Any,
    userdata: int,
    state: int,
    rope: int,
    memory: int,
    total: int,
    first: int,
    join: int,
    hook: int,
    passed: Any,
    around: int,
    head_now: Any,
    tail_now: Any,
) -> None:
    """Write a rope's nodes into the memory of its group, from node `first` on.

    `join` is the node that replaces its head, for the first side of a rope over a hook or pulley, or −1. `hook` is the
    rope whose hook its head lies in, for the second side, or −1. `head_now` and `tail_now` get the data of its tied
    ends.
    """
    own = constants_of_rope(constants, rope)
    row = state_of_rope(state, own)
    x, v, rest, tension = nodes_of(row, own)
    count = int(row[COUNT])
    h = constants[STEP]
    head, tail = end_of(state, constants, rope, HEAD), end_of(state, constants, rope, TAIL)
    head_tied, tail_tied = join < 0 and head[BODY] >= 0.0, tail[BODY] >= 0.0
    if head_tied:
        read_end(data, layout, constants, numbers, state, rope, HEAD, head_now)
        for i in range(3):
            x[3 * (count - 1) + i] = head_now[END_POSITION + i]
    if tail_tied:
        read_end(data, layout, constants, numbers, state, rope, TAIL, tail_now)
        for i in range(3):
            x[i] = tail_now[END_POSITION + i]
    header = words(table, HEADER)
    windy = numbers[HAS_WIND] != 0
    sample_environment(data, table, userdata, numbers, own, count, x, around)
    mine = count if join < 0 else count - 1
    planes = floats_at(memory, CONTACTS, total, first, PLANES, mine)
    touch = floats_at(memory, TOUCHES, total, first, 2 * TOUCH, mine)
    touching = integers_at(memory, TOUCHING, total, first, mine)
    heavy = floats_at(memory, NODE_MASS, total, first, 1, mine)
    goal, begin = floats_at(memory, GOAL, total, first, 3, mine), floats_at(memory, START, total, first, 3, mine)
    here = floats_at(memory, X, total, first, 3, mine)
    parent, fixed = integers_at(memory, PARENT, total, first, mine), integers_at(memory, FIXED, total, first, mine)
    stiff, length = floats_at(memory, STIFF, total, first, 1, mine), floats_at(memory, REST, total, first, 1, mine)
    bend, limit = floats_at(memory, BEND, total, first, 1, mine), floats_at(memory, LIMIT, total, first, 1, mine)
    masses = floats_at(memory, MASS, total, first, 6, mine)
    inverse = floats(scratch(data, 9), 9)
    push = inverse[6:9]
    has_end = row[PHASE] != CARRYING  # the hook no longer exists while CARRYING
    has_fields = header[FIELDS] != 0
    # While CARRYING, the edges next to the tail are those of the caught rope.
    load_edges, load = int(row[LOAD_EDGES]), constants_of_rope(constants, int(row[LOAD_ROPE]))
    for k in range(mine):
        m = masses[6 * k : 6 * k + 6]
        stuff, under = load if k < load_edges else own, load if k <= load_edges and load_edges > 0 else own
        heavy[k] = load_node(k, count, has_end, has_fields, windy, constants, stuff, under, x, v, rest, around, m, push)
        for i in range(3):
            goal[3 * k + i] = push[i]  # holds the momentum until the loop below
    if join >= 0:
        m = passed[0:6]
        load_node(count - 1, count, has_end, has_fields, windy, constants, own, own, x, v, rest, around, m, push)
        for i in range(3):
            passed[6 + i] = push[i]
    elif row[OTHER_SIDE] >= 0.0:
        m = masses[6 * (count - 1) : 6 * count]
        for i in range(6):
            m[i] += passed[i]
        for i in range(3):
            goal[3 * (count - 1) + i] += passed[6 + i]
    ground = around + 8 * loads.PER_NODE * count
    find_ground_contacts(numbers, constants, own, mine, x, v, tension, heavy, ground, planes, touching, touch)
    line = floats(scratch(data, 9), 9)
    find_body_contacts(
        model,
        data,
        layout,
        numbers,
        constants,
        own,
        head,
        tail,
        mine,
        x,
        v,
        tension,
        heavy,
        line,
        planes,
        touching,
        touch,
    )
    for k in range(mine):
        m = masses[6 * k : 6 * k + 6]
        for i in range(3):
            push[i] = goal[3 * k + i]
        add_friction(constants, own, k, x, v, planes, touching, touch, m, push)
        led = False
        for side in range(2):
            now = tail_now if side == 0 else head_now
            if (side == 0 and tail_tied and k == 0) or (side == 1 and head_tied and k == count - 1):
                if now[PRESCRIBED] != 0.0:
                    led = True
                    bx, by, bz = times(m, now[END_VELOCITY], now[END_VELOCITY + 1], now[END_VELOCITY + 2])
                    now[DISTURBANCE], now[DISTURBANCE + 1], now[DISTURBANCE + 2] = (
                        push[0] - bx,
                        push[1] - by,
                        push[2] - bz,
                    )
                    for i in range(3):
                        goal[3 * k + i] = x[3 * k + i] + h * now[END_VELOCITY + i]
                else:
                    body = now[INERTIA : INERTIA + 6]
                    ax, ay, az = (
                        now[END_VELOCITY] + h * now[DISTURBANCE],
                        now[END_VELOCITY + 1] + h * now[DISTURBANCE + 1],
                        now[END_VELOCITY + 2] + h * now[DISTURBANCE + 2],
                    )
                    bx, by, bz = times(body, ax, ay, az)
                    push[0], push[1], push[2] = push[0] + bx, push[1] + by, push[2] + bz
                    for i in range(6):
                        m[i] += body[i]
        fixed[k] = 1 if led else 0
        if not led:
            invert(m, inverse)
            ux, uy, uz = times(inverse, push[0], push[1], push[2])
            goal[3 * k], goal[3 * k + 1], goal[3 * k + 2] = (
                x[3 * k] + h * ux,
                x[3 * k + 1] + h * uy,
                x[3 * k + 2] + h * uz,
            )
        for i in range(6):
            m[i] /= h * h
        for i in range(3):
            begin[3 * k + i] = x[3 * k + i]
            here[3 * k + i] = goal[3 * k + i] if led else x[3 * k + i] + h * v[3 * k + i]
        stiff[k] = length[k] = bend[k] = 0.0
        limit[k] = np.inf
        parent[k] = -1
        if k < count - 1:
            parent[k] = first + k + 1 if join < 0 or k < count - 2 else join
            dx, dy, dz = x[3 * k + 3] - x[3 * k], x[3 * k + 4] - x[3 * k + 1], x[3 * k + 5] - x[3 * k + 2]
            now_long = np.sqrt(dx * dx + dy * dy + dz * dz)
            if k == count - 2:
                now_long += h * row[PAYOUT_SPEED]  # paid-out rope is not a stretch
            stuff = load if k < load_edges else own
            elastic, damped = stuff[STIFFNESS] / rest[k], stuff[DAMPING] / rest[k] / h
            stiff[k] = elastic + damped
            # Spring and damper against the previous length act together as one spring with a rest length in between.
            length[k] = max(rest[k], (elastic * rest[k] + damped * now_long) / stiff[k])
            if k > 0 and own[BENDING] > 0.0:
                even = 0.5 * (rest[k - 1] + rest[k])
                bend[k] = own[BENDING] / (even * even * even)
        elif hook >= 0:
            # The contact point lies in the ring of the hook; the hook's rope follows in the group.
            parent[k] = first + count
            other = constants_of_rope(constants, hook)
            length[k] = ring_radius(other, own)
            stiff[k] = other[STIFFNESS] / length[k]
    if own[MAX_FORCE] < np.inf:
        _limit_tension(userdata, own, row, head_tied, tail_tied, count, limit)


@kernel
def _finish(
    data: int,
    layout: Any,
    constants: Any,
    numbers: Any,
    userdata: int,
    state: int,
    rope: int,
    memory: int,
    total: int,
    first: int,
    join: int,
    passed: Any,
    head_now: Any,
    tail_now: Any,
) -> None:
    """Copy the solved nodes back to a rope's state, and apply its forces to the bodies."""
    own = constants_of_rope(constants, rope)
    row = state_of_rope(state, own)
    x, v, rest, tension = nodes_of(row, own)
    count = int(row[COUNT])
    h = constants[STEP]
    mine = count if join < 0 else count - 1
    here, begin = floats_at(memory, X, total, first, 3, mine), floats_at(memory, START, total, first, 3, mine)
    planes = floats_at(memory, CONTACTS, total, first, PLANES, mine)
    touch = floats_at(memory, TOUCHES, total, first, 2 * TOUCH, mine)
    touching = integers_at(memory, TOUCHING, total, first, mine)
    stiff, length = floats_at(memory, STIFF, total, first, 1, mine), floats_at(memory, REST, total, first, 1, mine)
    limit = floats_at(memory, LIMIT, total, first, 1, mine)
    for k in range(3 * mine):
        x[k] = here[k]
        v[k] = (here[k] - begin[k]) / h
    if join >= 0:
        hook, was = floats_at(memory, X, total, join, 3, 1), floats_at(memory, START, total, join, 3, 1)
        for i in range(3):
            x[3 * (count - 1) + i] = hook[i]
            v[3 * (count - 1) + i] = (hook[i] - was[i]) / h
    for k in range(mine):
        push_bodies(data, layout, numbers, k, x, v, planes, touching, touch)
    for k in range(count - 1):
        dx, dy, dz = x[3 * k + 3] - x[3 * k], x[3 * k + 4] - x[3 * k + 1], x[3 * k + 5] - x[3 * k + 2]
        stretch = np.sqrt(dx * dx + dy * dy + dz * dz) - length[k]
        tension[k] = stiff[k] * max(stretch, 0.0)
        if tension[k] > limit[k]:
            tension[k] = limit[k]
            if own[SLIPS] != 0.0:
                _slip(userdata, own, rest, k, stretch - limit[k] / stiff[k], h)
    if join >= 0:
        dx, dy, dz = (
            x[3 * count - 6] - x[3 * count - 3],
            x[3 * count - 5] - x[3 * count - 2],
            x[3 * count - 4] - x[3 * count - 1],
        )
        size = np.sqrt(dx * dx + dy * dy + dz * dz)
        pull = tension[count - 2] / size if size > 1e-12 else 0.0
        passed[9], passed[10], passed[11] = pull * dx, pull * dy, pull * dz
    for side in range(2):
        end = end_of(state, constants, rope, TAIL if side == 0 else HEAD)
        if end[BODY] < 0.0 or (side == 1 and join >= 0):
            continue
        k, other = (0, 1) if side == 0 else (count - 1, count - 2)
        dx, dy, dz = x[3 * other] - x[3 * k], x[3 * other + 1] - x[3 * k + 1], x[3 * other + 2] - x[3 * k + 2]
        size = np.sqrt(dx * dx + dy * dy + dz * dz)
        pull = tension[min(k, other)] / size if size > 1e-12 else 0.0
        now = tail_now if side == 0 else head_now
        vx, vy, vz = v[3 * k], v[3 * k + 1], v[3 * k + 2]
        tx, ty, tz = pull * dx, pull * dy, pull * dz
        if side == 1 and row[OTHER_SIDE] >= 0.0:
            tx, ty, tz = tx + passed[9], ty + passed[10], tz + passed[11]
        pull_end(data, layout, numbers, end, now, h, vx, vy, vz, tx, ty, tz)
        if own[SLIPS] == 0.0 and tension[min(k, other)] >= limit[min(k, other)] and row[BROKEN] == 0.0:
            end[BODY] = NO_INDEX
            row[BROKEN] = 2.0 if side == 0 else 1.0


@kernel
def _tension(memory: int, total: int, node: int) -> float:
    """Return the tension of the edge from a node to its parent, N."""
    p = integers_at(memory, PARENT, total, node, 1)[0]
    here, there = floats_at(memory, X, total, node, 3, 1), floats_at(memory, X, total, p, 3, 1)
    size = np.sqrt((there[0] - here[0]) ** 2 + (there[1] - here[1]) ** 2 + (there[2] - here[2]) ** 2)
    stretch = size - floats_at(memory, REST, total, node, 1, 1)[0]
    tension = floats_at(memory, STIFF, total, node, 1, 1)[0] * max(stretch, 0.0)
    return min(tension, floats_at(memory, LIMIT, total, node, 1, 1)[0])


@kernel
def _balance(constants: Any, state: int, memory: int, total: int, hook: int, pair: Any) -> None:
    """Solve the step of a group with a rope over a hook or pulley, together with the speed s of that rope.

    r(s) = m (s − s₀)/h + c s − (T₁ − T₂) increases with s. The secant method finds its root in a few solves; where it
    leaves the interval that contains the root, as where a side becomes slack, the interval is halved.
    """
    h = constants[STEP]
    own = constants_of_rope(constants, hook)
    one, other = constants_of_rope(constants, pair[0]), constants_of_rope(constants, pair[1])
    first, second = state_of_rope(state, one), state_of_rope(state, other)
    rest1, rest2 = nodes_of(first, one)[2], nodes_of(second, other)[2]
    n1, n2 = int(first[COUNT]), int(second[COUNT])
    length1, length2 = floats_at(memory, REST, total, pair[2], 1, 1), floats_at(memory, REST, total, pair[3], 1, 1)
    stiff1, stiff2 = floats_at(memory, STIFF, total, pair[2], 1, 1), floats_at(memory, STIFF, total, pair[3], 1, 1)
    begun = first[PAYOUT_SPEED]
    # No edge may vanish in a step, so s is limited to half of the shorter edge per step. No side gets shorter than its
    # least length.
    most = 0.5 * min(rest1[n1 - 2], rest2[n2 - 2]) / h
    low = begun - min(most, max(length_of(first, one) - one[MIN_LENGTH], 0.0) / h)
    high = begun + min(most, max(length_of(second, other) - other[MIN_LENGTH], 0.0) / h)
    s = begun
    slope = own[SHEAVE_MASS] / h + own[SHEAVE_DRAG] + h * (stiff1[0] + stiff2[0])
    before, error_before = s, 0.0
    for round_ in range(MAX_ROUNDS):
        minimise_energy(memory, total)
        t1, t2 = _tension(memory, total, pair[2]), _tension(memory, total, pair[3])
        error = own[SHEAVE_MASS] * (s - begun) / h + own[SHEAVE_DRAG] * s - (t1 - t2)
        if abs(error) < 1e-4 * (t1 + t2) + 1e-6:
            break
        if round_ > 0 and abs(s - before) > 1e-15:
            found = (error - error_before) / (s - before)
            if found > 0.0:
                slope = found
        before, error_before = s, error
        if error < 0.0:
            low = s
        else:
            high = s
        s -= error / slope
        if not low < s < high:
            s = 0.5 * (low + high)
        if s == before:
            break
        length1[0] += h * (s - before)
        length2[0] -= h * (s - before)
        rest1[n1 - 2] += h * (s - before)
        rest2[n2 - 2] -= h * (s - before)
    first[PAYOUT_SPEED], second[PAYOUT_SPEED] = s, -s


@law
def step_ropes(model: int, data: int, table: int) -> None:
    """Step all ropes; their forces on bodies act in the following step of the bodies."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    constants = constants_of(table)
    numbers = words(table + 8 * HEADER, COMMON)
    userdata = load_word(data + header[USERDATA_OFFSET])
    state = userdata + 8 * header[STATE_START]
    ropes = numbers[ROPES]
    update_kinematics(model, data)
    applied = floats(load_word(data + layout[QFRC_APPLIED]), numbers[AXES])
    for k in range(numbers[AXES]):
        applied[k] = 0.0
    update_hooks(constants, userdata, state, ropes, time_of(data, table))
    update_lengths(constants, numbers, userdata, state, ropes)
    update_ends(data, layout, constants, numbers, state, constants[STEP])
    for root in range(ropes):
        row = state_of_rope(state, constants_of_rope(constants, root))
        if row[COUNT] == 0.0 or row[HOOK_ROPE] >= 0.0:
            continue
        # Sides of a rope over this rope's hook, or the other side of its pulley, come first, so that their last edges
        # lead to a node with a higher number: the contact point, which is the head of the last side.
        total, longest, group = int(row[COUNT]), int(row[COUNT]), 1
        for rope in range(ropes):
            other = state_of_rope(state, constants_of_rope(constants, rope))
            if other[COUNT] > 0.0 and int(other[HOOK_ROPE]) == root:
                total += int(other[COUNT]) - (1 if other[OTHER_SIDE] > rope else 0)
                longest = max(longest, int(other[COUNT]))
                group += 1
        mark(data)
        memory = scratch(data, WIDTH * total)
        around = scratch(data, AROUND * longest)
        ends = scratch(data, 2 * END_MOTION * group)
        passed = floats(scratch(data, PASSED), PASSED)
        contact = total - 1 if group == 2 else total - int(row[COUNT]) - 1
        pair = words(scratch(data, 4), 4)  # both sides of a rope over a hook or pulley, and their nodes next to it
        pair[0] = pair[1] = -1
        for backwards in range(2):
            first, member = total - total, 0  # a literal 0 would compile the kernels a second time
            for rope in range(ropes + 1):
                chosen, join, hook = root, -1, -1
                if rope < ropes:
                    other = state_of_rope(state, constants_of_rope(constants, rope))
                    if other[COUNT] == 0.0 or int(other[HOOK_ROPE]) != root:
                        continue
                    chosen = rope
                    if other[OTHER_SIDE] > rope:
                        join = contact
                    else:
                        hook = root
                other = state_of_rope(state, constants_of_rope(constants, chosen))
                if other[OTHER_SIDE] >= 0.0:
                    side = 0 if other[OTHER_SIDE] > chosen else 1
                    pair[side], pair[2 + side] = chosen, first + int(other[COUNT]) - 2
                head_now = floats(ends + 16 * END_MOTION * member, END_MOTION)
                tail_now = floats(ends + 16 * END_MOTION * member + 8 * END_MOTION, END_MOTION)
                if backwards == 0:
                    _prepare(
                        model, data, table, layout, constants, numbers, userdata, state, chosen, memory, total, first,
                        join, hook, passed, around, head_now, tail_now,
                    )  # fmt: skip
                else:
                    _finish(
                        data, layout, constants, numbers, userdata, state, chosen, memory, total, first, join, passed,
                        head_now, tail_now,
                    )  # fmt: skip
                first += int(other[COUNT]) if join < 0 else int(other[COUNT]) - 1
                member += 1
            if backwards == 0:
                if pair[0] >= 0:
                    _balance(constants, state, memory, total, root, pair)
                else:
                    minimise_energy(memory, total)
        free(data)


@law
def measure_inertia(model: int, data: int, table: int) -> None:
    """Compute the inertia at the tied ends for the next step, after the mass matrix is factored."""
    header = words(table, HEADER)
    constants = constants_of(table)
    numbers = words(table + 8 * HEADER, COMMON)
    state = load_word(data + header[USERDATA_OFFSET]) + 8 * header[STATE_START]
    measure_ends(model, data, words(header[LAYOUT], LAYOUT_SIZE), constants, numbers, state)
