"""Participant of RTPS, the wire protocol of DDS, in plain Python: discovery and reliable endpoints for services.

The wheel of Cyclone DDS cannot send the parameter PID_RELATED_SAMPLE_IDENTITY, with which Fast DDS assigns a response
to its request. Source of the protocol: OMG, "The Real-time Publish-Subscribe Protocol DDS Interoperability Wire
Protocol", version 2.3, formal/2019-04-03.
"""
