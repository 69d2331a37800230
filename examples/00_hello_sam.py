"""First steps with Skerry: SAM dives, surfaces and reports its position."""

import skerry

with skerry.load("sam_in_the_bay", seed=1) as world:
    sam = world.robots["sam"]

    # Fill the buoyancy tank, shift the batteries forward and swim. A command is held until the next one.
    sam.actuators["vbs"].command(percent=60)
    sam.actuators["lcg"].command(percent=62)
    sam.actuators["thruster1"].command(rpm=800)
    sam.actuators["thruster2"].command(rpm=800)
    for _ in range(4):
        world.advance(10.0)  # seconds of simulated time, as fast as possible
        depth = sam.sensors["depth300"].reading.depth
        east, north, _ = sam.pose.position
        print(f"{world.time:5.0f} s  {east:7.2f} m east  {north:7.2f} m north  depth {depth:5.2f} m")

    # Empty the tank, stop and surface, until the GPS antenna is above the water.
    sam.actuators["vbs"].command(percent=0)
    sam.actuators["lcg"].command(percent=50)
    sam.actuators["thruster1"].command(rpm=0)
    sam.actuators["thruster2"].command(rpm=0)
    world.advance(240.0)
    while (fix := sam.sensors["gps"].reading) is None and world.time < 600:
        world.advance(0.1)  # waves sometimes cover the antenna
    position = f"{fix.latitude_deg:.6f}° N, {fix.longitude_deg:.6f}° E" if fix else "an unknown position: no GPS fix"
    print(f"{world.time:5.0f} s  surfaced at {position}")
