"""The streams of the page contain the data of the world, at the right positions."""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import simplejpeg

import skerry
from skerry.commands import GiveGoal, Teleport
from skerry.core.frames import Pose
from skerry.parts.interface import SensorReading
from skerry.runner import Runner
from skerry.ui.page import Page
from skerry.ui.protocol import EXTRA, Kind, Payload
from skerry.ui.server import PageServer
from skerry.ui.settings import PageSettings
from skerry.ui.streams import StreamInput
from skerry.world import World

SMALL = {"width": 16, "height": 12, "frequency": 10}
# SAM with one of each kind of sensor that fills a panel; the lidars on a mast, as they see nothing under water
SCENARIO: dict[str, Any] = {
    "extends": "sam_in_the_bay",
    "robots": {
        "sam": {
            "pose": {"position": [0, 0, -1]},
            "overrides": {
                "sensors": {
                    "camera_front": SMALL,
                    "fls": {
                        "kind": "fls",
                        "link": "base_link",
                        "frequency": 10,
                        "beams": 8,
                        "rays_per_beam": 8,
                        "bins": 20,
                    },
                    "msis": {"kind": "msis", "link": "base_link", "frequency": 20, "bins": 30, "step_deg": 90},
                    "lidar": {
                        "kind": "lidar",
                        "link": "base_link",
                        "position": [0, 0, 3],
                        "frequency": 10,
                        "pattern": "vlp_16",
                        "columns": 36,
                    },
                    "scanner": {
                        "kind": "lidar",
                        "link": "base_link",
                        "position": [0, 0, 3],
                        "pitch_deg": 30,
                        "frequency": 10,
                        "pattern": "planar",
                    },
                }
            },
        }
    },
}


