"""ROS 2 and ROS 1 without ROS being installed: one vocabulary, one codec, one bus, and transports that carry it."""
