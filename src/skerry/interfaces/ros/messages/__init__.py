"""ROS messages: type definitions, the codec and the encoders of readings."""
