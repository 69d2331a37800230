"""SAM finds out where it is by the sound of four beacons, and talks to a fifth."""

import numpy as np

import skerry

PLACES = {"north": (0, 80, -4), "east": (90, 0, -9), "south": (10, -85, -3), "west": (-80, 5, -12)}


def anchored(position: tuple[float, float, float], **part: object) -> dict[str, object]:
    """A vehicle that is held in place and carries one acoustic part."""
    parts = {"beacon": {"link": "base_link", "max_range": 500, **part}}
    return {"vehicle": "torpedo", "anchored": True, "pose": {"position": position}, "overrides": {"acoustics": parts}}


robots = {
    name: anchored(place, kind="pinger", frequency=1, delay=0.2 * k) for k, (name, place) in enumerate(PLACES.items())
}
robots["station"] = anchored((30, 40, -10), kind="usbl", range_noise=0.1, bearing_noise_deg=1)

with skerry.load("sam_in_the_bay", seed=1, overrides={"robots": robots}) as world:
    sam, station = world.robots["sam"], world.robots["station"].acoustics["beacon"]
    modem = sam.acoustics["modem"]
    world.advance(1.0)

    # Every ping tells when it was sent; with clocks that agree, its travel time is a range.
    ranges = {}
    while (packet := modem.read()) is not None:
        print(f"{packet.data:12s} by {packet.path:8s} after {1e3 * packet.travel_time:6.2f} ms")
        if packet.path == "direct":
            ranges[packet.source.partition("/")[0]] = 1500.0 * packet.travel_time

    # Least squares, by Gauss and Newton; the depth is known from the pressure. SAM drifts while the four take turns.
    beacons = np.array([PLACES[name] for name in ranges], float)
    guess = np.array([0.0, 0.0, -sam.sensors["depth300"].reading.depth])
    for _ in range(10):
        away = guess - beacons
        lengths = np.linalg.norm(away, axis=1)
        guess[:2] += np.linalg.lstsq(away[:, :2] / lengths[:, None], [*ranges.values()] - lengths, rcond=None)[0]
    print(f"SAM believes to be at {guess.round(2)}, and is at {sam.pose.position.round(2)}")

    # Two-way: the station asks, SAM answers, and the station knows range and direction.
    station.ping("sam/modem")
    modem.write("SAM is well", to="station/beacon")
    world.advance(1.0)
    while (packet := station.read()) is not None:
        if packet.to is not None:  # the beacons ping for everybody
            print(f"the station reads {packet.data!r} by {packet.path}")
    fix = station.read_fix()
    if fix is not None:
        side = "port" if fix.bearing > 0 else "starboard"
        print(f"the station finds SAM {fix.range:.1f} m away, {abs(np.degrees(fix.bearing)):.0f}° to {side} of its bow")
