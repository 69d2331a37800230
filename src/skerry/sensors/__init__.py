"""Sensors, one kind per file."""

NOT_KINDS = (
    "echoes",
    "lidar_patterns",
    "lidar_returns",
    "ray_sensor",
    "sonar",
)