class WorldWithPage:
    """World with a page whose server is not started."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = PageServer(PageSettings(port=0))
        self.page = Page(self.server)
        self.runner = Runner(world, None, {"page": self.page})
        self.page.attach_runner(self.runner)
        self.runner.run(0.0)

    def payload(self, name: str, reading: Any = None) -> Payload:
        """Return the payload of a stream, after a reading of its sensor."""
        stream = self.page.streams[name]
        new = (
            []
            if reading is None
            else [SensorReading(stream.robot or "", stream.sensor or "", self.world.tick, reading)]
        )
        sample = stream.sample(StreamInput(new, {(each.robot, each.sensor): each.reading for each in new}))
        payload = stream.encode(sample)
        assert payload.kind is stream.kind
        return payload


@pytest.fixture(scope="module")
def watched() -> Iterator[WorldWithPage]:
    with skerry.load(SCENARIO) as world:
        found = WorldWithPage(world)
        with found.runner:
            yield found
        found.server.close()


def reading(watched: WorldWithPage, name: str) -> Any:
    found = watched.world.robots["sam"].sensors[name].reading
    assert found is not None
    return found


def points_of(payload: Payload) -> np.typing.NDArray[np.float64]:
    scale, count, *origin = struct.unpack_from("<fI3f", payload.data)
    return np.frombuffer(payload.data, "<i2", 3 * count, 20).reshape(-1, 3) * scale + np.array(origin)


def lines_of(payload: Payload) -> np.typing.NDArray[np.float32]:
    (count,) = struct.unpack_from("<I", payload.data)
    assert len(payload.data) == 4 + count * (28 if payload.flags & EXTRA else 24)
    return np.frombuffer(payload.data, "<f4", 6 * count, 4).reshape(-1, 2, 3)


def test_a_picture_is_the_cameras(watched: WorldWithPage) -> None:
    taken = reading(watched, "camera_front")
    picture = simplejpeg.decode_jpeg(watched.payload("image/sam/camera_front", taken).data)
    assert picture.shape == (12, 16, 3)
    # JPEG and halved colours change single pixels; the mean of each colour stays
    assert picture.mean(axis=(0, 1)) == pytest.approx(taken.image.mean(axis=(0, 1)), abs=6)


def test_a_line_of_a_side_scan_goes_from_port_to_starboard(watched: WorldWithPage) -> None:
    taken = reading(watched, "sidescan")
    data = watched.payload("sonar/sam/sidescan", taken).data
    assert struct.unpack_from("<HHf", data) == pytest.approx((1, 2000, 1000 * taken.bucket_size))
    assert data[8:1008] == taken.port_levels[::-1].tobytes()
    assert data[1008:] == taken.starboard_levels.tobytes()


def test_a_forward_looking_sonar_is_a_fan_from_left_to_right(watched: WorldWithPage) -> None:
    taken = reading(watched, "fls")
    data = watched.payload("sonar/sam/fls", taken).data
    beams, bins, first, last, near, far = struct.unpack_from("<HH4f", data)
    assert (beams, bins, near) == (8, 20, 0)
    assert first == pytest.approx(np.radians(60)) and last == pytest.approx(-np.radians(60))
    assert far == pytest.approx(40.0)
    assert data[20:] == taken.levels.tobytes()


def test_a_turning_sonar_fills_its_fan_beam_by_beam(watched: WorldWithPage) -> None:
    stream = watched.page.streams["sonar/sam/msis"]
    sensor = watched.world.robots["sam"].sensors["msis"]
    filled = []
    for _ in range(4):
        taken = sensor.reading
        data = watched.payload(stream.name, taken).data
        assert struct.unpack_from("<HH", data) == (4, 30)
        image = np.frombuffer(data, np.uint8, offset=20).reshape(4, 30)
        beam = int((np.pi - taken.angle) / (np.pi / 2)) % 4
        assert (image[beam] == taken.levels).all()
        filled.append(beam)
        watched.world.advance(0.05)
    assert sorted(filled) == [0, 1, 2, 3]


@pytest.mark.parametrize("sensor", ["mbes", "fls"])
def test_the_cloud_of_a_sonar_lies_on_the_ground(watched: WorldWithPage, sensor: str) -> None:
    taken = reading(watched, sensor)
    points = points_of(watched.payload(f"cloud/sam/{sensor}", taken))
    assert len(points) == len(taken.cloud.points)
    assert points == pytest.approx(taken.cloud.world_points, abs=2e-3)
    lines = lines_of(watched.payload(f"rays/sam/{sensor}", taken))
    assert lines[:, 0] == pytest.approx(np.tile(taken.cloud.pose.position, (len(lines), 1)), abs=1e-4)


@pytest.mark.parametrize("sensor", ["lidar", "scanner"])
def test_the_cloud_of_a_lidar_is_in_the_world(watched: WorldWithPage, sensor: str) -> None:
    taken = reading(watched, sensor)
    payload = watched.payload(f"cloud/sam/{sensor}", taken)
    points = points_of(payload)
    assert payload.flags == (EXTRA if sensor == "lidar" else 0)  # a scanner has intensities of all beams, not of points
    assert len(points) == len(taken.points)
    distances = np.linalg.norm(points - taken.pose.position, axis=1)
    assert distances == pytest.approx(np.linalg.norm(taken.points, axis=1), abs=5e-3)


def test_a_polar_view_has_the_most_level_ranges(watched: WorldWithPage) -> None:
    taken = reading(watched, "lidar")
    stream = watched.page.streams["polar/sam/lidar"]
    ranges = np.frombuffer(watched.payload(stream.name, taken).data, "<f4")
    assert len(ranges) == 36
    elevations = [-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15]  # of a VLP-16, by its data sheet
    level = sorted(elevations).index(-1), sorted(elevations).index(1)
    assert any(np.array_equal(ranges, taken.ranges[row], equal_nan=True) for row in level)
    first, last = (stream.details["display"][name] for name in ("first_angle", "last_angle"))
    assert abs(last - first) == pytest.approx(2 * np.pi * 35 / 36, rel=1e-3)


def test_rays_of_a_dvl_begin_at_its_link(watched: WorldWithPage) -> None:
    lines = lines_of(watched.payload("rays/sam/dvl", reading(watched, "dvl")))
    place = watched.world.robots["sam"].link_position("dvl_link")
    assert len(lines) >= 4
    assert lines[:, 0] == pytest.approx(np.tile(place, (len(lines), 1)), abs=0.05)


def test_scalars_are_those_of_the_world(watched: WorldWithPage) -> None:
    fields = watched.page.fields["sam"]
    sam = watched.world.robots["sam"]
    taken = reading(watched, "imu")
    stream = watched.page.streams["scalars/sam"]
    sample = stream.sample(StreamInput((), {("sam", "imu"): taken}))
    values = dict(zip(stream.details["fields"], np.frombuffer(stream.encode(sample).data, "<f4"), strict=True))
    units = dict(zip(stream.details["fields"], stream.details["units"], strict=True))
    assert units["imu.linear_acceleration.z"] == "m/s²"
    assert (units["ctd.temperature"], units["dvl.velocity.x"], units["thruster1.target"]) == ("°C", "m/s", "rpm")
    assert [values[axis] for axis in "xyz"] == pytest.approx(sam.position, abs=1e-4)
    assert values["thruster1.target"] == sam.actuators["thruster1"].setpoint
    assert values["imu.linear_acceleration.z"] == pytest.approx(taken.linear_acceleration[2], rel=1e-5)
    assert np.isnan(values["ctd.temperature"])  # not subscribed
    assert {"ctd.temperature", "depth20.depth", "battery.percent", "dvl.velocity.x", "dvl.altitude"} <= values.keys()
    assert not any(name.startswith(("camera", "sidescan", "fls")) for name in values)
    assert ("sam", "imu") in fields.sensors


def test_frames_lead_from_the_map_to_every_link(watched: WorldWithPage) -> None:
    data = np.frombuffer(
        watched.payload("tf").data, np.dtype([("parent", "<u2"), ("child", "<u2"), ("pose", "<f4", 7)])
    )
    names = watched.page.frames.names
    parents = {names[row["child"]]: names[row["parent"]] for row in data}
    for link in watched.world.robots["sam"].vehicle.robot.links:
        frame = f"sam/{link}"
        while frame != "map":
            frame = parents[frame]


def test_a_goal_is_a_ring_of_its_tolerance_and_a_mast(watched: WorldWithPage) -> None:
    GiveGoal("sam", "autopilot", {"position": (30.0, -5.0), "depth": 4.0, "speed": 1.0, "tolerance": 2.5}).apply(
        watched.runner
    )
    lines = lines_of(watched.payload("waypoints"))
    middle = np.array([30, -5, -4])
    assert np.linalg.norm(lines[:-1, 0] - middle, axis=1) == pytest.approx(2.5, abs=1e-4)
    assert lines[-1, 1] == pytest.approx(middle)
    assert lines[-1, 0, 2] == pytest.approx(2.0, abs=0.5)  # above waves of 0.2 m


def test_forces_of_a_body_that_floats_carry_its_weight() -> None:
    """At rest and fully immersed, buoyancy is the weight, which is drawn 1 m long; the tank's water hangs on it too."""
    with skerry.load("sam_empty", overrides={"robots": {"sam": {"commands": {}}}}) as world:
        watched = WorldWithPage(world)
        world.advance(0.05)
        lines = lines_of(watched.payload("forces/sam"))
        up = (lines[:, 1] - lines[:, 0]).sum(axis=0)
        assert up[2] == pytest.approx(1.0, abs=0.05)
        assert np.abs(up[:2]).max() < 0.05
        watched.runner.close()
        watched.server.close()


