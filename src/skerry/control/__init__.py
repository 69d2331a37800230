"""Controllers that a robot may carry, one kind per file."""

NOT_KINDS = (
    *("allocation", "helm", "keyboard", "limits", "load_law", "loops", "navigation", "pid", "reflexes", "spline"),
    *("tracking_law", "tracking_reflex"),
)
