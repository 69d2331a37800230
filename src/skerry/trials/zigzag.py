"""Zig-zag: helm to one side until the heading has changed by an angle, then to the other side, repeatedly."""

from __future__ import annotations

from typing import Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.formats.chart import Chart
from skerry.trials.criteria import of_initial_turning, of_zigzag
from skerry.trials.result import Result
from skerry.trials.ship import MAX_DURATION, Ship

REVERSALS: Final = 5
USUAL_DEG: Final = 10.0


def zigzag(ship: Ship, helm_deg: float | None = None, angle_deg: float | None = None) -> Result:
    """Run a zig-zag of helm and heading angle, 10°/10° by default; the helm is limited to hard over."""
    helm = min(USUAL_DEG, ship.config.hard_over_deg) if helm_deg is None else abs(helm_deg)
    angle = helm if angle_deg is None else abs(angle_deg)
    if angle == 0.0 or helm == 0.0:
        raise SkerryError("zig-zag: helm and angle must be greater than 0°")
    speed = ship.approach()
    ship.begin_log()
    executes = [0]
    sign = 1.0
    for _ in range(REVERSALS):
        ship.steer(sign * helm)
        while sign * ship.turned() < angle:
            ship.sail()
            if ship.sailed > MAX_DURATION or abs(ship.turned()) > 170.0:
                raise SkerryError(f"{ship.vehicle} does not reach {angle:g}° of heading with a helm of {helm:g}°")
        executes.append(round(ship.sailed / ship.interval))
        sign = -sign
    ship.steer(sign * helm)
    while sign * ship.turned() < 0.0 and ship.sailed < MAX_DURATION:
        ship.sail()
    leg = ship.leg()
    spans = list(zip(executes[1:], [*executes[2:], len(leg.time)], strict=True))
    overshoots = [float(np.abs(leg.turned_deg[first:last]).max()) - angle for first, last in spans]
    travelled = leg.at_turn(angle, leg.travelled)
    figures = {
        "helm_deg": helm,
        "angle_deg": angle,
        "approach_speed_m_s": speed,
        **{f"overshoot_{number}_deg": overshoot for number, overshoot in enumerate(overshoots, 1)},
        "initial_turning_time_s": leg.at_turn(angle, leg.time),
        "initial_turning_track_m": travelled,
        "largest_turn_rate_deg_s": float(np.abs(leg.turn_rate_deg).max()),
        "period_s": float(leg.time[executes[3]] - leg.time[executes[1]]),
    }
    criteria = []
    if helm == angle:
        criteria += of_zigzag(angle, overshoots, ship.config.length, speed)
    if helm == angle == USUAL_DEG:
        criteria.append(of_initial_turning(travelled, ship.config.length))
    headings = Chart(f"Zig-zag {helm:g}°/{angle:g}°", "time, s", "°")
    headings.line(leg.time, leg.turned_deg, "heading")
    headings.line(leg.time, leg.helm_deg, "helm")
    track = Chart("Track", "ahead, m", "to starboard, m")
    track.line(leg.ahead, leg.starboard)
    return Result("zigzag", ship.vehicle, ship.config.length, figures, criteria, [headings, track])
