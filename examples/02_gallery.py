"""Render sensor readings as JPEG images: `python 02_gallery.py [FOLDER]`."""

import sys
from pathlib import Path

import numpy as np
import simplejpeg

import skerry
from skerry.world.sampling.ray_trail import rainbow

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")

HARBOUR = {
    "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
    "seed": 4,
    "water": {"surface": {"kind": "waves", "height": 0.25, "period": 2.6, "heading_deg": 60, "components": 48}},
    "terrain": {
        "kind": "heightfield",
        "size": [160, 160],
        "resolution": 0.5,
        "level": -11,
        "material": "sand",
        "function": {"kind": "hills", "amplitude": 1.2, "wavelength": 30, "octaves": 6},
    },
    "objects": {
        "wreck": {
            "geometry": {"kind": "box", "size": [9, 2.6, 2.0]},
            "pose": {"position": [22, 11, -10.4], "yaw_deg": 25, "roll_deg": 20},
            "material": "metal",
            "colour": [0.45, 0.25, 0.15],
        },
        "pipe": {
            "geometry": {"kind": "cylinder", "radius": 0.4, "length": 40},
            "pose": {"position": [25, -14, -10.8], "pitch_deg": 90, "yaw_deg": 8},
            "material": "concrete",
            "colour": [0.6, 0.6, 0.55],
        },
        "boulder": {
            "geometry": {"kind": "sphere", "radius": 1.1},
            "pose": {"position": [10, 4, -10.6]},
            "material": "rock",
            "colour": [0.4, 0.4, 0.38],
        },
        "mine": {
            "geometry": {"kind": "sphere", "radius": 0.5},
            "pose": {"position": [7.5, -1.4, -6.2]},
            "material": "metal",
            "colour": [0.8, 0.15, 0.1],
        },
        "buoy": {
            "geometry": {"kind": "sphere", "radius": 0.6},
            "pose": {"position": [6, 1.5, 0.1]},
            "material": "buoy",
            "colour": [0.95, 0.35, 0.1],
        },
        "quay": {
            "geometry": {"kind": "box", "size": [30, 6, 14]},
            "pose": {"position": [26, 24, -5]},
            "material": "concrete",
            "colour": [0.62, 0.61, 0.58],
        },
        "shed": {
            "geometry": {"kind": "box", "size": [8, 4, 3.5]},
            "pose": {"position": [24, 24, 3.7]},
            "material": "wood",
            "colour": [0.55, 0.15, 0.12],
        },
        "pile": {
            "geometry": {"kind": "cylinder", "radius": 0.35, "length": 14},
            "pose": {"position": [9, -6, -4.5]},
            "material": "wood",
            "colour": [0.4, 0.3, 0.2],
        },
    },
}


def load(z, sensors, x=-20.0, y=0.0, yaw=0.0, optical_type="IB", **robot):
    """Load SAM in the harbour with the given sensors."""
    scenario = {**HARBOUR, "water": {**HARBOUR["water"], "optical_type": optical_type}}
    pose = {"position": [x, y, z], "yaw_deg": yaw}
    scenario["robots"] = {"sam": {"vehicle": "sam", "pose": pose, "overrides": {"sensors": sensors}, **robot}}
    return skerry.load(scenario)


def save(name, image):
    """Write an image (rows, columns) or (rows, columns, 3)."""
    image = np.asarray(image, np.uint8)
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    (FOLDER / f"{name}.jpg").write_bytes(simplejpeg.encode_jpeg(np.ascontiguousarray(image), quality=80))
    print(f"{name}.jpg: {image.shape[1]} × {image.shape[0]}")


def draw_points(points, colours, eye, target, width=800, height=450, size=1):
    """Draw points of the world from the viewpoint `eye`, the nearest in front."""
    forward = np.subtract(target, eye) / np.linalg.norm(np.subtract(target, eye))
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    away = points - np.asarray(eye)
    depth = away @ forward
    seen = depth > 0.5
    order = np.argsort(-depth[seen])
    away, depth, colours = away[seen][order], depth[seen][order], colours[seen][order]
    column = (width / 2 + 0.9 * width * (away @ right) / depth).astype(int)
    row = (height / 2 - 0.9 * width * (away @ up) / depth).astype(int)
    image = np.full((height, width, 3), 16, np.uint8)
    for i in range(size):
        for j in range(size):
            inside = (column + i >= 0) & (column + i < width) & (row + j >= 0) & (row + j < height)
            image[row[inside] + j, column[inside] + i] = colours[inside]
    return image


