"""ROS messages: type definitions, the codec between objects and bytes, and the encoders of sensor readings."""
