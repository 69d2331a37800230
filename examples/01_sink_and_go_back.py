"""An AUV takes in ballast and sinks; then a snapshot is restored."""

import skerry

with skerry.load("torpedo_in_still_water", seed=1) as world:
    auv = world.robots["torpedo"]
    tank = auv.forces["ballast"]
    print(f"the tank holds {tank.mass:.3f} kg; the AUV floats at a depth of {-auv.pose.position[2]:.2f} m")

    before = world.snapshot()
    tank.set_target(0.5)
    for _ in range(5):
        world.advance(10.0)
        reading = auv.sensors["odometry"].reading
        depth, sinking = -reading.pose.position[2], -reading.twist.linear[2]
        print(f"{reading.time:5.1f} s  tank {tank.mass:.3f} kg  depth {depth:6.2f} m  sinking at {sinking:.2f} m/s")

    world.restore(before)
    print(f"back at {world.time:.1f} s, with {tank.mass:.3f} kg in the tank and at {-auv.pose.position[2]:.2f} m")
