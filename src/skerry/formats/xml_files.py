"""Reader of XML files that records the line of each element, which ElementTree's parser does not."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from skerry.core.errors import Fault, FileError


def read_xml(path: Path) -> tuple[Element, dict[Element, int]]:
    """Return the root element and the line of each element.

    Raises:
        FileError: The file cannot be read or is not well-formed XML.
    """
    lines: dict[Element, int] = {}
    builder = TreeBuilder()
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(path.read_bytes(), True)
    except FileNotFoundError:
        fault = Fault("", "there is no such file")
    except OSError as error:
        fault = Fault("", f"cannot be read: {error.strerror}")
    except expat.ExpatError as error:
        fault = Fault("", f"is not well-formed XML: {expat.ErrorString(error.code)}", line=error.lineno)
    except (ValueError, LookupError) as error:
        fault = Fault("", f"has an encoding that cannot be read: {error}")
    else:
        return builder.close(), lines
    raise FileError(str(path), [fault])
