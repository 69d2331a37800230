"""Settings: accepted and rejected values, error messages, and the search for kinds."""

import math
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

from skerry.core.config import (
    Config,
    ExistingFile,
    Family,
    KindConfig,
    Matrix6,
    Positive,
    Rational,
    Vector3,
    Vector6,
    config_of,
    resolve_paths_from,
)
from skerry.core.errors import Fault, FileError, SkerryError, UnknownName
from skerry.formats.yaml_documents import parse_document
from skerry.parts.law import LAWS
from skerry.parts.sensor import SENSORS
from skerry.terrain import TERRAINS
from skerry.terrain.function import FUNCTIONS


class Inner(Config):
    width: float = 1.0
    height: float = 1.0


class Round(Config):
    kind: Literal["round"]
    radius: Positive


class Square(Config):
    kind: Literal["square"]
    side: Positive


class Outer(Config):
    number: float = 0.0
    count: int = 0
    flag: bool = False
    word: Literal["first", "second"] = "first"
    rate: Rational = Field(Fraction(1), gt=0)
    vector: Vector3 = (0.0, 0.0, 0.0)
    matrix: Vector6 | Matrix6 | None = None
    mixed: Positive | tuple[Positive, ...] | None = None
    inner: Inner = Inner()
    maybe: Inner | None = None
    many: tuple[Inner, ...] = ()
    pair: tuple[Inner, Round] | None = None
    named: dict[str, Inner] = {}  # noqa: RUF012
    nested: dict[str, tuple[Inner, ...]] = {}  # noqa: RUF012
    shape: Annotated[Round | Square, Field(discriminator="kind")] | None = None
    shapes: dict[str, Annotated[Round | Square, Field(discriminator="kind")]] = {}  # noqa: RUF012
    terrain: config_of(TERRAINS) | None = None  # type: ignore[valid-type]
    laws: dict[str, config_of(LAWS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    functions: tuple[config_of(FUNCTIONS), ...] = ()  # type: ignore[valid-type]
    file: ExistingFile | None = None


def load(text: str) -> Outer:
    return Outer.load(parse_document(text, "file.yaml"))


def faults_in(text: str) -> list[str]:
    with pytest.raises(FileError) as caught:
        load(text)
    assert caught.value.source == "file.yaml"
    return [str(fault) for fault in caught.value.faults]


# ------------------------------------------------------------------------------------------------ guesses

GUESSES = {
    "numbr: 1": ("numbr", "number"),
    "inner: {widht: 1}": ("inner.widht", "width"),
    "maybe: {widht: 1}": ("maybe.widht", "width"),
    "many: [{}, {heigth: 1}]": ("many[1].heigth", "height"),
    "pair: [{}, {kind: round, radius: 1, radis: 1}]": ("pair[1].radis", "radius"),
    "named: {a: {widht: 1}}": ("named.a.widht", "width"),
    "nested: {a: [{}, {widht: 1}]}": ("nested.a[1].widht", "width"),
    "shape: {kind: square, side: 1, sied: 2}": ("shape.sied", "side"),
    "shapes: {a: {kind: round, radius: 1, radus: 2}}": ("shapes.a.radus", "radius"),
    "terrain: {kind: flat, depth: 3, dpeth: 3}": ("terrain.dpeth", "depth"),
    "laws: {a: {kind: ballast, link: b, volume: 1, rate: 1, fil: 1}}": ("laws.a.fil", "fill"),
    "functions: [{kind: slope}, {kind: hills, octavs: 2}]": ("functions[1].octavs", "octaves"),
    "functions: [{kind: sum, terms: [{kind: slope, slop_deg: 1}]}]": ("functions[0].terms[0].slop_deg", "slope_deg"),
    "terrain: {kind: heightfield, size: [1, 1], resolution: 1, function: {kind: hills, gian: 1}}": (
        "terrain.function.gian",
        "gain",
    ),
}


@pytest.mark.parametrize("text", GUESSES)
def test_a_misspelt_key_is_guessed_at_every_depth(text: str) -> None:
    place, word = GUESSES[text]
    assert f"line 1: {place}: is not a known key; did you mean {word!r}?" in faults_in(text)


def test_a_key_unlike_all_others_is_answered_with_the_list() -> None:
    assert faults_in("inner: {zzz: 1}") == ["line 1: inner.zzz: is not a known key; known: height, width"]


@pytest.mark.parametrize(
    ("text", "place", "guess"),
    [
        ("terrain: {kind: flt, depth: 1}", "terrain", "did you mean 'flat'?"),
        ("laws: {a: {kind: balast}}", "laws.a", "did you mean 'ballast'?"),
        ("functions: [{kind: slope}, {kind: slop}]", "functions[1]", "did you mean 'slope'?"),
        ("functions: [{kind: sum, terms: [{kind: hlls}]}]", "functions[0].terms[0]", "did you mean 'hills'?"),
        ("shape: {kind: squar, side: 1}", "shape", "did you mean 'square'?"),
        ("terrain: {kind: 5}", "terrain", "known: flat, georeferenced, heightfield, mesh"),
        ("terrain: {kind: Flat}", "terrain", "did you mean 'flat'?"),
        ("terrain: {kind: flat.py}", "terrain", "did you mean 'flat'?"),
        ("terrain: {kind: __init__}", "terrain", "known: flat, georeferenced, heightfield, mesh"),
    ],
)
def test_an_unknown_kind_is_guessed(text: str, place: str, guess: str) -> None:
    (fault,) = faults_in(text)
    assert fault.startswith(f"line 1: {place}.kind: ")
    assert fault.endswith(guess)


def test_a_word_of_a_choice_is_guessed() -> None:
    assert faults_in("word: secnd") == [
        "line 1: word: must be 'first' or 'second' (found 'secnd'); did you mean 'second'?"
    ]
    assert faults_in("word: 5") == ["line 1: word: must be 'first' or 'second' (found 5)"]


def test_settings_without_a_kind_get_a_list_of_the_kinds() -> None:
    assert faults_in("terrain: {depth: 3}") == [
        "line 1: terrain: has no `kind`; known: flat, georeferenced, heightfield, mesh"
    ]
    assert faults_in("terrain: 5") == ["line 1: terrain: must be a mapping with a `kind` (found 5)"]
    assert faults_in("shape: {side: 3}") == ["line 1: shape: has no `kind`"]


# ------------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("number: true", "number: must be a number (found True)"),
        ("number: '5'", "number: must be a number (found '5')"),
        ("number: [5]", "number: must be a number (found [5])"),
        ("number: .nan", "number: must be a finite number (found nan)"),
        ("number: -.inf", "number: must be a finite number (found -inf)"),
        ("number: null", "number: must be a number"),
        ("count: 1.0", "count: must be a whole number (found 1.0)"),
        ("count: true", "count: must be a whole number (found True)"),
        ("count: '1'", "count: must be a whole number (found '1')"),
        ("flag: yes", "flag: must be true or false (found 'yes')"),
        ("flag: 1", "flag: must be true or false (found 1)"),
        ("inner: 5", "inner: must be a mapping (found 5)"),
        ("named: [5]", "named: must be a mapping (found [5])"),
        ("many: {a: 1}", "many: must be a list"),
        ("many: abc", "many: must be a list (found 'abc')"),
        ("vector: [1, 2]", "vector: needs 3 values (found [1, 2])"),
        ("vector: [1, 2, .nan]", "vector[2]: must be a finite number (found nan)"),
        ("vector: [1, true, 3]", "vector[1]: must be a number (found True)"),
        ("matrix: [1, 2]", "matrix: needs 6 values (found [1, 2])"),
        ("matrix: [1, 2, 3, x, 5, 6]", "matrix[3]: must be a number (found 'x')"),
        ("mixed: -1", "mixed: must be greater than 0 (found -1)"),
        ("mixed: [1, -1]", "mixed[1]: must be greater than 0 (found -1)"),
        ("mixed: abc", "mixed: must be a number (found 'abc')"),
        ("shape: {kind: round, radius: -1}", "shape.radius: must be greater than 0 (found -1)"),
        ("shapes: {float: {kind: round, radius: -1}}", "shapes.float.radius: must be greater than 0 (found -1)"),
        ("named: {int: {width: x}}", "named.int.width: must be a number (found 'x')"),
        ("named: {'a[0]': {width: x}}", "named.a[0].width: must be a number (found 'x')"),
        ("named: {5: {}}", "named[5]: must be text (found 5)"),
        ("rate: 0", "rate: must be greater than 0 (found 0)"),
        ("rate: -1/3", "rate: must be greater than 0 (found '-1/3')"),
    ],
)
def test_a_wrong_value_is_one_fault_with_its_place_and_what_was_found(text: str, fault: str) -> None:
    assert faults_in(text) == [f"line 1: {fault}"]


