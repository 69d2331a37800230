"""Where everything about ropes is in memory: their state in userdata, their constants in the table of the law."""

from __future__ import annotations

from typing import Final

# ------------------------------------------------------------------------------------------------ state
# An end of a rope that is tied to a body.
BODY: Final = 0  # MuJoCo's number, 0 for the world; NOTHING if the end is free
POINT: Final = 1  # 3: the place on that body, in its axes, m
KNOWN: Final = 4  # 1 once the inverse inertia has been measured
INVERSE: Final = 5  # 36: of the body's inertia, as a force and a torque at its origin feel it, in the world's axes
VELOCITY: Final = 41  # 3: of the point one step ago, m/s
FORCE: Final = 44  # 3: with which the rope pulled last, N
OUTSIDE: Final = 47  # 3: the acceleration that all but ropes gave the point in the last step, m/s²
END: Final = 50
NOTHING: Final = -1.0

# A rope: numbers, then its nodes from tail to head. The head is the end that a winch or a pulley feeds.
COUNT: Final = 0  # of nodes; 0 if there is no such rope now
JOIN: Final = 1  # the rope whose tail its head is tied to, as over a hook; or NOTHING
PARTNER: Final = 2  # the rope that goes on beyond that hook; or NOTHING
FEED: Final = 3  # speed at which the head is fed out, m/s
PHASE: Final = 4  # of a rope with a hook: HANGING, PULLEY, CARRYING
SINCE: Final = 5  # time at which each phase began, 3, s
HEAD: Final = 8
TAIL: Final = HEAD + END
NODES: Final = TAIL + END
# per node, in rows of the rope's capacity: position (3 numbers each), velocity (3 each), and of the edge towards the
# head its rest length and its tension
PER_NODE: Final = 8

HANGING, PULLEY, CARRYING = 0.0, 1.0, 2.0

# ------------------------------------------------------------------------------------------------ constants
# Of all ropes: words first, then numbers.
ROPES: Final = 0
AXES: Final = 1  # of all joints of the model
BODIES: Final = 2  # address of the table of bodies: root, number of axes above, the place of the first in the list
AXIS_LIST: Final = 3  # address of the list of axes
GROUND: Final = 4  # address of the ground's function, or 0
GROUND_TABLE: Final = 5
SHAPES: Final = 6  # number of shapes that ropes may touch
SHAPE_TABLE: Final = 7  # address of their numbers: geom, body
SHAPE_SIZES: Final = 8  # address of their radii and the stiffest contact they bear
PROBE: Final = 9  # the geom that is moved about to measure distances
WINDY: Final = 10  # whether there is any wind
NEED: Final = 11  # what is asked of the water
STEP: Final = 12  # s
GRAVITY: Final = 13  # m/s²
COMMON: Final = 14

# Of each rope.
CAPACITY: Final = 0  # nodes
PLACE: Final = 1  # of its state, from the beginning of the state of all ropes
MASS: Final = 2  # kg/m
STIFFNESS: Final = 3  # EA, N
DAMPING: Final = 4  # N s
BENDING: Final = 5  # EI, N m²
DIAMETER: Final = 6  # m
NORMAL_DRAG: Final = 7  # coefficient
TANGENT_DRAG: Final = 8  # coefficient
ADDED: Final = 9  # coefficient of added mass
RADIUS: Final = 10  # within which it touches, m
FRICTION: Final = 11
SEGMENT: Final = 12  # usual length of an edge, m
LEAST: Final = 13  # length, m
WINCH: Final = 14  # place in userdata of the winch that feeds it, or NOTHING
OWNER: Final = 15  # the robot whose propellers do not blow at it; a negative number if none
END_MASS: Final = 16  # of the buoy or hook at its tail, kg
END_RADIUS: Final = 17  # m
END_VOLUME: Final = 18  # m³
END_DRAG: Final = 19  # coefficient times area, m²
HOOK: Final = 20  # distance within which the tail hooks other ropes, m; 0 if it is no hook
SPARE: Final = 21  # of a rope that hooks may catch: the rope that takes the part of it beyond the hook
CATCHABLE: Final = 22  # 1 if hooks may catch it
SHEAVE_MASS: Final = 23  # of a hook, inertia over radius², kg
SHEAVE_DRAG: Final = 24  # of a hook, N s/m
ROPE: Final = 25
