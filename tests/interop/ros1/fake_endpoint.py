"""Fake ROS-TCP-Endpoint on a real ROS 1, run by the Python of Debian. Arguments: port, and a file of definitions.

It implements the protocol of the endpoint, and uses a real master and rospy.
"""

import importlib
import json
import socket
import struct
import sys
from io import BytesIO
from pathlib import Path
from queue import Queue
from threading import Thread

import rospy
from genpy.dynamic import generate_dynamic


class FakeEndpoint:
    """Endpoint with one connection at a time; a topic or service that is registered again replaces the earlier one."""

    def __init__(self, definitions):
        self.definitions = definitions
        self.connection = None
        self.registered = {}
        self.waiting = {}
        self.pending = None
        self.calls = iter(range(1001, 10**9))

    def serve(self, port):
        with socket.create_server(("127.0.0.1", port)) as server:
            while True:
                self.connection, _ = server.accept()
                told = {"version": "v0.7.0", "metadata": json.dumps({"protocol": "ROS1"})}
                self.send("__handshake", json.dumps(told).encode())
                try:
                    while True:
                        self.take(self.piece().decode(), self.piece())
                except EOFError:
                    self.connection.close()

    def piece(self):
        return self.exactly(struct.unpack("<I", self.exactly(4))[0])

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def send(self, *frames):
        """Send frames of alternating names and payloads in one call."""
        pieces = [frame.encode() if isinstance(frame, str) else frame for frame in frames]
        self.connection.sendall(b"".join(struct.pack("<I", len(piece)) + piece for piece in pieces))

    def take(self, name, payload):
        if self.pending is not None:
            (is_request, number), self.pending = self.pending, None
            if is_request:
                Thread(target=self.call, args=(number, name, payload), daemon=True).start()
            else:
                self.waiting.pop(number).put(payload)
        elif name in ("__request", "__response"):
            self.pending = (name == "__request", json.loads(payload)["srv_id"])
        elif name.startswith("__"):
            self.register(name[2:], **json.loads(payload))
        elif name:
            publisher, kind = self.registered["publish", name]
            publisher.publish(kind().deserialize(payload))

    def register(self, word, topic, message_name, queue_size=10, latch=False):
        try:
            kind = self.find(message_name, "msg" if word in ("publish", "subscribe") else "srv")
        except (ImportError, AttributeError, KeyError):
            text = f"SysCommand.{word} - Unknown message class '{message_name}'"
            return self.send("__error", json.dumps({"text": text}).encode())
        if (word, topic) in self.registered:
            part = self.registered.pop((word, topic))[0]
            getattr(part, {"unity_service": "shutdown", "ros_service": "close"}.get(word, "unregister"))()
        if word == "publish":
            made = rospy.Publisher(topic, kind, queue_size=queue_size, latch=latch)
        elif word == "subscribe":
            made = rospy.Subscriber(topic, kind, lambda message: self.send(topic, octets(message)))
        elif word == "unity_service":
            made = rospy.Service(topic, kind, lambda request: self.ask(topic, kind, request))
        else:
            made = rospy.ServiceProxy(topic, kind)
        self.registered[word, topic] = made, kind

    def find(self, name, group):
        package, short = name.split("/")
        if name in self.definitions and group == "msg":
            return generate_dynamic(name, self.definitions[name])[name]
        return getattr(importlib.import_module(package + "." + group), short)

    def ask(self, topic, kind, request):
        number, answer = next(self.calls), Queue()
        self.waiting[number] = answer
        self.send("__request", json.dumps({"srv_id": number}).encode(), topic, octets(request))
        return kind._response_class().deserialize(answer.get(timeout=20))

    def call(self, number, topic, payload):
        proxy, kind = self.registered["ros_service", topic]
        answer = proxy(kind._request_class().deserialize(payload))
        self.send("__response", json.dumps({"srv_id": number}).encode(), topic, octets(answer))


def octets(message):
    buffer = BytesIO()
    message.serialize(buffer)
    return buffer.getvalue()


rospy.init_node("stand_in", disable_rostime=True)
FakeEndpoint(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))).serve(int(sys.argv[1]))