def test_a_bad_number_in_a_matrix_is_one_fault() -> None:
    rows = "\n".join(f"  - [{i}, 1, 2, 3, 4, 5]" for i in range(5))
    assert faults_in(f"matrix:\n{rows}\n  - [5, 4, x, 2, 1, 0]") == [
        "line 7: matrix[5][2]: must be a number (found 'x')"
    ]


def test_too_many_values_are_refused() -> None:
    (fault,) = faults_in("vector: [1, 2, 3, 4]")
    assert fault.startswith("line 1: vector: ")
    assert "3" in fault
    assert "[1, 2, 3, 4]" in fault


def test_all_faults_are_reported_together_each_on_its_line() -> None:
    text = """\
        number: x
        inner:
          widht: 1
          height: .nan
        many:
          - {}
          - {width: true}
        terrain:
          kind: flt
        laws:
          a: {kind: ballast, link: b, rate: 1}
          b: {kind: damping, link: b, linear: [1, 2, 3, 4, 5, -6]}
        """
    assert faults_in(textwrap.dedent(text)) == [
        "line 1: number: must be a number (found 'x')",
        "line 4: inner.height: must be a finite number (found nan)",
        "line 3: inner.widht: is not a known key; did you mean 'width'?",
        "line 7: many[1].width: must be a number (found True)",
        "line 9: terrain.kind: unknown kind 'flt' of terrains; did you mean 'flat'?",
        "line 11: laws.a.volume: is missing",
        "line 12: laws.b.linear: must not be negative; give damping as positive numbers (found [1, 2, 3, 4, 5, -6])",
    ]


