"""Turning circle: hard over from steady speed ahead, to both sides, for a turn and a half."""

from __future__ import annotations

from math import radians
from typing import Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.formats.chart import Chart
from skerry.trials.criteria import of_turning
from skerry.trials.result import Result
from skerry.trials.ship import MAX_DURATION, Leg, Ship

TURN: Final = 540.0  # °; the first half turn is the transient
STEADY_PART: Final = 360.0  # °; the last part of the turn, taken as steady


def turning_circle(ship: Ship, helm_deg: float | None = None) -> Result:
    """Run turns to starboard and to port with a helm angle, hard over by default."""
    helm = ship.config.hard_over_deg if helm_deg is None else abs(helm_deg)
    speed = ship.approach()
    start = ship.world.snapshot()
    figures: dict[str, float] = {"helm_deg": helm, "approach_speed_m_s": speed}
    track = Chart(f"Turning circle, helm {helm:g}°", "to starboard, m", "ahead, m", equal=True)
    rates = Chart("Rate of turn", "time, s", "°/s")
    speeds = Chart("Speed", "time, s", "m/s")
    criteria = []
    for side, sign in (("starboard", 1.0), ("port", -1.0)):
        ship.world.restore(start)
        leg = _turn(ship, sign * helm)
        found = turning_figures(leg)
        figures |= {f"{side}_{name}": value for name, value in found.items()}
        if helm == ship.config.hard_over_deg:
            of_side = of_turning(found["advance_m"], found["tactical_diameter_m"], ship.config.length)
            criteria += [type(each)(f"{side}: {each.name}", each.value, each.limit) for each in of_side]
        track.line(leg.starboard, leg.ahead, side)
        rates.line(leg.time, leg.turn_rate_deg, side)
        speeds.line(leg.time, leg.speed, side)
    return Result("turning_circle", ship.vehicle, ship.config.length, figures, criteria, [track, rates, speeds])


def _turn(ship: Ship, helm_deg: float) -> Leg:
    ship.begin_log()
    ship.steer(helm_deg)
    turned, before = 0.0, 0.0
    while abs(turned) < TURN:
        ship.sail()
        now = ship.turned()
        turned += (now - before + 180.0) % 360.0 - 180.0
        before = now
        if ship.sailed > MAX_DURATION:
            raise SkerryError(f"{ship.vehicle} turned by only {turned:.0f}° of {TURN:g}° in {MAX_DURATION:g} s")
    return ship.leg()


def turning_figures(leg: Leg) -> dict[str, float]:
    """Return advance, transfer and tactical diameter (MSC.137(76), 4.2.1) and the steady turn."""
    to_side = np.abs(leg.starboard)
    steady = np.abs(leg.turned_deg) >= STEADY_PART
    speed = float(leg.speed[steady].mean())
    rate = float(np.abs(leg.turn_rate_deg[steady]).mean())
    beta = float(np.arccos(np.clip(leg.surge[steady] / leg.speed[steady], -1.0, 1.0)).mean())
    return {
        "advance_m": leg.at_turn(90.0, leg.ahead),
        "transfer_m": leg.at_turn(90.0, to_side),
        "tactical_diameter_m": leg.at_turn(180.0, to_side),
        "time_to_90_deg_s": leg.at_turn(90.0, leg.time),
        "time_to_180_deg_s": leg.at_turn(180.0, leg.time),
        "steady_diameter_m": 2.0 * speed / radians(rate),
        "steady_turn_rate_deg_s": rate,
        "steady_speed_m_s": speed,
        "steady_speed_ratio": speed / float(leg.speed[0]),
        "drift_angle_deg": float(np.degrees(beta)),
    }
