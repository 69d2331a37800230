"""Virtual sea trials: standard manoeuvres of any vehicle that can be steered, and the figures that the IMO asks for."""

from skerry.trials.result import Result
from skerry.trials.trial import MANOEUVRES, run_trial, write_result

__all__ = ["MANOEUVRES", "Result", "run_trial", "write_result"]