def test_a_document_that_is_no_mapping_is_one_fault() -> None:
    assert faults_in("[1, 2]") == ["line 1: must be a mapping (found [1, 2])"]
    assert faults_in("word") == ["line 1: must be a mapping (found 'word')"]


def test_a_long_value_is_cut_where_it_is_shown() -> None:
    (fault,) = faults_in(f"number: {'x' * 500}")
    assert len(fault) < 150


def test_many_faults_of_one_list_are_found_quickly() -> None:
    numbers = ", ".join(["x"] * 3000)
    assert len(faults_in(f"mixed: [{numbers}]")) == 3000


# ------------------------------------------------------------------------------------------------ values


def test_settings_cannot_be_changed() -> None:
    settings = Outer()
    with pytest.raises(ValidationError, match="frozen"):
        settings.number = 5.0  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        settings.inner.width = 5.0  # type: ignore[misc]


def test_settings_made_in_python_are_as_strict() -> None:
    for settings in ({"numbr": 1}, {"number": math.nan}, {"number": True}, {"number": "5"}, {"count": 1.5}):
        with pytest.raises(ValidationError):
            Outer(**settings)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    settings = Outer(number=np.float32(0.5), vector=np.array([1.0, 2.0, 3.0]))  # type: ignore[arg-type]
    assert settings.number == 0.5
    assert settings.vector == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/200", Fraction(1, 200)),
        ("7 / 1000", Fraction(7, 1000)),
        ("0.005", Fraction(1, 200)),
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("'2.5e2'", Fraction(250)),
        ("10", Fraction(10)),
        ("'10'", Fraction(10)),
        ("100/3", Fraction(100, 3)),
    ],
)
def test_a_fraction_is_exactly_what_is_written(text: str, value: Fraction) -> None:
    settings = load(f"rate: {text}")
    assert settings.rate == value
    assert Outer.model_validate(settings.model_dump(mode="json")) == settings


@pytest.mark.parametrize(
    "text",
    ["abc", "1/0", "1/2/3", "1 200", "1//2", "true", "[1]", ".nan", ".inf", "'1e999999999'", "''", "1/-2", "null"],
)
def test_what_is_no_fraction_is_refused_at_once(text: str) -> None:
    (fault,) = faults_in(f"rate: {text}")
    assert fault.startswith("line 1: rate: must be a number or a fraction such as 1/200")


def test_a_file_is_searched_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "here.txt").touch()
    document = parse_document("file: here.txt", str(tmp_path / "file.yaml"))
    assert Outer.load(document, tmp_path).file == tmp_path / "here.txt"
    with resolve_paths_from(tmp_path):
        assert Outer(file="here.txt").file == tmp_path / "here.txt"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["gone.txt", "x" * 5000, "~nobody_of_this_name/x", ".", "a\\0b", "/dev/null/x"])
def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="file: there is no file ") as caught:
        Outer.load(parse_document(f'file: "{name}"', "file.yaml"), tmp_path)
    assert len(caught.value.faults) == 1


# ------------------------------------------------------------------------------------------------ kinds


@pytest.mark.parametrize("family", [SENSORS, LAWS, TERRAINS, FUNCTIONS], ids=lambda family: family.name)
def test_every_kind_of_a_family_can_be_found(family: Family) -> None:
    kinds = family.kinds()
    assert kinds == sorted(set(kinds))
    for kind in kinds:
        assert issubclass(family.find(kind), KindConfig)


