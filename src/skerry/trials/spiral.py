"""The direct spiral of Dieudonné: the steady rate of turn at each helm, from one side to the other and back.

A vehicle that is stable on its course has one rate for each helm. One that is not has a loop about helm amidships,
where the rate depends on the side from which the helm came; its breadth is what MSC/Circ.1053 asks for.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skerry.formats.chart import Chart
from skerry.trials.result import Result
from skerry.trials.ship import Floats, Ship

HELMS: Final = 8  # to each side, beside amidships; closest together there, where a loop may be


def spiral(ship: Ship) -> Result:
    """From hard over to starboard to hard over to port and back; the rate is noted when it is steady."""
    speed = ship.approach()
    shares = np.arange(HELMS, -HELMS - 1, -1) / HELMS
    helms = ship.config.hard_over_deg * shares * np.abs(shares)
    there = [_steady_rate(ship, helm) for helm in helms]
    back = [there[-1]] + [_steady_rate(ship, helm) for helm in helms[-2::-1]]
    rates, returning = np.array(there), np.array(back[::-1])
    width = max(_no_turn(helms, returning) - _no_turn(helms, rates), 0.0)
    figures = {
        "approach_speed_m_s": speed,
        "loop_width_deg": width,
        "loop_height_deg_s": float(np.abs(rates - returning).max()),
        "turn_rate_amidships_deg_s": float(rates[HELMS]),
        "turn_rate_hard_to_starboard_deg_s": float(rates[0]),
        "turn_rate_hard_to_port_deg_s": float(rates[-1]),
    }
    if width < helms[HELMS - 1]:  # there is no slope in a loop
        rise, run = rates[HELMS - 1] - rates[HELMS + 1], helms[HELMS - 1] - helms[HELMS + 1]
        figures["slope_amidships_1_s"] = float(rise / run)
    chart = Chart("Spiral", "helm, ° (to starboard)", "steady rate of turn, °/s")
    chart.line(helms, rates, "to port")
    chart.line(helms, returning, "and back")
    curves = {"helm_deg": helms.tolist(), "to_port_deg_s": rates.tolist(), "back_deg_s": returning.tolist()}
    return Result("spiral", ship.vehicle, ship.config.length, figures, [], [chart], curves)


def _steady_rate(ship: Ship, helm_deg: float) -> float:
    ship.steer(float(helm_deg))
    ship.settle()
    return float(ship.leg().turn_rate_deg.mean())


def _no_turn(helms: Floats, rates: Floats) -> float:
    """The helm at which the turn changes its side, between two helms in a line; helms go down, and rates with them."""
    return float(np.interp(0.0, rates[::-1], helms[::-1]))
