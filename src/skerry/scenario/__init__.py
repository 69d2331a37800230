"""Schema and loading: YAML to a checked `Scenario`."""

from skerry.scenario.loading import find_scenario, load_scenario
from skerry.scenario.schema import Scenario

__all__ = ["Scenario", "find_scenario", "load_scenario"]