def test_an_unknown_kind_is_an_unknown_name() -> None:
    with pytest.raises(UnknownName, match=r"unknown kind 'odometri' of sensors; did you mean 'odometry'\?"):
        SENSORS.find("odometri")


def test_a_kind_is_one_file_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "things_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_shared.py").write_text("")
    (package / "helpers").mkdir()
    (package / "helpers" / "__init__.py").write_text("")
    (package / "gadget.py").write_text(
        "from typing import Literal\n"
        "from skerry.core.config import KindConfig\n"
        "class Gadget(KindConfig):\n    kind: Literal['gadget'] = 'gadget'\n    size: float = 1.0\n"
    )
    (package / "broken.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    family = Family("things", "things_of_a_test")
    assert family.kinds() == ["broken", "gadget"]
    assert family.find("gadget").model_fields.keys() == {"kind", "size"}
    with pytest.raises(UnknownName, match="did you mean 'gadget'"):
        family.find("gadgt")
    with pytest.raises(UnknownName):
        family.find("_shared")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        family.find("broken")


def test_settings_of_a_kind_keep_their_kind_when_dumped() -> None:
    settings = load("terrain: {kind: flat, depth: 3}\nlaws: {a: {kind: damping, link: b}}")
    dumped = settings.model_dump(mode="json")
    assert dumped["terrain"]["depth"] == 3
    assert dumped["laws"]["a"]["kind"] == "damping"
    assert Outer.model_validate(dumped) == settings


PLUGIN = """
from dataclasses import dataclass
from typing import Literal
from skerry.core.units import unit
from skerry.parts.sensor import SensorConfig, SimpleSensor

@dataclass(frozen=True)
class Depth:
    time: float = unit("s")
    value: float = unit("m")

class DepthSensor(SimpleSensor[Depth]):
    def __init__(self, link, scale):
        self.link, self.scale = link, scale
    def measure_one(self, sample, noise):
        return Depth(sample.time, -self.scale * float(sample.pose(self.link).position[2]))

class DepthGauge(SensorConfig):
    kind: Literal["depth_gauge"] = "depth_gauge"
    scale: float = 1.0
    def build(self):
        return DepthSensor(self.link, self.scale)

class Impostor:
    pass
"""

USE_PLUGIN = """
import skerry
from skerry.core.errors import SkerryError
from skerry.parts.sensor import SENSORS

assert "depth_gauge" in SENSORS.kinds(), SENSORS.kinds()
def scenario(**settings):
    part = {"link": "base_link", "frequency": 10, **settings}
    robot = {"vehicle": "torpedo", "pose": {"position": [0, 0, -7]}, "overrides": {"sensors": {"gauge": part}}}
    return {"robots": {"a": robot}}

with skerry.load(scenario(kind="depth_gauge", scale=2.0)) as world:
    before = world.snapshot()
    print(world.robots["a"].sensors["gauge"].reading.value)
    after = world.snapshot()
    world.restore(before)
    world.restore(after)
    print(world.robots["a"].sensors["gauge"].reading.value)
for settings in ({"kind": "depth_guage"}, {"kind": "depth_gauge", "scael": 1}, {"kind": "fails"}, {"kind": "impostor"}):
    try:
        skerry.load(scenario(**settings))
    except SkerryError as error:
        print(error)
"""


def test_a_users_sensor_is_found_through_the_entry_points_of_its_package(tmp_path: Path) -> None:
    (tmp_path / "boat_parts.py").write_text(PLUGIN)
    info = tmp_path / "boat_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boat-parts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[skerry.sensors]\ndepth_gauge = boat_parts:DepthGauge\nfails = boat_parts_that_fail:Sensor\n"
        "impostor = boat_parts:Impostor\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE_PLUGIN}"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:2] == ["14.0", "14.0"]
    place = "scenario: robots.a.overrides.sensors.gauge"
    assert lines[2] == f"{place}.kind: unknown kind 'depth_guage' of sensors; did you mean 'depth_gauge'?"
    assert lines[3] == f"{place}.scael: is not a known key; did you mean 'scale'?"
    assert lines[4].startswith(
        f"{place}.kind: the entry point 'fails' (boat_parts_that_fail:Sensor) cannot be loaded: ModuleNotFoundError"
    )
    assert lines[5] == (
        f"{place}.kind: the entry point 'impostor' (boat_parts:Impostor) must be a subclass of KindConfig "
        "whose kind is 'impostor'"
    )


def test_a_fault_is_plain_data_for_programs() -> None:
    with pytest.raises(SkerryError) as caught:
        load("a: 1\nnumber: x")
    error = caught.value
    assert isinstance(error, FileError)
    faults: list[Any] = error.faults
    assert Fault("number", "must be a number", "x", 2) in faults
