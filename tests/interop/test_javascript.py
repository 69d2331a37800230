"""Clients that others wrote in JavaScript, over real WebSockets: roslib with rosbridge, and that of Foxglove."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.runner import Runner

PEERS = Path(__file__).parent / "node"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (PEERS / "node_modules").is_dir(),
    reason="needs Node.js and `npm ci --prefix tests/interop/node`, which scripts/test does where npm is there",
)

COMMON = """
const check = (truth, what) => { if (!truth) { console.error("not so:", what); process.exit(1); } };
setTimeout(() => check(false, "it ends within a minute"), 60000).unref();
const port = process.argv[1];
"""

ROSLIB = (
    COMMON
    + """
import * as ROSLIB from "roslib";
const ros = new ROSLIB.Ros({ url: `ws://127.0.0.1:${port}` });
await new Promise((done, failed) => { ros.on("connection", done); ros.on("error", failed); });

const topics = await new Promise((done) => ros.getTopics(done));
check(topics.topics.includes("/sam/core/imu"), "the topic of the IMU is there");

async function first(name, messageType, settings) {
  const topic = new ROSLIB.Topic({ ros, name, messageType, ...settings });
  const message = await new Promise((done) => topic.subscribe(done));
  topic.unsubscribe();
  return message;
}
for (const compression of ["none", "png", "cbor"]) {
  const imu = await first("/sam/core/imu", "sensor_msgs/Imu", { compression });
  check(imu.header.frame_id === "sam/imu_link_gt", `${compression}: the frame`);
  check(Math.abs(imu.linear_acceleration.z - 9.8) < 2, `${compression}: gravity`);
  check(imu.orientation_covariance.length === 9, `${compression}: an array`);
}
const scan = await first("/sam/payload/sidescan", "smarc_msgs/Sidescan", { compression: "cbor" });
check(scan.port_channel instanceof Uint8Array && scan.port_channel.length === 1000, "bytes are bytes in CBOR");
const raw = await first("/sam/core/imu", "sensor_msgs/Imu", { compression: "cbor-raw" });
check(raw.bytes.length === 332 && raw.bytes[1] === 1, "CDR of an Imu");

const command = new ROSLIB.Topic({ ros, name: "/sam/core/thruster1_cmd", messageType: "smarc_msgs/ThrusterRPM" });
const feedback = new ROSLIB.Topic({ ros, name: "/sam/core/thruster1_fb", messageType: "smarc_msgs/ThrusterFeedback" });
const turning = new Promise((done) => feedback.subscribe((found) => Math.abs(found.rpm.rpm - 700) < 5 && done()));
const often = setInterval(() => command.publish({ rpm: 700 }), 50);
await turning;
clearInterval(often);

const pause = new ROSLIB.Service({ ros, name: "/skerry/pause", serviceType: "std_srvs/SetBool" });
for (const data of [true, false]) {
  const answer = await new Promise((done, failed) => pause.callService({ data }, done, failed));
  check(answer.success === true, "pausing is answered");
}
const zone = await new Promise((done) => new ROSLIB.Param({ ros, name: "/utm_zone" }).get(done));
check(zone === 33, `the zone is 33, not ${zone}`);
ros.close();
process.exit(0);
"""
)

FOXGLOVE = (
    COMMON
    + """
import foxglove from "@foxglove/ws-protocol";
import { WebSocket } from "ws";
const { FoxgloveClient } = foxglove;
const client = new FoxgloveClient({
  ws: new WebSocket(`ws://127.0.0.1:${port}`, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]),
});
const once = (name, fits = () => true) => new Promise((done) => {
  const listen = (event) => { if (fits(event)) { client.off(name, listen); done(event); } };
  client.on(name, listen);
});
client.on("error", (error) => check(false, error));
client.on("status", (status) => check(status.level < 2, status.message));
const first = ["serverInfo", "advertise", "advertiseServices"].map((name) => once(name));
const [info, channels, services] = await Promise.all(first);
check(info.supportedEncodings.includes("cdr"), "CDR is spoken");
const byTopic = new Map(channels.map((channel) => [channel.topic, channel]));
const imu = byTopic.get("/sam/core/imu");
check(imu.schemaName === "sensor_msgs/msg/Imu" && imu.schemaEncoding === "ros2msg", "the schema of an Imu");
check(imu.schema.includes("geometry_msgs/Quaternion orientation"), "its text");

