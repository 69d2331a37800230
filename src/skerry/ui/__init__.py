"""The operator's page: an HTTP and WebSocket server inside the simulator, and the web page that it serves."""
