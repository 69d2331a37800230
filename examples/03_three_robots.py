"""Three robots in one bay: SAM goes to waypoints, a BlueROV2 holds its position in a current, a drone follows SAM."""

import numpy as np

import skerry

OVERRIDES = {
    "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.0, 0.2, 0.0]}}},
    "robots": {
        "bluerov2": {"vehicle": "bluerov2", "pose": {"position": [10, 10, -4]}},
        "drone": {"vehicle": "quadrotor", "pose": {"position": [0, 0, 6]}},
    },
}
WAYPOINTS = [(40, 0), (60, 60), (0, 60)]  # east and north, m

with skerry.load("sam_in_the_bay", seed=1, overrides=OVERRIDES) as world:
    sam, rov, drone = (world.robots[name] for name in ("sam", "bluerov2", "drone"))
    rov.controllers["autopilot"].hold(east=10, north=10, depth=4, heading_deg=0)
    drone.controllers["tracking"].follow("sam", offset=(0, 0, 8))
    autopilot = sam.controllers["autopilot"]
    for waypoint in WAYPOINTS:
        autopilot.goal(waypoint, depth=4, speed=1.2, tolerance=2)
        while not autopilot.reached and world.time < 300:
            world.advance(0.5)
        drift = np.linalg.norm(rov.pose.position - [10, 10, -4])
        above = np.linalg.norm((drone.pose.position - sam.pose.position)[:2])
        print(
            f"{world.time:6.1f} s  SAM is at {sam.pose.position.round(1)}, the ROV is {drift:.2f} m off its position, "
            f"the drone is {above:.2f} m off SAM; owner of SAM's actuators: {sam.control}"
        )
