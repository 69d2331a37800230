"""Stopping trial: full astern from steady speed ahead, until the vehicle stops."""

from __future__ import annotations

import numpy as np

from skerry.core.errors import SkerryError
from skerry.formats.chart import Chart
from skerry.trials.criteria import of_stopping
from skerry.trials.result import Result
from skerry.trials.ship import MAX_DURATION, Ship


def stopping(ship: Ship) -> Result:
    """Run the trial: track reach along the path, head reach along the original course, and lateral deviation."""
    speed = ship.approach()
    ship.begin_log()
    ship.go_astern()
    ship.sail()
    while ship.surge > 0.0:
        ship.sail()
        if ship.sailed > MAX_DURATION:
            raise SkerryError(
                f"{ship.vehicle} still moves ahead at {ship.surge:.3g} m/s {MAX_DURATION:g} s after `astern`: "
                f"{dict(ship.config.astern)}"
            )
    leg = ship.leg()
    # between the last sample with forward speed and the first with astern speed
    share = leg.surge[-2] / (leg.surge[-2] - leg.surge[-1])
    stopped = {
        name: float(series[-2] + share * (series[-1] - series[-2]))
        for name, series in (
            ("track_reach_m", leg.travelled),
            ("head_reach_m", leg.ahead),
            ("lateral_deviation_m", leg.starboard),
            ("time_s", leg.time),
            ("change_of_heading_deg", leg.turned_deg),
        )
    }
    figures = {"approach_speed_m_s": speed, **stopped}
    speeds = Chart("Stopping", "track, m", "speed ahead, m/s")
    speeds.line(leg.travelled, leg.surge)
    track = Chart("Track", "to starboard, m", "ahead, m", equal=True)
    track.line(leg.starboard, leg.ahead)
    times = Chart("Track over time", "time, s", "m")
    times.line(leg.time, leg.travelled, "track")
    times.line(leg.time, leg.ahead, "along the course")
    times.line(leg.time, np.abs(leg.starboard), "aside")
    criteria = of_stopping(stopped["track_reach_m"], ship.config.length)
    return Result("stopping", ship.vehicle, ship.config.length, figures, criteria, [speeds, track, times])
