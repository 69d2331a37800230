"""Transports to ROS peers: one sub-package per kind, and the base classes that some kinds share."""
