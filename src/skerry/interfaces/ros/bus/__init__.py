"""Topics, services, actions and parameters of the simulator, and the queues of their subscribers, without a transport.

A transport connects the bus to peers; `transport` defines the base class of transports.
"""
