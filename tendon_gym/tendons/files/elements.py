"""XML elements that know where they stand in their file: read without entities, and written.

The reader takes files from anyone: it refuses document types, so that nothing expands or is
fetched, and says of every mistake in which file, line and element it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat
from xml.sax import saxutils

from tendon_gym import checks

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_SEPARATOR = re.compile(r"\s*,\s*|\s+")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class LocatedError(ValueError):
    """An error that says already where in a file it is."""


@dataclass
class Element:
    """An element with its attributes as text.

    Attributes:
        tag: its name.
        attributes: by name, in their order.
        children: in their order.
        source: name of the file.
        line: in it, from 1.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    source: str = ""
    line: int = 0

    @property
    def where(self) -> str:
        """File, line and element, as errors begin."""
        name = self.attributes.get("name")
        called = f" name={checks.shown(name)}" if name is not None else ""
        return f"{self.source}:{self.line}: <{self.tag}{called}>"

    def fail(self, message: str) -> NoReturn:
        """Raise ValueError about this element."""
        raise LocatedError(f"{self.where}: {message}")

    @contextmanager
    def located(self) -> Iterator[None]:
        """Say of every error inside, unless it is known, that this element is to blame."""
        try:
            yield
        except LocatedError:
            raise
        except (OSError, TypeError, ValueError) as error:
            raise LocatedError(f"{self.where}: {error}") from error

    def check(self, attributes: Iterable[str], children: Iterable[str] = ()) -> None:
        """Raise if there are attributes or children other than these."""
        with self.located():
            checks.known_keys(f"<{self.tag}>", self.attributes, attributes)
        legal = list(children)
        for child in self.children:
            if child.tag not in legal:
                child.fail(f"<{self.tag}> takes {_listed(legal)} inside it, not <{child.tag}>")

    def all(self, tag: str) -> list[Element]:
        """Return the children of a name."""
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """Return the one child of a name, or None."""
        found = self.all(tag)
        if len(found) > 1:
            found[1].fail(
                f"there is a <{tag}> in this <{self.tag}> already, in line {found[0].line}"
            )
        return found[0] if found else None

    def text(self, name: str, default: str | None = None) -> str:
        """Return an attribute, which must be there and not empty if there is no default."""
        if name not in self.attributes and default is not None:
            return default
        value = self.attributes.get(name)
        if not value:
            self.fail(f"{name} is missing or empty")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute as a number, which may be infinite or NaN."""
        if name not in self.attributes and default is not None:
            return default
        return self._number(name, self.text(name).strip())

    def numbers(
        self, name: str, count: int | None, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Return an attribute as so many numbers, between commas or blanks; None: any number."""
        if name not in self.attributes and default is not None:
            return tuple(default)
        text = self.text(name, "" if count is None else None).strip()
        values = tuple(self._number(name, item) for item in _SEPARATOR.split(text) if text)
        if count is not None and len(values) != count:
            self.fail(f"{name} must be {count} numbers, got {len(values)}: {checks.shown(text)}")
        return values

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an attribute as an integer."""
        if name not in self.attributes and default is not None:
            return default
        text = self.text(name).strip()
        if not _INTEGER.fullmatch(text) or len(text) > 20:
            self.fail(f"{name} must be an integer, got {checks.shown(text)}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        """Return an attribute as a truth value."""
        if name not in self.attributes:
            return default
        text = self.text(name).strip()
        if text not in _FLAGS:
            self.fail(f"{name} must be true or false, got {checks.shown(text)}")
        return _FLAGS[text]

    def _number(self, name: str, text: str) -> float:
        if not _NUMBER.fullmatch(text):
            self.fail(f"{name} must be a number, got {checks.shown(text)}")
        value = float(text)
        if value in (float("inf"), -float("inf")) and "n" not in text.lower():
            self.fail(f"{name} must be a number that a double can hold, got {checks.shown(text)}")
        return value


def parse(path: Path) -> Element:
    """Return the root element of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no XML, or has a document type.
    """
    return parse_bytes(path.read_bytes(), path.name)


def parse_bytes(content: bytes, source: str) -> Element:
    """Return the root element of what was read from `source`."""
    return _Parser(source).parse(content)


class _Parser:
    """Builds elements from the events of expat."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._stack = [Element("", source=source)]
        self._expat = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda _: self._stack.pop()
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype

    def parse(self, content: bytes) -> Element:
        try:
            self._expat.Parse(content, True)
        except expat.ExpatError as error:
            words = expat.errors.messages[error.code]
            raise LocatedError(f"{self._source}:{error.lineno}: no XML: {words}") from error
        except LocatedError:
            raise
        except (LookupError, ValueError) as error:  # an encoding that there isn't
            raise LocatedError(f"{self._source}:1: no XML: {error}") from error
        return self._stack[0].children[0]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._expat.CurrentLineNumber
        element = Element(tag, attributes, source=self._source, line=line)
        self._stack[-1].children.append(element)
        self._stack.append(element)

    def _text(self, text: str) -> None:
        if text.strip():
            self._stack[-1].fail(f"text is not expected here, got {checks.shown(text.strip())}")

    def _doctype(self, name: str, *_: object) -> None:
        line = self._expat.CurrentLineNumber
        raise LocatedError(f"{self._source}:{line}: document types and entities are not read")


def render(root: Element) -> str:
    """Return the text of a file; the same elements always give the same bytes."""
    lines = ['<?xml version="1.0"?>']
    todo: list[tuple[str, Element | None, str]] = [("", root, "")]
    while todo:
        indent, element, end = todo.pop()
        if element is None:
            lines.append(indent + end)
        elif element.children:
            lines.append(f"{indent}<{_head(element)}>")
            todo.append((indent, None, f"</{element.tag}>"))
            todo += [(indent + "  ", child, "") for child in reversed(element.children)]
        else:
            lines.append(f"{indent}<{_head(element)}/>")
    return "\n".join(lines) + "\n"


def _head(element: Element) -> str:
    """Return the name of an element with its attributes."""
    parts = [element.tag]
    for name, value in element.attributes.items():
        if bad := _ILLEGAL.search(value):
            raise ValueError(f"XML cannot hold the character {bad[0]!r} of {name} {value!r}")
        parts.append(f"{name}={saxutils.quoteattr(value)}")
    return " ".join(parts)


def shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def joined(values: Iterable[float]) -> str:
    """Return numbers as an attribute holds them."""
    return ", ".join(map(shortest, values))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"<{name}>" for name in names) or "nothing"
