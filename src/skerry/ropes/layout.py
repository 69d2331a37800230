"""Memory layout of ropes: offsets of their state in userdata, and of their constants in the table of the law."""

from __future__ import annotations

from typing import Final

# ------------------------------------------------------------------------------------------------ state
# Offsets in the state of an end of a rope.
BODY: Final = 0  # MuJoCo's body number, 0 for the world; NO_INDEX if the end is free
POINT: Final = 1  # 3: point on that body, in its axes, m
INERTIA_KNOWN: Final = 4  # 1 once the inverse inertia has been computed
INVERSE_INERTIA: Final = 5  # 36: inverse inertia at the body's origin for force and torque, world frame
VELOCITY: Final = 41  # 3: velocity of the point one step ago, m/s
FORCE: Final = 44  # 3: last force of the rope on the body, N
OTHER_ACCELERATION: Final = 47  # 3: acceleration of the point in the last step by everything except ropes, m/s²
END: Final = 50  # size
NO_INDEX: Final = -1.0  # instead of the number of a body, a rope or a winch

# Offsets in the state of a rope: a header, then its nodes from tail to head. The head is the end at a winch or a
# pulley.
COUNT: Final = 0  # number of nodes; 0 if the rope does not exist now
# Number of the rope that the head of this rope leads to: the rope whose hook it runs over, or the other side of its
# pulley; or NO_INDEX.
HOOK_ROPE: Final = 1
OTHER_SIDE: Final = 2  # number of the rope on the other side of that hook or pulley, or NO_INDEX
PAYOUT_SPEED: Final = 3  # speed at which rope is paid out at the head, m/s
PHASE: Final = 4  # phase of a rope with a hook: HANGING, PULLEY or CARRYING
PHASE_TIMES: Final = 5  # 3: start time of each phase, s
LOAD_ROPE: Final = 8  # number of the rope whose material the edges next to the tail have, while CARRYING
LOAD_EDGES: Final = 9  # number of these edges
BROKEN: Final = 10  # 1 if its head has broken off, 2 if its tail has, 3 if both have
HEAD: Final = 11  # END: state of the head
TAIL: Final = HEAD + END  # END: state of the tail
NODES: Final = TAIL + END  # first of the sections below
# Floats per node, in sections with room for the rope's capacity: position (3 each), velocity (3 each), rest length of
# the edge towards the head, and its tension.
PER_NODE: Final = 8

HANGING, PULLEY, CARRYING = 0.0, 1.0, 2.0

# ------------------------------------------------------------------------------------------------ constants
# Offsets in the constants of all ropes: 64-bit integers, then floats.
ROPES: Final = 0  # number of ropes
AXES: Final = 1  # number of joint axes of the model
BODIES: Final = 2  # address of the table of bodies, see `skerry.physics.points`
AXIS_LIST: Final = 3  # address of the list of axes
GROUND: Final = 4  # address of the ground's function, or 0
GROUND_TABLE: Final = 5  # address of the ground's table
SHAPES: Final = 6  # number of shapes that ropes may touch
SHAPE_TABLE: Final = 7  # address of their geom and body numbers
SHAPE_SIZES: Final = 8  # address of their radii, m, and largest contact stiffnesses, N/m
PROBE: Final = 9  # number of the geom that is moved to measure distances
HAS_WIND: Final = 10  # whether there is any wind
FLOW_NEEDED: Final = 11  # flags of the values that are queried from the water
STEP: Final = 12  # length of a step, s
GRAVITY: Final = 13  # m/s²
COMMON: Final = 14  # size

# Offsets in the constants of each rope.
CAPACITY: Final = 0  # largest number of nodes
STATE_OFFSET: Final = 1  # offset of its state in the state of all ropes
MASS: Final = 2  # mass per metre, kg/m
STIFFNESS: Final = 3  # axial stiffness EA, N
DAMPING: Final = 4  # axial damping, N s
BENDING: Final = 5  # bending stiffness EI, N m²
DIAMETER: Final = 6  # m
NORMAL_DRAG: Final = 7  # drag coefficient across the rope
TANGENT_DRAG: Final = 8  # drag coefficient along the rope
ADDED: Final = 9  # added-mass coefficient
RADIUS: Final = 10  # radius for contacts, m
FRICTION: Final = 11  # friction coefficient
SEGMENT: Final = 12  # nominal length of an edge, m
MIN_LENGTH: Final = 13  # smallest length of the rope, m
WINCH: Final = 14  # index in userdata of the winch's state, or NO_INDEX
OWNER: Final = 15  # number of the robot whose propeller wash does not act on the rope; negative for none
END_MASS: Final = 16  # mass of the buoy or hook at its tail, kg
END_RADIUS: Final = 17  # radius of the buoy or hook, m
END_VOLUME: Final = 18  # volume of the buoy, m³
END_DRAG: Final = 19  # drag coefficient times area of the buoy or hook, m²
HOOK: Final = 20  # distance within which the hook at its tail catches ropes, m; 0 without a hook
SPARE: Final = 21  # number of the spare rope for the part beyond a hook
CATCHABLE: Final = 22  # 1 if hooks may catch the rope
SHEAVE_MASS: Final = 23  # inertia over radius² of the pulley, kg
SHEAVE_DRAG: Final = 24  # drag of the pulley, N s/m
MAX_FORCE: Final = 25  # tension at which it breaks or slips, N; infinite if it never does
SLIPS: Final = 26  # 1 if it slips on its winch at that tension, 0 if it breaks
MAX_LENGTH: Final = 27  # largest length of a rope that slips, without a caught rope, m
ROPE: Final = 28  # size
