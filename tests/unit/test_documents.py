"""Reading and writing of YAML."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.document import Document, Origin, format_key_path
from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.formats import yaml_documents as documents
from skerry.formats.yaml_documents import dump_document, parse_document, read_document


def value_of(text: str) -> Any:
    return parse_document(f"a: {text}", "file").data["a"]


def faults_in(text: str) -> list[Fault]:
    with pytest.raises(FileError) as caught:
        parse_document(text, "file.yaml")
    assert str(caught.value).startswith("file.yaml: ")
    return caught.value.faults


def only_fault(text: str) -> str:
    faults = faults_in(text)
    assert len(faults) == 1, faults
    return str(faults[0])


# ------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ("on", "off", "yes", "no", "y", "N", "Off", "YES")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[(word, None) for word in ("null", "Null", "NULL", "~", "")],
        *[("12", 12), ("+12", 12), ("-12", -12), ("0", 0), ("010", 10), ("08", 8), ("0o10", 8), ("0x1F", 31)],
        *[("1e-7", 1e-7), ("1E5", 1e5), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("-1.5e+3", -1500.0)],
        *[(".inf", math.inf), ("-.Inf", -math.inf), ("+.INF", math.inf)],
        *[(word, word) for word in ("1_000", "1:30", "0b11", "2001-12-14", "1/200", "1 200", "=", "<<", "0o8", "1e")],
        *[('"5"', "5"), ("'true'", "true"), ("!!str 5", "5"), ("!!float 5", 5.0), ("!!int '5'", 5)],
    ],
)
def test_words_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_read_as_such() -> None:
    assert math.isnan(value_of(".nan"))
    assert math.isnan(value_of(".NaN"))


def test_keys_are_text_or_whole_numbers_as_they_are_written() -> None:
    assert parse_document("on: 1\ntrue: 2\n3: 4\n'5': 6", "file").data == {"on": 1, "true": 2, 3: 4, "5": 6}


@pytest.mark.parametrize("key", ["~", "0.5", ".nan", "? [a, b]", "? {a: 1}", "!!int abc", "!tag a", "!!binary aGk="])
def test_other_keys_are_refused(key: str) -> None:
    text = f"a: 1\n{key}\n: 1" if key[0] == "?" else f"a: 1\n{key}: 1"
    assert "line 2: a key must be text or a whole number" in only_fault(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!!int abc", "is not a whole number (found 'abc')"),
        ("!!float abc", "is not a number (found 'abc')"),
        ("!!bool maybe", "is not true or false (found 'maybe')"),
        ("9" * 5000, "is not a whole number (found '999"),
        ("!thing b", "the tag !thing is unknown"),
        ("!thing {b: 1}", "the tag !thing is unknown"),
        ("!thing [1]", "the tag !thing is unknown"),
        ("!!binary aGk=", "the tag !!binary is unknown"),
        ("!!set {b, c}", "the tag !!set is unknown"),
        ("!!python/object/apply:os.system [ls]", "the tag !!python/object/apply:os.system is unknown"),
    ],
)
def test_a_value_that_its_tag_does_not_fit_is_a_fault(text: str, words: str) -> None:
    assert only_fault(f"b: 1\na: {text}").startswith(f"line 2: a: {words}")


def test_an_empty_file_holds_nothing() -> None:
    assert parse_document("", "file").data is None
    assert parse_document("# only words\n", "file").data is None


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert parse_document("\ufeffa: 1", "file").data == {"a": 1}


# ------------------------------------------------------------------------------------------------ duplicates


def test_a_key_given_twice_is_a_fault_with_both_lines() -> None:
    assert only_fault("a: 1\nb: 2\n\na: 3") == "line 4: a: given twice, first on line 1"


def test_all_duplicates_at_every_depth_are_reported_together() -> None:
    text = "a:\n  b: 1\n  b: 2\nc:\n  - d: 1\n    d: 2\n  - {e: 1, e: 2}\na: 5\na: 6\n"
    assert [str(fault) for fault in faults_in(text)] == [
        "line 3: a.b: given twice, first on line 2",
        "line 6: c[0].d: given twice, first on line 5",
        "line 7: c[1].e: given twice, first on line 7",
        "line 8: a: given twice, first on line 1",
        "line 9: a: given twice, first on line 1",
    ]


def test_a_duplicate_is_seen_through_other_ways_of_writing_it() -> None:
    assert "given twice" in only_fault("a: 1\n'a': 2")
    assert "given twice" in only_fault("16: 1\n0x10: 2")
    assert "given twice" in only_fault("&x a: 1\n*x : 2")
    assert parse_document("1: a\n'1': b", "file").data == {1: "a", "1": "b"}


# ------------------------------------------------------------------------------------------------ aliases


def test_aliases_repeat_a_value() -> None:
    data = parse_document("a: &x {b: [1, 2]}\nc: *x\nd: [*x, 3]", "file").data
    assert data == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}, 3]}


def test_a_value_by_an_alias_has_the_line_of_its_key() -> None:
    document = parse_document("a: &x\n  b: 1\n\nc: *x\n", "file")
    assert document.origins["a",].line == 1
    assert document.origins["c",].line == 4


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: *x}", "a: &x {b: [1, {c: *x}]}"])
def test_an_alias_that_contains_itself_is_a_fault(text: str) -> None:
    assert "an alias that contains itself" in only_fault(text)


def test_aliases_of_aliases_do_not_fill_the_memory() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert "its aliases repeat more than 100000 values" in only_fault("\n".join(rows))


def test_a_long_file_without_aliases_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_COPIES", 10)
    assert len(parse_document("[1, &a 2, *a, " + "3, " * 1000 + "]", "file").data) == 1003


@pytest.mark.parametrize("text", ["[" * 500_000, "{a: " * 500_000, "- " * 500_000, "? " * 500_000])
def test_deep_nesting_is_refused_with_a_message(text: str) -> None:
    assert only_fault(f"\n{text}") == "line 2: is nested more than 100 levels deep"


def test_moderate_nesting_is_fine() -> None:
    assert parse_document("[" * 100 + "]" * 100, "file").data


# ------------------------------------------------------------------------------------------------ malformed


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1,\n", 2),
        ("a: 1\nb: 'x", 2),
        ("a: 1\n\tb: 2", 2),
        ("a: 1\n  b: 2", 2),
        ("a: 1\nb: *lost", 2),
        ("a: 1\n---\nb: 2", 2),
        ("a: 1\n- b", 2),
        ("a: {b: 1", 1),
        ("a: 1\nb: @x", 2),
    ],
)
def test_malformed_yaml_is_one_fault_with_its_line(text: str, line: int) -> None:
    assert re.match(rf"line {line}: is not valid YAML: \w", only_fault(text))


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\ud800"])
def test_characters_that_no_text_holds_are_one_readable_fault(character: str) -> None:
    fault = only_fault(f"a: {character}")
    assert fault.startswith("is not valid YAML: ")
    assert "\n" not in fault


def test_a_missing_file_is_reported_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "gone.yaml"
    with pytest.raises(FileError) as caught:
        read_document(path)
    assert str(caught.value) == f"{path}: there is no such file"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot be read: Is a directory$"):
        read_document(tmp_path)


@pytest.mark.parametrize("data", [b"a: 1\nb: \xff\n", "a: 1\nb: ö".encode("latin-1"), "a: 1".encode("utf-16")])
def test_a_file_that_is_not_utf_8_says_so(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"line [12]: is not UTF-8 text: ") as caught:
        read_document(path)
    assert caught.value.source == str(path)


def test_text_beyond_ascii_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes("name: Ålands hav 🐟\n".encode())
    assert read_document(path).data == {"name": "Ålands hav 🐟"}


# ------------------------------------------------------------------------------------------------ places


def test_every_value_knows_its_line() -> None:
    document = parse_document("a: 1\nb:\n  c:\n    - 5\n    - d: 6\n      e: >\n        long\n        text\n", "file")
    lines = {format_key_path(place): origin.line for place, origin in document.origins.items()}
    assert lines == {"": 1, "a": 1, "b": 2, "b.c": 3, "b.c[0]": 4, "b.c[1]": 5, "b.c[1].d": 5, "b.c[1].e": 6}


def test_a_fault_of_something_missing_has_the_line_of_what_is_around_it() -> None:
    document = parse_document("a: 1\nb:\n  c: [1, 2]\n", "file")
    assert str(document.fault(("b", "c", 5, "d"), "is missing")) == "line 3: b.c[5].d: is missing"
    assert str(document.fault(("x",), "is missing")) == "line 1: x: is missing"


def test_a_fault_of_a_value_from_another_file_names_that_file() -> None:
    origins = {("a",): Origin("other.yaml", ("z", "a"), 7), ("b",): Origin("argument", ("b",), None)}
    document = Document("file.yaml", {"a": [1], "b": 2}, origins)
    assert str(document.fault(("a", 0), "is bad", 1)) == "other.yaml: line 7: z.a[0]: is bad (found 1)"
    assert str(document.fault(("b",), "is bad")) == "argument: b: is bad"
    assert str(document.fault(("c",), "is bad")) == "c: is bad"


def test_a_part_of_a_document_remembers_where_it_stood() -> None:
    part = parse_document("a:\n  b:\n    c: 1\n", "file").part(("a", "b"))
    assert part.data == {"c": 1}
    assert str(part.fault(("c",), "is bad")) == "line 3: a.b.c: is bad"


# ------------------------------------------------------------------------------------------------ writing

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(plain)
def test_what_is_written_reads_back_equal(data: object) -> None:
    assert parse_document(dump_document(data), "file").data == data


@pytest.mark.parametrize(
    "word", ["1e5", "089", "0o17", "1_0", "on", "yes", "~", "", "1:30", "2001-01-01", "=", "<<", ".5e3"]
)
def test_a_word_that_looks_like_something_else_stays_a_word(word: str) -> None:
    assert parse_document(dump_document({"name": word, word or "x": 1}), "file").data["name"] == word


def test_a_name_without_its_unit_is_guessed() -> None:
    assert did_you_mean("latitude", ["altitude", "latitude_deg", "longitude_deg"]) == "did you mean 'latitude_deg'?"
