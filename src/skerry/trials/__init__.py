"""Sea trials: standard manoeuvres of any steerable vehicle, with the figures of the IMO standard."""

from skerry.trials.result import Result
from skerry.trials.trial import MANOEUVRES, run_trial, write_result

__all__ = ["MANOEUVRES", "Result", "run_trial", "write_result"]