def survey():
    """Move SAM past the wreck: a side-scan waterfall, and the swaths of a multibeam echo sounder."""
    wide = {"mbes": {"beam_breadth_deg": 110, "beam_breadth_3db_deg": 100, "frequency": 20, "link": "dvl_link"}}
    scan = {"sidescan": {"tilt_deg": 15, "beam_breadth_deg": 65, "beam_breadth_3db_deg": 55, "max_range": 40}}
    rpm = {"thruster1": {"rpm": 900}, "thruster2": {"rpm": 900}}
    lines, points = [], []
    with load(-5.0, {**wide, **scan}, commands=rpm) as world:
        sam = world.robots["sam"]
        while world.time < 36:
            world.advance(0.05)
            ping, swath = sam.sensors["sidescan"].reading, sam.sensors["mbes"].reading
            lines.append(np.concatenate([ping.port_levels[::-1], ping.starboard_levels]))
            points.append(swath.cloud.world_points)
    waterfall = np.array(lines)[::-1, :].astype(float)
    save("sidescan", (2.0 * waterfall.reshape(len(lines), -1, 4).mean(axis=2)).clip(0, 255))
    cloud = np.concatenate(points)
    low, high = np.percentile(cloud[:, 2], [1, 99.5])
    shares = np.clip((cloud[:, 2] - low) / (high - low), 0, 1)
    save("mbes", draw_points(cloud, rainbow(shares), (-12, -22, 6), (5, 0, -10), size=2))


def draw_forward_sonar():
    """Draw the fan of a forward-looking sonar."""
    sonar = {"fls": {"kind": "fls", "link": "base_link", "position": [0.7, 0, 0], "frequency": 5, "tilt_deg": 5}}
    with load(-6.5, sonar, x=-2.0, yaw=8.0, anchored=True) as world:
        reading = world.robots["sam"].sensors["fls"].reading
    far, size = 40.0, 500
    ahead, left = np.meshgrid(np.linspace(far, 0, size), np.linspace(0.87 * far, -0.87 * far, int(1.74 * size)))
    azimuth, away = np.arctan2(left, ahead).T, np.hypot(ahead, left).T
    beams, bins = reading.levels.shape
    beam = np.rint(np.interp(-azimuth, -reading.azimuths, np.arange(beams), left=-1, right=-1)).astype(int)
    cell = (away / reading.bin_size).astype(int)
    inside = (beam >= 0) & (cell < bins)
    glow = np.where(inside, reading.levels[beam.clip(0), cell.clip(0, bins - 1)] / 255.0, 0.0)[..., None]
    save("fls", np.where(inside[..., None], 255 * np.clip(glow * [1.6, 1.1, 0.45], 0, 1), 24))


def draw_lidar():
    """Draw the points of a lidar on a mast."""
    lidar = {"lidar": {"kind": "lidar", "link": "base_link", "frequency": 10, "pattern": "os1_128_2048"}}
    with load(4.0, lidar, x=0.0, anchored=True) as world:
        reading = world.robots["sam"].sensors["lidar"].reading
    world_points = reading.points + np.array([0, 0, 4.0])
    shares = np.clip((world_points[:, 2] + 1.0) / 7.0, 0, 1)
    save("lidar", draw_points(world_points, rainbow(shares), (-14, -16, 14), (13, 8, 0), size=2))


def render_camera():
    """Render the camera above the water, at the surface, and below it in clear and in hazier water."""
    views = {
        "camera_above": (2.2, 12.0, "IB"),
        "camera_surface": (0.02, 2.0, "IB"),
        "camera_5m_clear": (-5.0, 8.0, "I"),  # the clearest ocean water
        "camera_5m_hazy": (-5.0, 8.0, "IB"),
    }
    for name, (z, pitch, optical_type) in views.items():
        camera = {
            "kind": "camera",
            "link": "base_link",
            "frequency": 10,
            "pitch_deg": pitch,
            "width": 640,
            "height": 400,
        }
        with load(z, {"camera": camera}, x=0.0, yaw=10.0, optical_type=optical_type, anchored=True) as world:
            world.advance(3.0)
            save(name, world.robots["sam"].sensors["camera"].reading.image)


