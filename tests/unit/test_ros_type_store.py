"""The type store: definitions are parsed correctly, and type hashes are equal to those of ROS 2."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from skerry.core.errors import SkerryError, UnknownName
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.messages.types import FieldType, parse_action, parse_message, parse_service

PACKAGES = {
    *(
        "action_msgs",
        "builtin_interfaces",
        "dead_reckoning_msgs",
        "diagnostic_msgs",
        "geographic_msgs",
        "geometry_msgs",
    ),
    *("nav_msgs", "rosgraph_msgs", "sam_msgs", "sensor_msgs", "smarc_control_msgs", "smarc_mission_msgs", "smarc_msgs"),
    *("geometry_msgs", "std_msgs", "std_srvs", "tf2_msgs"),
}

# Published by ROS 2 itself: the design of rmw_zenoh (String, AddTwoInts), and the tables of others who talk to Jazzy.
PUBLISHED = {
    "std_msgs/msg/String": "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "geometry_msgs/msg/PoseStamped": "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8",
    "rcl_interfaces/msg/Log": "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac",
    "std_srvs/srv/SetBool": "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
    "std_srvs/srv/Trigger": "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f",
    "std_srvs/srv/Empty": "RIHS01_5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19",
    "example_interfaces/srv/AddTwoInts": "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
    "example_interfaces/action/Fibonacci_SendGoal": (
        "RIHS01_d1a57fb2a4afe8c21e34fb10db206f16ce6729b28531141472df92277c55b557"
    ),
    "example_interfaces/action/Fibonacci_GetResult": (
        "RIHS01_1b0de0d5d29dc955d92f546706568428632771db13ec84c15ec1c1a59f424a57"
    ),
}

# From the type descriptions in the packages of ROS 2 Jazzy.
PUBLISHED |= {
    "diagnostic_msgs/srv/AddDiagnostics": "RIHS01_6b91084c9f8bffd9b0c1f6883e0e8e491a831f4fc6c6aec77a4efaf3f1ea90b5",
    "diagnostic_msgs/srv/SelfTest": "RIHS01_df1e4e54a814a16ccc77471e9239618d46818e8d0e3b45ad6f8c34c6e2abfef6",
    "nav_msgs/msg/Goals": "RIHS01_02305a51633b5c04d8979b878a7577cafd422f8a07465c878b17a920af3759e9",
    "nav_msgs/srv/GetMap": "RIHS01_c8ae77c9995b3554b5ba80e4d4d443f970ac65143102a1d893ec24fc07b31147",
    "nav_msgs/srv/GetPlan": "RIHS01_234f7aff100f5edb8150366601687b027bcdc253db47decb88fff846193fe5e8",
    "nav_msgs/srv/LoadMap": "RIHS01_1a192ac56c40fed2767dac26f0b371785372276bd465c902676d2dca135aae5a",
    "nav_msgs/srv/SetMap": "RIHS01_5e11a5b2ca53d8ae85b666a019f16c9904ebc787828f1f566c4e048a1ddedfb4",
    "rcl_interfaces/srv/GetLoggerLevels": "RIHS01_03bf1bebd0d6514c7ed0ba7c5e08dc9f2f39c759fe99e1e30ea4157d7674f72d",
    "rcl_interfaces/srv/SetLoggerLevels": "RIHS01_3ff86cb4e91fbf9abae15c234ecc874448de6ece8e193401c077cf116e4f6d78",
    "sensor_msgs/srv/SetCameraInfo": "RIHS01_a10cca5d33dc637c8d49db50ab288701a3592bb9cd854f2f16a0659613b68984",
}

# From smarc-project/smarc2, commit c2bd1d0.
SMARC_CONSTANTS = {
    "sam_msgs/Links": {"PRESS_LINK": "pressure_link", "ODOM_LINK": "odom"},
    "sam_msgs/Topics": {
        "DEPTH_TOPIC": "core/depth20_pressure",
        "TCG_CMD_TOPIC": "core/tcg_cmd",
        "CTD_FB_TOPIC": "core/ctd_fb",
        "TOGGLE_SIDESCAN_SERVICE": "payload/toggle_sidescan",
    },
    "smarc_mission_msgs/Topics": {"BT_LAST_WP_TOPIC": "mission/last_wp"},
    "smarc_control_msgs/Topics": {"STATES_CONV": "ctrl/conv/states", "WAYPOINT_CONV": "ctrl/conv/waypoint"},
    "dead_reckoning_msgs/Topics": {"DR_ODOM_X_TOPIC": "dr/x", "DR_ODOM_ALT_TOPIC": "dr/alt"},
}


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "example_interfaces"
    (package / "srv").mkdir(parents=True)
    (package / "action").mkdir()
    (package / "srv" / "AddTwoInts.srv").write_text("int64 a\nint64 b\n---\nint64 sum\n")
    (package / "action" / "Fibonacci.action").write_text("int32 order\n---\nint32[] sequence\n---\nint32[] sequence\n")
    return tmp_path


def test_every_package_is_there() -> None:
    type_store = TypeStore()
    found = {name.split("/")[0] for folder in ("msg", "srv", "action") for name in type_store.names(folder)}
    assert found >= PACKAGES


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_hash_is_the_published_one(name: str, examples: Path) -> None:
    assert TypeStore([examples], "jazzy").hash(name) == PUBLISHED[name]


@pytest.mark.parametrize("name", SMARC_CONSTANTS)
def test_constants_of_smarc_have_their_public_names(name: str) -> None:
    found = {constant.name: constant.value for constant in TypeStore().message(name).constants}
    assert found | SMARC_CONSTANTS[name] == found


@pytest.mark.parametrize(("distribution", "store"), [("humble", Stores.ROS2_HUMBLE), ("jazzy", Stores.ROS2_JAZZY)])
def test_standard_messages_hash_as_those_of_rosbags(distribution: str, store: Stores) -> None:
    """`rosbags` differs where a type has a `char`, which it hashes by its own name instead of as uint8."""
    type_store, theirs = TypeStore(distribution=distribution), get_typestore(store)  # type: ignore[arg-type]
    known = [name for name in type_store.names("msg") if name in theirs.fielddefs]
    assert len(known) > 110
    differing = {name for name in known if type_store.hash(name) != theirs.hash_rihs01(name)}
    assert differing <= {"service_msgs/msg/ServiceEventInfo", "std_msgs/msg/Char"}


def test_every_definition_can_be_read() -> None:
    for distribution in ("humble", "jazzy", "noetic"):
        type_store = TypeStore(distribution=distribution)  # type: ignore[arg-type]
        for name in type_store.names("msg"):
            assert type_store.message(name).name == name
        for name in type_store.names("srv"):
            assert type_store.service(name).request.name == f"{name}_Request"
        for name in type_store.names("action"):
            assert type_store.message(f"{name}_SendGoal_Request") is type_store.action(name).send_goal.request


@pytest.mark.parametrize("distribution", ["humble", "jazzy"])
def test_the_text_of_every_definition_can_be_read_by_rosbags(distribution: str) -> None:
    """Parts of services and actions too, which a recording or a Foxglove client may need."""
    types = TypeStore(distribution=distribution)
    names = types.names("msg")
    for action in map(types.action, types.names("action")):
        names += [action.goal.name, action.result.name, action.feedback.name, action.feedback_message.name]
    for name in names:
        package, _, short = name.split("/")
        text = types.definition(name)
        read = get_types_from_msg(text, f"{package}/msg/{short}")
        fields = [field.name for field in types.message(name).fields]
        assert [field for field, _ in read[f"{package}/msg/{short}"][1]] == fields


def test_smarc_messages_have_their_fields_in_order() -> None:
    type_store = TypeStore()

    def fields(name: str) -> list[str]:
        return [field.name for field in type_store.message(name).fields]

    assert fields("smarc_msgs/PercentStamped") == ["value", "header"]
    assert fields("smarc_msgs/ThrusterFeedback") == ["header", "rpm", "dc", "current", "torque"]
    assert fields("sam_msgs/ThrusterAngles") == ["thruster_vertical_radians", "thruster_horizontal_radians", "header"]
    assert fields("smarc_msgs/DVL") == ["header", "velocity", "velocity_covariance", "altitude", "beams"]
    assert "port_channel_angle_high" in fields("smarc_msgs/Sidescan")
    assert "port_channel_angle_high" not in [
        field.name for field in TypeStore(distribution="noetic").message("smarc_msgs/Sidescan").fields
    ]


def test_all_that_a_definition_may_say_is_understood() -> None:
    text = """
        # a comment
        Header header        # of ROS 1
        time[] times
        string<=5[<=3] words
        uint8[4] bytes
        Other other
        float64 w 1.0
        string NAME = "a # b"
        int32 MASK=0x10
    """
    message = parse_message(text, "mine/msg/Thing", "Thing.msg")
    assert [(field.name, field.type) for field in message.fields] == [
        ("header", FieldType("std_msgs/msg/Header")),
        ("times", FieldType("builtin_interfaces/msg/Time", "open")),
        ("words", FieldType("string", "bounded", 3, 5)),
        ("bytes", FieldType("uint8", "fixed", 4)),
        ("other", FieldType("mine/msg/Other")),
        ("w", FieldType("float64")),
    ]
    assert message.fields[-1].default == "1.0"
    assert [(constant.name, constant.value) for constant in message.constants] == [("NAME", "a # b"), ("MASK", 16)]


@pytest.mark.parametrize(
    ("text", "words"),
    [("float64", "line 1"), ("wstring s", "wstring"), ("int8 a\nint8 a", "twice"), ("a/b/c/d e", "not the name")],
)
def test_a_bad_definition_says_where(text: str, words: str) -> None:
    with pytest.raises(SkerryError, match=words):
        parse_message(text, "mine/msg/Thing", "Thing.msg")


def test_a_folder_of_the_user_goes_before_what_ships(examples: Path) -> None:
    folder = examples / "deep" / "std_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "String.msg").write_text("string data\nstring language\n")
    names = [field.name for field in TypeStore([examples]).message("std_msgs/String").fields]
    assert names == ["data", "language"]


def test_what_is_unknown_is_answered_with_a_guess(tmp_path: Path) -> None:
    type_store = TypeStore()
    with pytest.raises(UnknownName, match=r"did you mean 'sensor_msgs/msg/Imu'.*message_paths"):
        type_store.message("sensor_msgs/Imuu")
    for name in ("std_srvs/srv/SetBool_Reply", "sam_msgs/action/SystemsCheck_Thing"):
        with pytest.raises(UnknownName):
            type_store.message(name)
    with pytest.raises(UnknownName, match="service"):
        type_store.service("std_srvs/Nothing")
    with pytest.raises(SkerryError, match="no definitions"):
        TypeStore([tmp_path])


WORDS = ("float64", "string", "string<=9", "x", "X=", "=", "[", "[3]", "[<=3]", "a/B", "#", "9" * 30, "true")
WORD = st.sampled_from(WORDS)


@given(st.text(max_size=80) | st.lists(WORD | st.just("\n"), max_size=12).map(" ".join))
def test_a_text_that_is_no_definition_is_refused_in_words(text: str) -> None:
    for parse, name in ((parse_message, "a/msg/B"), (parse_service, "a/srv/B"), (parse_action, "a/action/B")):
        with suppress(SkerryError):
            parse(text, name, "here")
