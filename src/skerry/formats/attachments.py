"""What may be fitted to a robot: links and joints of a URDF of their own, whose topmost link is one of the robot's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.formats.urdf import UrdfRobot
from skerry.formats.urdf_files import read_urdf


def attach(robot: UrdfRobot, files: Iterable[Path]) -> UrdfRobot:
    """The robot with what these files hold; raise `FileError` where one does not go with it."""
    for path in files:
        fitting = read_urdf(path)
        top = fitting.root
        faults = []
        if top not in robot.links:
            hint = did_you_mean(top, robot.links)
            problem = f"its topmost link must be one of the vehicle's, on which it sits, not {top!r}"
            faults.append(Fault("robot", problem, hint=hint))
        for word, own, others in (
            ("link", fitting.links.keys() - {top}, robot.links),
            ("joint", fitting.joints, robot.joints),
        ):
            faults += [Fault(f'{word} "{name}"', "the vehicle has one of this name") for name in own if name in others]
        if faults:
            raise FileError(str(path), faults)
        robot = replace(
            robot,
            links={**fitting.links, **robot.links},
            joints={**robot.joints, **fitting.joints},
            materials={**fitting.materials, **robot.materials},
        )
    return robot
