"""Controllers that a robot may carry, one kind per file."""

NOT_KINDS = ("allocation", "helm", "keyboard", "limits", "loops", "navigation", "pid", "spline", "tracking_law")
