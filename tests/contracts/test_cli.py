"""The command line as a user calls it: in real processes where the process ends, through `main` elsewhere."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.reader import make_reader

from skerry.cli._options import parse_settings, parse_speed
from skerry.core.errors import SkerryError

Finished = subprocess.CompletedProcess[str]
Skerry = Callable[..., Finished]


def in_a_process(*arguments: str) -> Finished:
    command = [sys.executable, "-m", "skerry", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_a_run_without_arguments_shows_sam_in_the_bay() -> None:
    result = in_a_process("run", "--headless", "--duration", "0")
    assert result.returncode == 0
    assert "sam_in_the_bay: 1 robot" in result.stderr
    assert "sam: x 0.00 y 0.00 z -2.00" in result.stderr


def test_a_run_at_full_speed_lasts_for_the_given_duration(skerry: Skerry) -> None:
    result = skerry("run", "torpedo_in_still_water", "--speed", "max", "--duration", "30", "--seed", "3")
    assert result.returncode == 0
    assert "seed 3" in result.stderr
    assert "30.00 s  torpedo:" in result.stderr


def test_a_value_can_be_set_from_the_command_line(skerry: Skerry) -> None:
    result = skerry("run", "sam_empty", "--duration", "0", "--set", "robots.sam.pose.position=[1,2,-30]")
    assert "x 1.00 y 2.00 z -30.00" in result.stderr


def test_a_dataset_is_written_and_a_wrong_camera_is_guessed(skerry: Skerry, tmp_path: Path) -> None:
    out = tmp_path / "images"
    start = ["dataset", "sam_in_the_bay", "--set", "robots.sam.overrides.sensors.camera_front={width: 64, height: 48}"]
    result = skerry(*start, "--camera", "sam/camera_front", "--count", "2", "--out", str(out))
    assert result.returncode == 0, result.stderr
    assert "2 images" in result.stderr
    assert len(list((out / "images").iterdir())) == 2
    result = skerry(*start, "--camera", "sam/camera_font", "--out", str(tmp_path / "none"))
    assert result.returncode == 1
    assert "did you mean 'sam/camera_front'" in result.stderr


def test_a_run_is_recorded_summarised_verified_and_republished(skerry: Skerry, tmp_path: Path) -> None:
    path = str(tmp_path / "dive.mcap")
    run = ["run", "sam_empty", "--headless", "--speed", "max", "--duration", "2", "--seed", "5", "--record", path]
    port = ["--set", f"interfaces.ros.transports.foxglove.port={free_port()}"]
    result = skerry(*run, "--ros", "foxglove", *port)
    assert result.returncode == 0, result.stderr
    with Path(path).open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None and summary.statistics is not None
    assert f"{summary.statistics.message_count} messages" in result.stderr  # all messages of the file
    again = skerry(*run)
    assert again.returncode == 1
    assert "already" in again.stderr

    shown = skerry("replay", path, "--headless")
    assert shown.returncode == 0, shown.stderr
    assert "sam_empty, seed 5, 2.00 s" in shown.stdout
    assert "2 fingerprints" in shown.stdout  # at the start and at the end
    assert "/sam/core/imu" in shown.stdout

    verified = skerry("replay", path, "--verify")
    assert verified.returncode == 0, verified.stderr
    assert "identical to the bit" in verified.stderr

    for transport in ("foxglove", "rosbridge"):
        settings = ["--set", f"{transport}.port={free_port()}"]
        published = skerry("replay", path, "--ros", transport, "--speed", "max", *settings)
        assert published.returncode == 0, published.stderr
        assert "messages published" in published.stderr


def test_a_recording_that_was_altered_ends_with_code_1(skerry: Skerry, tmp_path: Path) -> None:
    path = tmp_path / "dive.mcap"
    command = ["run", "sam_empty", "--headless", "--speed", "max", "--duration", "1", "--record", str(path)]
    assert skerry(*command, "--set", "interfaces.recorder.compression=none").returncode == 0
    data = bytearray(path.read_bytes())
    offset = data.index(b'"fingerprint": "', 5000) + 20
    data[offset] ^= 1
    path.write_bytes(data)
    found = skerry("replay", str(path), "--verify")
    assert found.returncode == 1
    assert "damaged" in found.stderr
    assert skerry("replay", str(tmp_path / "none.mcap")).returncode == 1


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        found: int = reserved.getsockname()[1]
    return found


def test_a_trial_shows_its_figures_and_writes_them(skerry: Skerry, tmp_path: Path) -> None:
    result = skerry("trial", "stopping", "otter", "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert "track_reach_m" in result.stdout
    assert "≤ 15" in result.stdout
    figures = json.loads((tmp_path / "out" / "result.json").read_text())["figures"]
    assert figures["head_reach_m"] > 0
    assert "did you mean 'stopping'" in skerry("trial", "stoping", "otter").stderr


def test_a_sweep_over_a_path_that_does_not_exist_is_one_message_with_a_guess(skerry: Skerry, tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("scenario: sam_empty\nduration: 1\nvary: {water.densty: [1]}\nmetrics: {d: final(sam.depth)}\n")
    result = skerry("sweep", str(file), "--out", str(tmp_path / "out"))
    assert result.returncode == 1
    assert "vary.water.densty" in result.stderr and "did you mean 'density'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_doctor_reports_installed_packages_and_working_features(skerry: Skerry) -> None:
    result = skerry("doctor", "--json")
    assert result.returncode == 0, result.stdout
    found = {finding["name"]: finding for finding in json.loads(result.stdout)}
    for name in ("numpy", "MuJoCo", "rays", "physics", "interface ros", "ROS transport endpoint"):
        assert found[name]["is_well"] is True, found[name]
    assert "times real time" in found["physics"]["detail"]


def test_an_interrupt_ends_a_run_cleanly() -> None:
    process = subprocess.Popen([sys.executable, "-m", "skerry", "run"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()  # the world is built
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=600)
    assert process.returncode in {0, 130}
    assert "Traceback" not in rest


def test_an_unknown_scenario_is_one_message_with_a_guess() -> None:
    result = in_a_process("run", "torpedo_in_stil_water")
    assert result.returncode == 1
    assert result.stderr.startswith("skerry: there is no scenario 'torpedo_in_stil_water'")
    assert "did you mean 'torpedo_in_still_water'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_names_all_faults_of_a_file_and_fails(skerry: Skerry, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("stpe: 1/100\nrobots:\n  a: {vehicle: torpdeo}\n")
    result = skerry("check", str(file), "torpedo_in_still_water")
    assert result.returncode == 1
    assert "did you mean 'step'?" in result.stderr
    assert "did you mean 'torpedo'?" in result.stderr
    assert "Traceback" not in result.stderr
    assert "a scenario with 1 robot and 0 objects" in result.stdout


def test_check_accepts_a_vehicle_folder(skerry: Skerry, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "src" / "skerry" / "vehicles" / "torpedo"
    assert "a vehicle with 6 links" in skerry("check", str(folder)).stdout
    empty = skerry("check", str(tmp_path))
    assert empty.returncode == 1
    assert "no vehicle.yaml" in empty.stderr


def test_list_shows_scenarios_vehicles_props_and_components(skerry: Skerry) -> None:
    shown = skerry("list").stdout
    for name in ("torpedo_in_still_water", "torpedo", "force_points", "heightfield", "odometry", "buoy_port"):
        assert name in shown
    assert "did you mean 'vehicles'?" in skerry("list", "vehicle").stderr


def test_a_vehicle_is_exported_imported_and_checked(skerry: Skerry, tmp_path: Path) -> None:
    file, folder = tmp_path / "torpedo.json", tmp_path / "again"
    assert skerry("export", "torpedo", "--out", str(file)).returncode == 0
    result = skerry("import", str(file), "--out", str(folder))
    assert result.returncode == 0, result.stderr
    assert "a vehicle with 6 links" in result.stderr
    again = skerry("import", str(file), "--out", str(folder))
    assert again.returncode == 1
    assert "already exists" in again.stderr
    assert skerry("export", "torpedo").stdout == file.read_text()


def test_terrain_is_imported_or_refused_with_a_message(skerry: Skerry, tmp_path: Path) -> None:
    (tmp_path / "hill.obj").write_text("v 0 0 -5\nv 10 0 -5\nv 0 10 -4\nv 10 10 -4\nf 1 2 4 3\n")
    result = skerry("import-terrain", str(tmp_path / "hill.obj"), "--out", str(tmp_path / "hill"), "--resolution", "1")
    assert result.returncode == 0, result.stderr
    assert "11 × 11 heights" in result.stderr
    refused = skerry("import-terrain", str(tmp_path / "hill.obj"), "--resolution", "-1")
    assert refused.returncode == 1
    assert "resolution" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_help_and_version_are_printed(skerry: Skerry) -> None:
    assert skerry("--version").stdout.startswith("skerry 0.")
    assert "--duration" in skerry("run", "--help").stdout


def test_an_unknown_benchmark_is_guessed(skerry: Skerry) -> None:
    assert "did you mean 'physics'?" in skerry("bench", "phisics").stderr


def test_settings_are_a_tree_of_yaml_values() -> None:
    assert parse_settings(["a.b=1.5", "a.c=[1, 2]", "d=word"]) == {"a": {"b": 1.5, "c": [1, 2]}, "d": "word"}


@pytest.mark.parametrize("text", ["a.b", "=5", "a..b=5", "a=[1"])
def test_a_malformed_setting_is_explained(text: str) -> None:
    with pytest.raises(SkerryError, match="--set"):
        parse_settings([text])


def test_a_setting_cannot_be_both_value_and_tree() -> None:
    with pytest.raises(SkerryError, match="made 'a' a plain value"):
        parse_settings(["a=1", "a.b=2"])


def test_speed_is_a_number_or_max() -> None:
    assert parse_speed("max") is None
    assert parse_speed("2.5") == 2.5
    for bad in ("fast", "0", "-1", "nan", "inf"):
        with pytest.raises(SkerryError, match="--speed"):
            parse_speed(bad)


def test_json_of_the_benchmarks_is_a_tree_of_numbers() -> None:
    from skerry.benchmarks import nested

    tree = nested({"physics.core.step_us": 4.123456789, "startup.warm_s": 1.0})
    assert json.loads(json.dumps(tree)) == {"physics": {"core": {"step_us": 4.12346}}, "startup": {"warm_s": 1.0}}