def render_from(source, name, position, yaw, pitch, seconds, fov=60.0, start=None, size=(640, 400)):
    """Render a scenario after some seconds with an anchored camera; `start` may send commands to the robots."""
    camera = {"kind": "camera", "link": "base_link", "frequency": 10, "pitch_deg": pitch, "vertical_fov_deg": fov}
    camera |= {"width": size[0], "height": size[1]}
    pose = {"position": position, "yaw_deg": yaw}
    eye = {"vehicle": "torpedo", "anchored": True, "pose": pose, "overrides": {"sensors": {"camera": camera}}}
    with skerry.load(source, overrides={"robots": {"eye": eye}}) as world:
        if start is not None:
            start(world.robots)
        world.advance(seconds)
        save(name, world.robots["eye"].sensors["camera"].reading.image)


AFLOAT = {
    "seed": 2,
    "water": {"surface": {"kind": "waves", "height": 0.12, "period": 2.0, "heading_deg": 200, "components": 48}},
    "sky": {"sun_elevation_deg": 40},
    "terrain": {"kind": "flat", "depth": 6},
    "objects": {
        "pier": {"prop": "pier", "pose": {"position": [17, 7.5, 0], "yaw_deg": -60}},
        "rock": {"prop": "rock", "pose": {"position": [15, -8.5, 0.1]}, "geometry": {"scale": [2.2, 1.6, 1.2]}},
        "port": {"prop": "buoy_port", "pose": {"position": [8, 3.2, 0]}},
        "starboard": {"prop": "buoy_starboard", "pose": {"position": [9, -3.6, 0]}},
        "north": {"prop": "buoy_cardinal_north", "pose": {"position": [12, -0.6, 0]}},
        "mooring": {"prop": "buoy_mooring", "pose": {"position": [6, 1.0, 0]}},
        "spar": {"prop": "buoy_spar", "pose": {"position": [6.5, -1.6, 0]}},
        "float": {"prop": "float", "pose": {"position": [4.5, -0.6, 0]}},
    },
}

DUSK = {
    "sky": {"brightness": 0.02, "sun_elevation_deg": 20},
    "water": {"optical_type": "IB"},
    "terrain": {"kind": "flat", "depth": 6},
    "objects": {
        "lights": {"prop": "docking_lights", "pose": {"position": [5, 0.9, -4.9], "yaw_deg": 180}},
        "tag": {
            "prop": "aruco_post",
            "pose": {"position": [3.2, -0.6, -6], "yaw_deg": 180},
            "shapes": {"marker": {"geometry": {"id": 7}}},
        },
    },
}


def render_props():
    """Render props, and scenarios made of them."""

    def swim(robots):
        for name in ("ML", "MR"):
            robots["okon"].actuators[name].command(throttle=0.25)

    def fly(robots):
        robots["evolo"].controllers["flight"].command(speed_kn=10)

    render_from(AFLOAT, "props_afloat", [-1.5, 0, 1.7], 0, 7, 6.0, fov=42.0)
    render_from(DUSK, "props_dusk", [0, 0, -4.8], 0, 4, 1.0, fov=45.0)
    render_from("okon_pool", "okon_pool", [-18.6, -1.3, -0.8], 20, 12, 9.0, start=swim)
    render_from("evolo_slalom", "evolo_slalom", [-23, -4, 1.8], 14, 5, 8.0, fov=45.0, start=fly)
    render_from("algae_farm", "algae_farm", [-21.5, 4.6, -1.9], -22, 6, 6.0)


def render_bay():
    """Render the demonstration: the whole bay from above its shore, and the view from the landing."""
    render_from("demo", "bay", [20, 240, 60], -98.0, 16.0, 1.0, fov=45.0, size=(800, 450))
    render_from("demo", "demo", [2.5, 175.5, 3.2], -80.0, 8.0, 1.0, fov=45.0, size=(800, 450))


FOLDER.mkdir(parents=True, exist_ok=True)
survey()
draw_forward_sonar()
draw_lidar()
render_camera()
render_props()
render_bay()
