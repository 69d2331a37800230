"""The language check finds planted faults and accepts plain sentences."""

import importlib.util
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts" / "check_language.py"
_spec = importlib.util.spec_from_file_location("check_language", _SCRIPT)
assert _spec is not None and _spec.loader is not None
check_language = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_language)


@pytest.mark.parametrize(
    "sentence",
    [
        "Somebody must close it.",
        "Simulate so many steps.",
        "The world begins anew.",
        "The value is said to all peers.",
        "Clients are told of the change.",
        "The kernels rehearse before the start.",
        "A reading for whoever takes it.",
    ],
)
def test_a_banned_construction_is_found_in_docstring_comment_message_and_page(sentence: str) -> None:
    docstring = f'def stop():\n    """Stop the run. {sentence}"""\n'
    comment = f"x = 1  # {sentence}\n"
    message = f'raise SkerryError("{sentence}")\n'
    constant = f'X = 1\n"""Number of runs. {sentence}"""\n'
    for text in (docstring, comment, message, constant):
        assert list(check_language.check_python("planted.py", text)), text
    assert list(check_language.check_markdown("planted.md", f"# Page\n\n{sentence}\n"))
    assert list(check_language.check_comments("planted.yaml", f"a: 1 # {sentence}\n"))


def test_a_finding_names_file_and_line() -> None:
    (finding,) = check_language.check_markdown("planted.md", "Fine.\n\nNobody reads this.\n")
    assert str(finding).startswith("planted.md:3: 'Nobody' is banned")


@pytest.mark.parametrize("opening", ["Of the volume, m.", "What the sensor measures.", "Those that wait."])
def test_a_docstring_that_begins_with_a_fragment_is_found(opening: str) -> None:
    (finding,) = check_language.check_python("planted.py", f'def volume():\n    """{opening}"""\n')
    assert "begins with" in finding.problem


def test_a_long_markdown_line_is_found_unless_it_is_a_table_code_or_address() -> None:
    long = "word " * 30
    assert list(check_language.check_markdown("planted.md", long))
    for exempt in (f"| {long} |", f"```\n{long}\n```", f"See https://example.org {long}"):
        assert not list(check_language.check_markdown("planted.md", exempt))


def test_plain_sentences_and_code_spans_pass() -> None:
    text = 'def reset():\n    """Reset the world to its initial state.\n\n    See `kin` and `anew`.\n    """\n'
    assert not list(check_language.check_python("planted.py", text))


@pytest.mark.parametrize(
    ("subject", "is_fine"),
    [
        ("ros: publish /tf_static as transient local", True),
        ("world/sampling: split the mounted sensor", True),
        ("Tests: who looks at the end may be put there", False),
        ("Fix things", False),
        ("ros: " + "x" * 80, False),
    ],
)
def test_commit_subjects_have_an_area_and_a_summary(subject: str, is_fine: bool) -> None:
    assert bool(list(check_language.check_subjects([subject]))) != is_fine


def test_the_command_exits_with_1_on_a_planted_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted = tmp_path / "planted.md"
    planted.write_text("The queue is emptied for whoever waits.\n")
    assert check_language.main([str(planted)]) == 1
    assert "'whoever' is banned" in capsys.readouterr().out
    planted.write_text("The queue is emptied when a client connects.\n")
    assert check_language.main([str(planted)]) == 0
