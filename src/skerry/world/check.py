"""Check of scenario and vehicle files: everything is loaded and built, but no step is made."""

from __future__ import annotations

from pathlib import Path

from skerry.core.errors import SkerryError
from skerry.core.text import count_noun
from skerry.scenario.vehicle import find_vehicle
from skerry.world.build import build_world
from skerry.world.world import World


def check_file(name: str) -> str:
    """Check a scenario or a vehicle.

    Args:
        name: Name of a shipped scenario, path of a scenario file, or folder of a vehicle.

    Returns:
        A description for the terminal.

    Raises:
        SkerryError: The file is invalid; the message lists all faults.
    """
    path = Path(name).expanduser()
    if path.is_dir() or path.name == "vehicle.yaml":
        folder = path.parent if path.name == "vehicle.yaml" else path
        if find_vehicle(str(folder.resolve()), None) is None:
            raise SkerryError(f"{folder}: this folder has no vehicle.yaml")
        reference = {"latitude_deg": 0.0, "longitude_deg": 0.0}  # some sensors need one
        robots = {"vehicle": {"vehicle": str(folder.resolve())}}
        with build_world({"robots": robots, "reference": reference}) as world:
            robot = world.robots["vehicle"]
            links, forces = count_noun(len(robot.links), "link"), count_noun(len(robot.forces), "force")
            sensors = count_noun(len(robot.sensors), "sensor")
            return f"a vehicle with {links}, {forces} and {sensors}{_estimates(world)}"
    with build_world(name) as world:
        scenario = world.scenario
        _check_interfaces(world)
        contents = f"{count_noun(len(scenario.robots), 'robot')} and {count_noun(len(scenario.objects), 'object')}"
        return f"a scenario with {contents}; step {scenario.step} s{_estimates(world)}"


def _check_interfaces(world: World) -> None:
    """Raise an error if one of the scenario's interfaces could not start."""
    for name, config in world.scenario.interfaces.items():
        interface = config.build()
        try:
            interface.check(world)
        except SkerryError as error:
            raise SkerryError(f"interfaces.{name}: {error}") from None
        finally:
            interface.close()


def _estimates(world: World) -> str:
    """Return one line for each group of forces that was estimated from shapes, with method and quality."""
    found: dict[tuple[str, str], list[str]] = {}
    for robot in world.robots.values():
        for name, law in robot.forces.items():
            if law.estimate:
                found.setdefault((robot.name, law.estimate), []).append(name)
    return "".join(
        f"\n  {robot}.forces.{', '.join(names)}: estimated: {method}" for (robot, method), names in found.items()
    )
