"""SAM computes its position from the pings of four beacons, and sends a packet to a USBL station."""

import numpy as np

import skerry

BEACONS = {"north": (0, 80, -4), "east": (90, 0, -9), "south": (10, -85, -3), "west": (-80, 5, -12)}


def anchored(position: tuple[float, float, float], **part: object) -> dict[str, object]:
    """Return the settings of an anchored vehicle with one acoustic part."""
    parts = {"beacon": {"link": "base_link", "max_range": 500, **part}}
    return {"vehicle": "torpedo", "anchored": True, "pose": {"position": position}, "overrides": {"acoustics": parts}}


robots = {
    name: anchored(position, kind="pinger", frequency=1, delay=0.2 * k)
    for k, (name, position) in enumerate(BEACONS.items())
}
robots["station"] = anchored((30, 40, -10), kind="usbl", range_noise=0.1, bearing_noise_deg=1)

with skerry.load("sam_in_the_bay", seed=1, overrides={"robots": robots}) as world:
    sam, station = world.robots["sam"], world.robots["station"].acoustics["beacon"]
    modem = sam.acoustics["modem"]
    world.advance(1.0)

    # Every ping carries its transmission time; if the clocks agree, its travel time gives a range.
    ranges = {}
    while (packet := modem.read()) is not None:
        print(f"{packet.data:12s} by {packet.path:8s} after {1e3 * packet.travel_time:6.2f} ms")
        if packet.path == "direct":
            ranges[packet.source.partition("/")[0]] = 1500.0 * packet.travel_time

    # Least squares (Gauss-Newton); the depth is known from the pressure. SAM drifts between the four pings.
    positions = np.array([BEACONS[name] for name in ranges], float)
    guess = np.array([0.0, 0.0, -sam.sensors["depth300"].reading.depth])
    for _ in range(10):
        away = guess - positions
        lengths = np.linalg.norm(away, axis=1)
        guess[:2] += np.linalg.lstsq(away[:, :2] / lengths[:, None], [*ranges.values()] - lengths, rcond=None)[0]
    print(f"SAM: computed position {guess.round(2)}, true position {sam.pose.position.round(2)}")

    # Two-way range: the station sends a request, SAM replies, and the station measures range and direction.
    station.ping("sam/modem")
    modem.write("SAM is well", to="station/beacon")
    world.advance(1.0)
    while (packet := station.read()) is not None:
        if packet.to is not None:  # pings of the beacons are addressed to all
            print(f"the station received {packet.data!r} on the path {packet.path}")
    fix = station.read_fix()
    if fix is not None:
        side = "port" if fix.bearing > 0 else "starboard"
        print(f"the station finds SAM {fix.range:.1f} m away, {abs(np.degrees(fix.bearing)):.0f}° to {side} of its bow")
