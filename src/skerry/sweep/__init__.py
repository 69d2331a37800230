"""Parameter sweeps: many runs of one scenario with varied values and metrics, on this machine or on a Ray cluster."""

from skerry.sweep.config import SweepConfig, read_sweep
from skerry.sweep.plan import Plan, make_plan
from skerry.sweep.sweep import Report, run_sweep

__all__ = ["Plan", "Report", "SweepConfig", "make_plan", "read_sweep", "run_sweep"]