def test_contacts_are_shown_where_a_robot_lies_on_the_ground(watched: WorldWithPage) -> None:
    assert struct.unpack_from("<I", watched.payload("contacts").data) == (0,)
    world = watched.world
    assert world.terrain is not None
    ground = float(world.terrain.height((50.0, 50.0)))
    Teleport.to("sam", Pose([50.0, 50.0, ground + 0.05], [0, 0, 0, 1])).apply(watched.runner)
    data = watched.payload("contacts").data
    (count,) = struct.unpack_from("<I", data)
    assert count > 0
    places = np.frombuffer(data, "<f4", 3 * count, 4).reshape(-1, 3)
    assert places[:, 2] == pytest.approx(world.terrain.height(places[:, :2]), abs=0.2)


def test_the_settings_of_the_viewer_reach_the_page() -> None:
    viewer = {"every": 8, "hits_lifetime": 2.5, "use_rainbow": False, "ray_colour": [0, 1, 0.2], "ray_thickness": 0.05}
    sensors = {"mbes": {"viewer": viewer}, "dvl": {"viewer": {"draw_rays": False, "draw_hits": False}}}
    scenario = SCENARIO | {"robots": {"sam": {"pose": {"position": [0, 0, -1]}, "overrides": {"sensors": sensors}}}}
    with skerry.load(scenario) as world:
        found = WorldWithPage(world)
        with found.runner:
            stream = found.page.streams["rays/sam/mbes"].describe(0)
            assert viewer.items() <= {**stream["viewer"]}.items()
            assert stream["viewer"]["max_height"] is None
            payload = found.payload("rays/sam/mbes", reading(found, "mbes"))
            lines = lines_of(payload)
            assert len(lines) == 256 / 8
            shades = np.frombuffer(payload.data, np.uint8, 4 * len(lines), 4 + 24 * len(lines)).reshape(-1, 4)
            assert (shades[:, :3] == [0, 255, 51]).all()
            assert "rays/sam/dvl" not in found.page.streams
        found.server.close()


