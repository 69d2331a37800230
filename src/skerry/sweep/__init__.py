"""Many runs of one scenario: what varies, what is measured, and where the runs are done."""

from skerry.sweep.config import SweepConfig, read_sweep
from skerry.sweep.plan import Plan, make_plan
from skerry.sweep.sweep import Report, run_sweep

__all__ = ["Plan", "Report", "SweepConfig", "make_plan", "read_sweep", "run_sweep"]
