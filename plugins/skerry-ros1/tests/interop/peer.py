"""A node of ROS 1 that talks with ours, by Debian's rospy; it offers services, says `ready`, and ends when told."""

import sys

import rospy
from sensor_msgs.msg import Imu
from std_msgs.msg import Empty, Float64, String
from std_srvs.srv import SetBool, Trigger, TriggerResponse

rospy.init_node("peer")


def fail(request):
    raise rospy.ServiceException("not today")


assert rospy.get_param("/utm_zone") == 33
assert rospy.get_param("/utm_band") == "V"
assert rospy.get_param("/sam/max_pitch") == 0.5
assert rospy.get_param("/use_sim_time") is True

imu = rospy.wait_for_message("/imu", Imu, timeout=10)
assert imu.header.frame_id == "imu_link", imu
numbers = []
counting = rospy.Subscriber("/imu", Imu, lambda message: numbers.append(message.header.seq), tcp_nodelay=True)
while len(numbers) < 5:
    rospy.rostime.wallsleep(0.01)
assert numbers[:5] == list(range(numbers[0], numbers[0] + 5)), numbers
assert rospy.wait_for_message("/still", String, timeout=10).data == "said before you came"
assert (
    "orientation" in rospy.wait_for_message("/imu", rospy.AnyMsg, timeout=10)._connection_header["message_definition"]
)
mistaken = rospy.Subscriber("/mistaken", String, lambda message: sys.exit("this is no String"))

rospy.wait_for_service("/pause", timeout=10)  # which probes it
pause = rospy.ServiceProxy("/pause", SetBool, persistent=True)
for _ in range(3):
    assert pause(True).message == "as you wish"
try:
    pause(False)
except rospy.ServiceException as error:
    assert "it never goes on" in str(error), error
else:
    raise SystemExit("a call that fails has an answer")
assert rospy.ServiceProxy("/pause", SetBool)(True).success

rospy.Service("/theirs", Trigger, lambda request: TriggerResponse(True, "from rospy"))
rospy.Service("/failing", Trigger, fail)
rospy.Service("/mistyped", SetBool, fail)
command = rospy.Publisher("/command", Float64, queue_size=1, latch=True)
command.publish(2.5)
strange = rospy.Publisher("/strange", String, queue_size=1)
over = []
rospy.Subscriber("/over", Empty, over.append)
print("ready", flush=True)
while not over:
    rospy.rostime.wallsleep(0.02)
print("peer is content", flush=True)