def test_particles_reach_the_page_with_their_size_colours_and_trails() -> None:
    ball = {"kind": "sphere", "center": [0, 0, -5], "radius": 3}
    push = {"kind": "vector", "vector": [1, 0, 0], "magnitude": 0.2, "volume": ball}
    fields = {"anywhere": push, "wet": push | {"only_underwater": True}}
    visualizer = {"count": 40, "size": 0.3, "trail": 6, "lifetime": 100, "spawn_strictly_inside": True}
    with skerry.load({"fields": fields, "visualizer": visualizer | {"recycle_when_out": False}}) as world:
        found = WorldWithPage(world)
        with found.runner:
            world.advance(1.0)
            pool = world.particles
            assert pool is not None
            assert found.page.streams["particles"].describe(0)["radius"] == 0.3
            assert found.page.streams["particle_trails"].describe(0)["width"] == 0.3
            payload = found.payload("particles")
            assert struct.unpack_from("<I", payload.data) == (40,)
            shades = np.frombuffer(payload.data, np.uint8, 160, 4 + 16 * 40).reshape(-1, 4)
            is_blue = shades[:, 2] > shades[:, 1]
            np.testing.assert_array_equal(is_blue, pool.colours == 2)
            assert 0 < is_blue.sum() < 40
            lines = lines_of(found.payload("particle_trails")).reshape(40, 5, 2, 3)
            np.testing.assert_allclose(lines[:, :, 0], pool.trails[:, :-1], atol=1e-5)
            np.testing.assert_allclose(lines[:, :, 1], pool.trails[:, 1:], atol=1e-5)
        found.server.close()


def test_the_place_and_size_of_a_preview_reach_the_page() -> None:
    cameras = {
        "camera_front": SMALL | {"preview": {"left": 40, "top": 60, "width": 200}},
        "camera_down": SMALL | {"preview": {"height": 500, "width": 500}},
    }
    scenario = SCENARIO | {"robots": {"sam": {"overrides": {"sensors": cameras}}}}
    with skerry.load(scenario) as world:
        found = WorldWithPage(world)
        with found.runner:
            previews = [
                found.page.streams[f"image/sam/{name}"].describe(0)["display"]["preview"]
                for name in ("camera_front", "camera_down", "camera_port")
            ]
            assert previews == [(40, 60, 200, 150), (100, 30, 500, 500), None]
        found.server.close()


def test_gps_lines_end_at_a_reference_point_that_is_not_the_origin() -> None:
    mark = {"geometry": {"kind": "box", "size": [1, 1, 1]}, "pose": {"position": [30, 20, -4]}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6, "at": "mark"}
    with skerry.load(SCENARIO | {"reference": reference, "objects": {"mark": mark}}) as world:
        found = WorldWithPage(world)
        with found.runner:
            (line,) = lines_of(found.payload("gps"))
            assert line[1] == pytest.approx([30, 20, -4])
        found.server.close()


def test_gps_lines_end_at_the_reference_point(watched: WorldWithPage) -> None:
    (line,) = lines_of(watched.payload("gps"))
    assert line[0] == pytest.approx(watched.world.robots["sam"].link_position("gps_link"), abs=1e-4)
    assert line[1] == pytest.approx([0, 0, 0])


def test_streams_are_described_in_the_scene(watched: WorldWithPage) -> None:
    found = watched.page.streams["image/sam/camera_front"].describe(4)
    assert found == {
        "name": "image/sam/camera_front",
        "id": 4,
        "kind": Kind.IMAGE,
        "title": "sam camera front",
        "robot": "sam",
        "sensor": "camera_front",
        "display": {
            "kind": "image",
            "image": "image",
            "quality": "jpeg_quality",
            "vertical_fov_deg": pytest.approx(60.0, abs=30.0),
            "preview": None,
            "units": {"image": "", "jpeg_quality": ""},
        },
    }
