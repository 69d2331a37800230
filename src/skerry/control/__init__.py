"""Controllers that a robot may carry, one kind per file."""

NOT_KINDS = ("allocation", "keyboard", "navigation", "pid", "spline")
