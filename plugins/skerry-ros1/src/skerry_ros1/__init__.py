"""ROS 1 over TCPROS: a transport plug-in for Skerry, which uses the standard library only."""
