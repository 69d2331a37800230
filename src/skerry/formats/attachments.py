"""Attachments: URDF files whose links and joints are added to a robot; their root link is a link of the robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.formats.urdf import UrdfRobot
from skerry.formats.urdf_files import read_urdf


def attach(robot: UrdfRobot, files: Iterable[Path]) -> UrdfRobot:
    """Return the robot with the links and joints of these URDF files.

    Raises:
        FileError: A file does not fit the robot: its root link is unknown, or a name is already used.
    """
    for path in files:
        attachment = read_urdf(path)
        top = attachment.root
        faults = []
        if top not in robot.links:
            hint = did_you_mean(top, robot.links)
            problem = f"its root link must be a link of the vehicle, found {top!r}"
            faults.append(Fault("robot", problem, hint=hint))
        for noun, own, others in (
            ("link", attachment.links.keys() - {top}, robot.links),
            ("joint", attachment.joints, robot.joints),
        ):
            faults += [
                Fault(f'{noun} "{name}"', f"the vehicle already has a {noun} of this name")
                for name in own
                if name in others
            ]
        if faults:
            raise FileError(str(path), faults)
        robot = replace(
            robot,
            links={**attachment.links, **robot.links},
            joints={**robot.joints, **attachment.joints},
            materials={**attachment.materials, **robot.materials},
        )
    return robot
