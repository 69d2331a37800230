"""Check the language of the code base: banned words, docstring openings, Markdown line length, commit subjects.

Usage: python scripts/check_language.py [FILE ...]    (default: all tracked files and the latest commits)

The rules are explained in CONTRIBUTING.md, section "Language". Each finding is printed as `file:line: problem`. The
exit status is 1 if there is any finding.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

MAX_LINE = 120
"""Longest line in Markdown, in characters. Tables, code blocks, link definitions and lines with a URL are exempt."""

FIRST_CHECKED_COMMIT = "names: apply the cross-package renames of the language guide"
"""Subject of the commit after which subjects follow the form `area: imperative summary`."""

MAX_SUBJECT = 72
"""Longest subject line of a commit, in characters."""

BANNED = {
    r"somebody|anybody|nobody|whoever|whomever|whatever comes": "name the subject: client, caller, sensor, user",
    r"so (?:many|much|far off)": "name the quantity: `steps` steps, `seconds` seconds",
    r"anew": "again, new",
    r"or else": "otherwise",
    r"by turns": "alternately, in turn",
    r"kin|kindred": "batch_key, of the same kind",
    r"rehears\w+": "warm up",
    r"errands?": "work queue, task",
    r"onlookers?": "observer",
    r"berths?": "build context",
    r"glimpses?": "sample",
    r"hearers?": "subscriber, receiver",
    r"speaks?|spoken|spoke": "publishes, encodes, uses the protocol",
    r"is said|are said|was said|says it|say it": "is published, prints",
    r"is told|are told|was told|be told": "is notified, receives",
    r"is heard of|are heard of|never heard": "is received",
    r"lets? go of|let go": "releases",
    r"has not any|have not any|(?<!there )is no (?!longer|more)\w+": "is not a …, there is not a …",
    r"who (?:asks|asked|takes|looks|wants|waits|has|have|reads|writes|runs|calls|owns)": "name the subject",
    r"(?:those|one|ones|everyone|everything) who": "name the subject: clients that …",
    r"such as it is|as it were|of its own accord|for ever|in words": "plain wording",
    r"wants? (?:to be|it|them)\b": "needs, requires",
    r"goes? on (?:as|with|from|for)": "continues",
    r"comes? (?:to be|of it|into being)": "is created, results",
    r"made anew|begins? anew": "is created again, resets",
    r"stand[- ]?in": "fake client, fake server",
    r"look(?:s|ed|ing)? back": "processes past samples",
    r"gauges?(?! pressure)": "state channel",
    r"levers?(?! arm)": "command slot",
    r"reflex(?:es)?": "native controller",
    r"fittings": "attachments",
    r"vocabulary": "type store",
    r"outlets?": "publisher, frame writer",
    r"outbox(?:es)?": "subscriber queue",
}
"""Banned words and constructions, as regular expressions between word boundaries, with the words to use instead."""

BANNED_OPENINGS = frozenset(
    {
        *("Of", "What", "Who", "Whose", "Where", "How", "As", "In", "By", "That", "Those", "These", "It", "Its"),
        *("And", "Or", "But", "One", "Ones", "Also", "So", "Which", "Because", "If", "Whatever"),
    }
)
"""First words of a docstring that make it a fragment. Begin with a verb or with the noun that is described."""

_BANNED = [(re.compile(rf"(?<![\w`./-])(?:{words})(?![\w`-])", re.IGNORECASE), hint) for words, hint in BANNED.items()]
_CODE_SPAN = re.compile(r"`[^`]*`|https?://\S+")
_SUBJECT = re.compile(r"^(?:[\w./, -]+: [a-z`0-9]|Merge |Revert )")
_MESSAGE_CALLS = frozenset(
    {
        *("debug", "info", "warning", "error", "exception", "critical", "echo", "print"),
        *("Fault", "SkerryError", "UnknownName", "FileError", "Option", "Argument", "Field"),
    }
)
"""Calls whose string arguments are read by people: log lines, errors, help texts and descriptions of settings."""


class Finding(NamedTuple):
    """One problem, with the file and line where it was found."""

    source: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.problem}"


class Passage(NamedTuple):
    """A piece of prose with the line where it begins."""

    line: int
    text: str
    is_docstring: bool = False


# ------------------------------------------------------------------------------------------------ checks


def check_prose(source: str, passages: Iterable[Passage]) -> Iterator[Finding]:
    """Yield findings for banned words and docstring openings.

    Args:
        source: Name of the file, for the findings.
        passages: Prose of the file.
    """
    for passage in passages:
        text = _CODE_SPAN.sub(lambda match: "x" * len(match.group()), passage.text)
        for pattern, hint in _BANNED:
            for match in pattern.finditer(text):
                line = passage.line + text.count("\n", 0, match.start())
                yield Finding(source, line, f"{match.group()!r} is banned; use: {hint}")
        if passage.is_docstring:
            first = re.match(r"[\w-]+", passage.text.strip())
            if first and first.group() in BANNED_OPENINGS:
                problem = f"docstring begins with {first.group()!r}; begin with a verb or with the noun described"
                yield Finding(source, passage.line, problem)


def check_python(source: str, text: str) -> Iterator[Finding]:
    """Yield findings for the docstrings, comments and messages of a Python file."""
    yield from check_prose(source, python_passages(text))


def check_markdown(source: str, text: str) -> Iterator[Finding]:
    """Yield findings for the prose and the line length of a Markdown file."""
    if not source.endswith("CHANGELOG.md"):  # the changelog names what was renamed
        yield from check_prose(source, markdown_passages(text))
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_exempt = in_code or line.lstrip().startswith(("|", "[")) or "http" in line or line.lstrip().startswith("![")
        if len(line) > MAX_LINE and not is_exempt:
            yield Finding(source, number, f"line has {len(line)} characters; wrap it at {MAX_LINE}")


def check_comments(source: str, text: str) -> Iterator[Finding]:
    """Yield findings for the comments of a YAML file, a shell script or a JavaScript file."""
    marker = r"//|/\*|^\s*\*" if source.endswith((".js", ".mjs", ".css")) else r"#"
    passages = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(rf"(?:^|\s)(?:{marker})\s?(.*)", line)
        if match:
            passages.append(Passage(number, match.group(1)))
    yield from check_prose(source, passages)


def check_subjects(subjects: Iterable[str]) -> Iterator[Finding]:
    """Yield findings for subject lines of commits, newest first."""
    for number, subject in enumerate(subjects, 1):
        yield from check_prose("commit", [Passage(number, subject)])
        if not _SUBJECT.match(subject):
            yield Finding("commit", number, f"{subject!r} does not have the form 'area: imperative summary'")
        elif len(subject) > MAX_SUBJECT and not subject.startswith("Merge "):
            yield Finding("commit", number, f"{subject!r} has {len(subject)} characters; at most {MAX_SUBJECT}")


# ------------------------------------------------------------------------------------------------ prose of files


def python_passages(text: str) -> Iterator[Passage]:
    """Yield docstrings, comments and messages of Python source text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for number, statement in enumerate(node.body):
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    is_summary = number == 0 and isinstance(node, ast.Module)
                    yield Passage(statement.lineno, str(statement.value.value), is_docstring=not is_summary)
        if isinstance(node, ast.Call) and _name_of(node.func) in _MESSAGE_CALLS:
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                for part in ast.walk(argument):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
                        yield Passage(part.lineno, part.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Passage(token.start[0], token.string)


def markdown_passages(text: str) -> Iterator[Passage]:
    """Yield the lines of Markdown text that are outside code blocks."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield Passage(number, line)


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


# ------------------------------------------------------------------------------------------------ main


def check_file(path: Path) -> list[Finding]:
    """Return the findings of one file; files of unknown types have none."""
    source = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    if source == "scripts/check_language.py":  # it holds the banned words
        return []
    checks = {".py": check_python, ".md": check_markdown}
    comments = dict.fromkeys((".yaml", ".yml", ".toml", ".sh", ".js", ".mjs", ".css"), check_comments)
    check = {**checks, **comments}.get(path.suffix)
    if check is None or "vendor" in path.parts or "definitions" in path.parts:
        return []
    return list(check(source, path.read_text(encoding="utf-8")))


def _tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


def _subjects() -> list[str]:
    log = subprocess.run(["git", "log", "-200", "--format=%s"], cwd=ROOT, capture_output=True, text=True).stdout
    subjects = log.splitlines()
    return subjects[: subjects.index(FIRST_CHECKED_COMMIT)] if FIRST_CHECKED_COMMIT in subjects else subjects[:20]


def main(arguments: list[str]) -> int:
    """Check the given files, or all tracked files and the latest commits; print the findings."""
    paths = [Path(name).resolve() for name in arguments] or _tracked_files()
    findings = [finding for path in paths for finding in check_file(path)]
    if not arguments:
        findings += check_subjects(_subjects())
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings in {len(paths)} files" if findings else f"{len(paths)} files: language is fine")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
