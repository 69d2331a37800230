"""Direct spiral (Dieudonné): steady turn rate at each helm angle, from one side to the other and back.

A vehicle that is stable on its course has one rate for each helm. One that is not has a loop about helm amidships,
where the rate depends on the side from which the helm came; its breadth is what MSC/Circ.1053 asks for.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skerry.formats.chart import Chart
from skerry.trials.result import Result
from skerry.trials.ship import Floats, Ship

HELMS: Final = 8  # angles per side, densest around amidships, where a loop may be


def spiral(ship: Ship) -> Result:
    """Run the spiral from hard over to starboard to hard over to port and back; each turn rate is taken when steady."""
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
    if width < helms[HELMS - 1]:  # a loop has no slope
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
    """Return the helm angle of zero turn rate, linearly interpolated; helms and rates decrease."""
    return float(np.interp(0.0, rates[::-1], helms[::-1]))