const time = once("time");
const subscription = client.subscribe(imu.id);
const message = await once("message", (event) => event.subscriptionId === subscription);
check(message.data.byteLength === 332 && message.data.getUint8(1) === 1, "CDR of an Imu");
check((await time).timestamp > 0n && message.timestamp > 0n, "simulated time");
client.unsubscribe(subscription);

const topic = "/sam/core/thruster1_cmd";
const said = client.advertise({ topic, encoding: "cdr", schemaName: "smarc_msgs/msg/ThrusterRPM" });
const rpm = new DataView(new ArrayBuffer(8));
rpm.setUint8(1, 1);
rpm.setInt32(4, 700, true);
const watching = client.subscribe(byTopic.get("/sam/core/thruster1_fb").id);
const often = setInterval(() => client.sendMessage(said, new Uint8Array(rpm.buffer)), 50);
await once("message", ({ subscriptionId, data }) => {
  if (subscriptionId !== watching) return false;
  const text = data.getUint32(12, true);  // behind the encapsulation and the stamp
  const place = 16 + text + ((4 - (text % 4)) % 4);
  return Math.abs(data.getInt32(place, true) - 700) < 5;
});
clearInterval(often);

const pause = services.find((service) => service.name === "/skerry/pause");
async function call(encoding, octets) {
  const data = new DataView(Uint8Array.from(octets).buffer);
  client.sendServiceCallRequest({ serviceId: pause.id, callId: 5, encoding, data });
  const answer = await once("serviceCallResponse", (event) => event.callId === 5);
  check(answer.encoding === encoding, "the encoding of the answer");
  return answer.data;
}
const paused = await call("json", new TextEncoder().encode('{"data": true}'));
check(JSON.parse(new TextDecoder().decode(paused)).success === true, "it pauses");
check((await call("cdr", [0, 1, 0, 0, 0]))[4] === 1, "it goes on");
client.getParameters(["/utm_zone"], "mine");
const values = await once("parameterValues", (event) => event.id === "mine");
check(values.parameters[0].value === 33, "the zone is 33");
client.subscribeConnectionGraph();
const graph = await once("connectionGraphUpdate");
check(graph.subscribedTopics.some((topic) => topic.name === "/sam/core/thruster1_cmd"), "who hears commands");
client.close();
process.exit(0);
"""
)


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        found: int = reserved.getsockname()[1]
    return found


@pytest.fixture
def serve(port: int, request: pytest.FixtureRequest) -> Iterator[RosInterface]:
    ros = Ros.model_validate({"transports": {"it": {"kind": request.param, "port": port}}}).build()
    assert isinstance(ros, RosInterface)
    with skerry.load("sam_in_the_bay") as world, Runner(world, 1.0, {"ros": ros}) as runner:
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        wait_for(port)
        yield ros
        runner.stop()
        thread.join(30)


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return


def run_in_node(code: str, port: int) -> None:
    arguments = ["node", "--input-type=module", "--eval", code, "--", str(port)]
    found = subprocess.run(arguments, cwd=PEERS, capture_output=True, text=True, timeout=600, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("serve", ["rosbridge"], indirect=True)
def test_roslib_sees_and_commands_sam_in_every_compression(serve: RosInterface, port: int) -> None:
    run_in_node(ROSLIB, port)
    assert "dropped" not in serve.status


@pytest.mark.parametrize("serve", ["foxglove"], indirect=True)
def test_the_client_of_foxglove_sees_and_commands_sam(serve: RosInterface, port: int) -> None:
    run_in_node(FOXGLOVE, port)
    assert "dropped" not in serve.status
