"""The operator's page: a server inside the simulator, and the page that browsers get from it."""
