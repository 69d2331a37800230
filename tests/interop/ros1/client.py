"""What a user of ROS 1 does, by Debian's rospy and actionlib: a file of definitions."""

import json
import sys
from pathlib import Path

import rospy
from genpy.dynamic import generate_dynamic

rospy.set_param("/use_sim_time", True)
rospy.init_node("client")

import actionlib  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import Imu  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

definitions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


def kind(name):
    return generate_dynamic(name, definitions[name])[name]


imu = rospy.wait_for_message("/sam/core/imu", Imu, timeout=30)
assert imu.header.frame_id == "sam/imu_link_gt", imu
clock = rospy.wait_for_message("/clock", Clock, timeout=30)
assert abs((rospy.Time.now() - clock.clock).to_sec()) < 1.0, "nodes go by simulated time"
still = rospy.wait_for_message("/tf_static", TFMessage, timeout=30)  # latched: published before this node started
assert still.transforms[0].header.frame_id == "utm_ned", still

rospy.wait_for_service("/sam/core/toggle_dvl", timeout=30)
answer = rospy.ServiceProxy("/sam/core/toggle_dvl", SetBool)(False)
assert answer.success, answer

rpm, feedback = kind("smarc_msgs/ThrusterRPM"), kind("smarc_msgs/ThrusterFeedback")
commands = rospy.Publisher("/sam/core/thruster1_cmd", rpm, queue_size=1)
for _ in range(100):
    commands.publish(rpm(700))
    if abs(rospy.wait_for_message("/sam/core/thruster1_fb", feedback, timeout=30).rpm.rpm - 700) < 5:
        break
else:
    raise SystemExit("the thruster does not turn")


class Action:
    def __init__(self):
        self.action_goal = kind("smarc_msgs/GotoWaypointActionGoal")()
        self.action_result = kind("smarc_msgs/GotoWaypointActionResult")()
        self.action_feedback = kind("smarc_msgs/GotoWaypointActionFeedback")()


def go(east, **callbacks):
    goal = type(client.action_client.ActionGoal().goal)()
    goal.waypoint_pose.header.frame_id = "map"
    goal.waypoint_pose.pose.position.x = east
    goal.goal_tolerance, goal.speed_control_mode, goal.travel_rpm = 2.0, 1, 900.0
    client.send_goal(goal, **callbacks)


client = actionlib.SimpleActionClient("/sam/ctrl/goto_waypoint", Action)
assert client.wait_for_server(rospy.Duration(30)), "no server of the action"
heard = []
go(500.0, feedback_cb=heard.append)
while not heard:
    rospy.sleep(0.1)
assert "to go" in heard[0].feedback_message, heard[0]
client.cancel_goal()
assert client.wait_for_result(rospy.Duration(30)), "it does not end"
assert client.get_state() == actionlib.GoalStatus.PREEMPTED, client.get_state()
go(8.0)
assert client.wait_for_result(rospy.Duration(60)), "it does not arrive"
assert client.get_state() == actionlib.GoalStatus.SUCCEEDED, client.get_state()
assert client.get_result().reached_waypoint
print("peer is content")
