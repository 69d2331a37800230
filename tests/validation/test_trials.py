"""Sea trials of a plant whose manoeuvres have closed forms, and of the shipped vehicles.

The plant is a body without added mass, with linear drag and two thrusters b = 0.5 m to either side, of k = 0.1 N per
rpm. A degree of helm is one rpm more to port and one less to starboard. Then yaw is Nomoto's model of the first order,
T dr/dt + r = K δ, with T = I/N and K = 2 b k/N for each degree, and surge and sway are m (du/dt − v r) = F − X u,
m (dv/dt + u r) = −Y v (Fossen 2021, ch. 6 and 15).

The drag is implicit in the step h = 5 ms, so that time constants are off by h/2: less than 0.2 % of T and of m/X.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

import skerry
from skerry.core.errors import SkerryError
from skerry.scenario.vehicle import shipped_vehicles
from skerry.trials import MANOEUVRES, run_trial, write_result
from skerry.trials.criteria import of_zigzag
from skerry.trials.ship import INTERVAL

M, IZ, X, Y, N = 50.0, 60.0, 20.0, 200.0, 20.0  # kg, kg m², N s/m, N s/m, N m s
B, K_RPM, AHEAD, ASTERN = 0.5, 0.1, 100.0, 60.0  # m, N per rpm, rpm
T, K = IZ / N, 2 * B * K_RPM / N  # s, rad/s for each degree of helm
SPEED = 2 * K_RPM * AHEAD / X
TRIALS = {
    "length": 2.0,
    "depth": 10.0,
    "ahead": {"port": AHEAD, "starboard": AHEAD},
    "astern": {"port": -ASTERN, "starboard": -ASTERN},
    "helm": {"port": 1.0, "starboard": -1.0},
    "hard_over_deg": 35.0,
}


@pytest.fixture
def plant(vehicle: Callable[..., str]) -> str:
    """Return the plant as a vehicle folder."""
    forces = {
        "buoyancy": {
            "kind": "force_points",
            "link": "base_link",
            "volume": "neutral",
            "depth_before_submerged": 0.1,
            "height_before_dry": 0.1,
            "points": [[0, 0, 0]],
        },
        "drag": {"kind": "damping", "link": "base_link", "linear": [X, Y, Y, N, N, N]},
    }
    folder = vehicle({"base_link": {"mass": M, "inertia": [10.0, IZ, IZ]}}, forces)
    thrusters = {
        name: {"kind": "propeller", "link": "base_link", "position": [0, side * B, 0], "rpm_to_force": K_RPM}
        for name, side in (("port", 1), ("starboard", -1))
    }
    file = Path(folder) / "vehicle.yaml"
    settings = yaml.safe_load(file.read_text())
    actuators = {name: {**part, "maximum_rpm": 1000} for name, part in thrusters.items()}
    file.write_text(yaml.safe_dump({**settings, "actuators": actuators, "trials": TRIALS}))
    return folder


def test_the_steady_turn_is_that_of_the_equations(plant: str) -> None:
    """r = K δ, u = F/(X + m² r²/Y), v = −m u r/Y, diameter 2 √(u² + v²)/r. What is left of the transient after a
    whole turn is e^(−360°/r/T) and smaller: 0.1 %. Of v it is h Y/m = 2 %, as the implicit drag sees it a step
    further on, where the way has turned by r h."""
    figures = run_trial("turning_circle", plant).figures
    rate = K * 35.0
    u = 2 * K_RPM * AHEAD / (X + M**2 * rate**2 / Y)
    v = M * u * rate / Y
    assert figures["approach_speed_m_s"] == pytest.approx(SPEED, rel=1e-3)
    for side in ("starboard", "port"):
        assert figures[f"{side}_steady_turn_rate_deg_s"] == pytest.approx(math.degrees(rate), rel=1e-3)
        assert figures[f"{side}_steady_speed_m_s"] == pytest.approx(math.hypot(u, v), rel=1e-3)
        assert figures[f"{side}_steady_diameter_m"] == pytest.approx(2 * math.hypot(u, v) / rate, rel=1e-3)
        assert figures[f"{side}_drift_angle_deg"] == pytest.approx(math.degrees(math.atan(v / u)), rel=0.025)


def test_advance_transfer_and_tactical_diameter_are_those_of_the_integrated_equations(plant: str) -> None:
    """The same equations, integrated here by steps of 0.1 ms from the order on. Tolerance 0.5 %: the implicit drag
    shifts time by half a step, 2.5 ms of the 9 s to 90°, and time constants by 0.1 %."""
    figures = run_trial("turning_circle", plant).figures
    h = 1e-4
    u, v, r, psi, ahead, side = SPEED, 0.0, 0.0, 0.0, 0.0, 0.0
    found: dict[str, float] = {}
    while psi < math.pi:
        ahead += h * (u * math.cos(psi) - v * math.sin(psi))
        side += h * (u * math.sin(psi) + v * math.cos(psi))
        du, dv = (2 * K_RPM * AHEAD - X * u) / M + v * r, -Y / M * v - u * r
        u, v, psi, r = u + h * du, v + h * dv, psi + h * r, r + h * (K * 35.0 - r) / T
        if psi >= math.pi / 2 and "advance_m" not in found:
            found |= {"advance_m": ahead, "transfer_m": side}
    found["tactical_diameter_m"] = side
    for name, value in found.items():
        assert figures[f"starboard_{name}"] == pytest.approx(value, rel=5e-3), name
        assert figures[f"port_{name}"] == pytest.approx(value, rel=5e-3), name


def test_the_overshoot_is_that_of_nomoto_s_model(plant: str) -> None:
    """From rest ψ = K δ (t − T (1 − e^(−t/T))); at ψ₀ the rate is r₁, and after the reversal the heading goes on by
    T r₁ − K δ T ln(1 + r₁/(K δ)). The helm is put over at the next sample, at most INTERVAL later; meanwhile
    the heading changes by r₁ INTERVAL, and the peak may be missed by as much. The rest is 0.3 %, twice the error
    of T."""
    figures = run_trial("zigzag", plant).figures
    wanted = K * 10.0
    low, high = 0.0, 100.0
    for _ in range(100):  # ψ grows with t
        t = (low + high) / 2
        low, high = (t, high) if wanted * (t - T * (1 - math.exp(-t / T))) < math.radians(10) else (low, t)
    rate = wanted * (1 - math.exp(-t / T))
    overshoot = math.degrees(T * rate - wanted * T * math.log(1 + rate / wanted))
    assert figures["initial_turning_time_s"] == pytest.approx(t, rel=3e-3)
    assert figures["initial_turning_track_m"] == pytest.approx(SPEED * t, rel=2e-2)  # the speed decreases a little
    assert figures["overshoot_1_deg"] == pytest.approx(overshoot, rel=3e-3, abs=math.degrees(rate) * INTERVAL)


def test_the_stopping_distance_is_that_of_linear_drag(plant: str) -> None:
    """m du/dt = −X u − F: t = m/X ln(1 + X u₀/F), distance m/X u₀ − F/X t. Tolerance 0.3 %: the step's share of
    m/X."""
    figures = run_trial("stopping", plant).figures
    force = 2 * K_RPM * ASTERN
    time = M / X * math.log(1 + X * SPEED / force)
    reach = M / X * SPEED - force / X * time
    assert figures["time_s"] == pytest.approx(time, rel=3e-3)
    assert figures["track_reach_m"] == pytest.approx(reach, rel=3e-3)
    assert figures["head_reach_m"] == pytest.approx(reach, rel=3e-3)
    assert abs(figures["lateral_deviation_m"]) < 1e-9
    assert run_trial("stopping", plant).criteria[0].value == pytest.approx(reach / 2.0, rel=3e-3)


def test_the_spiral_of_a_stable_plant_is_a_line_without_a_loop(plant: str) -> None:
    """r = K δ at every helm; steady means a change of less than 0.1 % or 0.01 °/s in 5 s, more than T, so that less
    than that is left."""
    result = run_trial("spiral", plant)
    assert result.figures["loop_width_deg"] == pytest.approx(0.0, abs=0.1)
    assert result.figures["slope_amidships_1_s"] == pytest.approx(math.degrees(K), rel=1e-2)
    rates, helms = (np.array(result.curves[name]) for name in ("to_port_deg_s", "helm_deg"))
    assert rates == pytest.approx(math.degrees(K) * helms, rel=2e-3, abs=0.02)


def test_a_vehicle_that_is_unstable_on_its_course_is_steered_to_the_start_and_has_a_loop() -> None:
    """REMUS 100 by Prestero's coefficients: Y_v N_r − N_v (Y_r − m) = (−28.6)(−2.0) − (−24.0)(5.22 − 30.5) < 0,
    that is unstable (Fossen 2021, 15.5), so that it turns with the helm amidships, to the side to which it turned
    before."""
    result = run_trial("spiral", "remus100")
    assert result.figures["loop_width_deg"] > 1.0
    assert result.figures["turn_rate_amidships_deg_s"] > 5.0
    assert "slope_amidships_1_s" not in result.figures


@pytest.mark.parametrize("name", ["sam", "lolo", "otter", "obstacle_boat", "evolo"])
def test_shipped_vehicles_turn_alike_to_both_sides(name: str) -> None:
    """They are built alike on both sides but for the torque of propellers: within 3 %."""
    figures = run_trial("turning_circle", name).figures
    for figure in ("advance_m", "tactical_diameter_m", "steady_diameter_m"):
        assert figures[f"starboard_{figure}"] == pytest.approx(figures[f"port_{figure}"], rel=0.03)
        assert figures[f"starboard_{figure}"] > 0


def test_limits_of_the_zig_zag_depend_on_length_over_speed() -> None:
    """MSC.137(76), 5.3.3: 10° and 25° below L/V = 10 s, 20° and 40° from 30 s on, straight lines between."""
    limits = {seconds: [c.limit for c in of_zigzag(10.0, [1, 1], seconds, 1.0)] for seconds in (5, 10, 20, 30, 60)}
    assert limits == {5: [10, 25], 10: [10, 25], 20: [15, 32.5], 30: [20, 40], 60: [20, 40]}
    assert [c.limit for c in of_zigzag(20.0, [1], 1.0, 1.0)] == [25]
    assert of_zigzag(7.0, [1], 1.0, 1.0) == []


def test_an_impossible_trial_is_an_error(plant: str) -> None:
    with pytest.raises(SkerryError, match="did you mean 'zigzag'"):
        run_trial("zig_zag", plant)
    with pytest.raises(SkerryError, match="stopping has no option helm_deg"):
        run_trial("stopping", plant, helm_deg=5)
    with pytest.raises(SkerryError, match="exceeds the hard-over angle of 35°"):
        run_trial("turning_circle", plant, helm_deg=50)
    with pytest.raises(SkerryError, match="has no `trials`"):
        run_trial("stopping", "quadrotor")
    with pytest.raises(SkerryError, match="did you mean 'sam'"):
        run_trial("stopping", "sma")
    with pytest.raises(SkerryError, match="does not move ahead"):
        run_trial("stopping", plant, {"trials": {"ahead": {"port": -50, "starboard": -50}}})
    with pytest.raises(SkerryError, match=r"trials: there is no such actuator or setpoint .*did you mean 'port'"):
        run_trial("stopping", plant, {"trials": {"ahead": {"prot": 50}}})


def test_a_result_is_written_as_json_and_charts(plant: str, tmp_path: Path) -> None:
    result = run_trial("stopping", plant)
    files = write_result(result, tmp_path / "out")
    plain = json.loads(files[0].read_text())
    assert plain["figures"]["track_reach_m"] == result.figures["track_reach_m"]
    assert plain["imo"][0]["met"] is True
    assert files[1].read_text().count("<g ") == len(result.charts)


def test_every_manoeuvre_and_every_vehicle_with_trials_is_tried_here() -> None:
    assert set(MANOEUVRES) == {"turning_circle", "zigzag", "spiral", "stopping"}
    folder = Path(skerry.__file__).parent / "vehicles"
    with_trials = [name for name in shipped_vehicles() if "\ntrials:" in (folder / name / "vehicle.yaml").read_text()]
    assert with_trials == ["evolo", "lolo", "obstacle_boat", "otter", "remus100", "sam"]
