"""An XML tree that remembers file and line, and readers of numbers, vectors and nested objects.

Reading rules are OpenSim's (OPENSIM_SEMANTICS.md §1.3): the first element with a tag counts, absent properties take
the value of the document's `<defaults>` block or of the class. Where OpenSim drops a malformed value in silence and
goes on with the default, we stop and say so; `like_opensim` goes on, with a note.
"""

from __future__ import annotations

import copy
import difflib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from lxml import etree

from osim_inertia.errors import FileError, OsimError

MAX_FILE_BYTES = 200_000_000
BRACKETED = ("x", "y", "coefficients")  # lists of any length, which OpenSim reads with parentheses too
MAX_MAGNITUDE = 1e12  # no length, mass or stiffness of a body comes near; beyond it products overflow
OFFSET_FRAMES_VERSION = 30505  # from here on joints and points refer to frames; before, they name bodies
REMARKS = ("credits", "publications")  # some files have several; no number depends on them
OLD_TAGS = ("inertia_xx", "inertia_yy", "inertia_zz", "inertia_xy", "inertia_xz", "inertia_yz", "Joint", "parent_body",
            "location_in_parent", "orientation_in_parent", "location", "orientation", "CoordinateSet", "body",
            "isDisabled", "reverse")
UNTRUSTED_INPUT = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


@dataclass
class Document:
    """What belongs to the whole file: its name, its defaults block, the notes made while reading."""

    file: str
    root: etree._Element
    version: int
    like_opensim: bool = False
    defaults: dict[str, etree._Element] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Tell the user something once."""
        if text not in self.notes:
            self.notes.append(text)


def parse_xml(path: str | Path) -> etree._Element:
    """Root element of an XML file, parsed without network, entities or external files."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FileError("The file is larger than 200 MB.", file=path, to_do="check that this is a model file")
        data = path.read_bytes()
    except IsADirectoryError:
        raise FileError("This is a folder, not a file.", file=path) from None
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror or error}.", file=path) from None
    if re.search(rb"<!(ENTITY|DOCTYPE)", data):
        raise OsimError("The file defines XML entities or a DTD, which are not accepted.", file=path,
                        to_do="remove the <!DOCTYPE ...> or <!ENTITY ...> block")
    # OpenSim 3 wrote C++ scopes into tags (HuntCrossleyForce::ContactParameters), which XML reads as namespaces.
    data = re.sub(rb"(</?\w+)::", rb"\1..", data)
    try:
        root = etree.fromstring(data, etree.XMLParser(**UNTRUSTED_INPUT))
        if root.getroottree().docinfo.doctype:  # hidden from the search above by UTF-16
            raise OsimError("The file has a DTD, which is not accepted.", file=path, to_do="remove <!DOCTYPE ...>")
        return root
    except etree.XMLSyntaxError as error:
        if "encoding" in str(error) or "not proper UTF-8" in str(error):
            return _parse_as_latin1(data, path)
        reason = str(error.msg).split(", line")[0]
        raise OsimError(f"This is not well-formed XML: {reason}.", file=path, line=error.lineno,
                        to_do="the file may be cut short or damaged; open it in an editor at that line") from None


def _parse_as_latin1(data: bytes, path: Path) -> etree._Element:
    """Old Windows editors left accented letters in files that claim to be UTF-8."""
    data = data.decode("latin-1").encode("utf-8")
    try:
        return etree.fromstring(data, etree.XMLParser(encoding="utf-8", **UNTRUSTED_INPUT))
    except etree.XMLSyntaxError as error:
        raise OsimError(f"This is not well-formed XML: {error.msg}.", file=path, line=error.lineno) from None


def elements(parent: etree._Element) -> Iterator[etree._Element]:
    """Child elements, comments and processing instructions left out."""
    return parent.iterchildren(etree.Element)  # type: ignore[no-any-return, unused-ignore]


def first(parent: etree._Element, tag: str) -> etree._Element | None:
    """First child with that tag: the only one OpenSim reads."""
    return next(parent.iterchildren(tag), None)


class Node:
    """One component of the file and the readers of its properties."""

    def __init__(self, element: etree._Element, document: Document, path: str = "") -> None:
        self.element, self.document = element, document
        self.kind: str = element.tag
        self.name: str = element.get("name", "")
        self.line: int = element.sourceline or 0
        self.path = path  # component path; sockets are relative to it
        self.read: set[str] = set()

    def error(self, message: str, *, line: int = 0, found: str = "", expected: str = "", to_do: str = "") -> OsimError:
        """An error that names this component."""
        return OsimError(f"{self.label}: {message}", file=self.document.file, line=line or self.line or None,
                         found=found, expected=expected, to_do=to_do)

    def rename(self, name: str) -> None:
        """Give the component another name; its path follows."""
        self.path = self.path[: len(self.path) - len(self.name)] + name
        self.name = name

    @property
    def label(self) -> str:
        """Class and name, as messages show them."""
        return f"{self.kind} '{self.name}'" if self.name else f"<{self.kind}>"

    def find(self, tag: str) -> etree._Element | None:
        """The child of that tag, or the one of the document's defaults for this class."""
        self.read.add(tag)
        child = first(self.element, tag)
        prototype = self.document.defaults.get(self.kind)
        if child is None and prototype is not None:
            child = first(prototype, tag)
        return child

    def node(self, element: etree._Element, path: str = "") -> Node:
        """The same reader on another element of this document."""
        return Node(element, self.document, path or self.path)

    def with_defaults(self) -> etree._Element:
        """The element with the properties that the document's defaults add to it."""
        prototype = self.document.defaults.get(self.kind)
        if prototype is None:
            return self.element
        element = copy.deepcopy(self.element)
        present = {key for child in elements(element) for key in (child.tag, child.get("name"))}
        for child in elements(prototype):
            if child.tag not in present and child.get("name", "") not in present:
                element.append(copy.deepcopy(child))
        return element

    def source(self) -> str:
        """The element as text, defaults filled in, C++ scopes in tags restored."""
        text = etree.tostring(self.with_defaults(), encoding="unicode", with_tail=False)
        return re.sub(r"(</?\w+)\.\.", r"\1::", text)

    # ---- values ---------------------------------------------------------------------------------------------
    def text(self, tag: str, default: str = "") -> str:
        """Text of a property, stripped."""
        child = self.find(tag)
        return default if child is None else (child.text or "").strip()

    def flag(self, tag: str, default: bool = False) -> bool:
        """true or false."""
        text = self.text(tag).lower()
        if text in ("true", "false"):
            return text == "true"
        if text:
            self._malformed(tag, text, "true or false")
        return default

    def number(
        self, tag: str, default: float | None = None, *, infinite: bool = False, may_be_empty: bool = False
    ) -> float:
        """One finite number; without a default the property is required."""
        child = self.find(tag)
        if child is not None and may_be_empty and default is not None and not (child.text or "").strip():
            self.document.note(f"line {child.sourceline}: {self.label}: <{tag}> is empty; {default:g} is used.")
            return default
        if child is None or self._is_empty(child, tag, "one number"):
            if default is None:
                raise self.error(f"<{tag}> is missing.", expected="a number", to_do=f"add <{tag}>…</{tag}>")
            return default
        values = self._floats(child, tag, infinite)
        if len(values) == 1:
            return values[0]
        self._malformed(tag, (child.text or "").strip(), "one number", child)
        if values:  # OpenSim takes the first one: 2 for "2,5"
            return values[0]
        if default is None:
            raise self.error(f"<{tag}> holds {len(values)} numbers.", expected="one number")
        return default

    def integer(self, tag: str, default: int) -> int:
        """One whole number."""
        value = self.number(tag, float(default))
        if value != int(value):
            raise self.error(f"<{tag}> is {value}.", expected="a whole number")
        return int(value)

    def vector(self, tag: str, count: int, default: Sequence[float] | None = None, infinite: bool = False) -> tuple:
        """Exactly `count` finite numbers."""
        child = self.find(tag)
        if child is None or self._is_empty(child, tag, f"{count} numbers"):
            if default is None:
                raise self.error(f"<{tag}> is missing.", expected=f"{count} numbers")
            return tuple(default)
        values = self._floats(child, tag, infinite)
        odd_comma = re.search(r"(^|\s),|,\S", child.text or "") is not None  # OpenSim reads "1, 2" but not "1,2"
        if len(values) == count and not odd_comma:
            return values
        self._malformed(tag, (child.text or "").strip(), f"{count} numbers separated by blanks", child)
        if len(values) > count == 2 and not odd_comma:  # a list of two, not a vector: OpenSim takes the first ones
            return values[:count]
        return tuple(default) if default is not None else (0.0,) * count

    def numbers(self, tag: str) -> tuple[float, ...]:
        """Any count of finite numbers; commas and parentheses of old lists are dropped."""
        child = self.find(tag)
        return () if child is None or self._is_empty(child, tag, "numbers") else self._floats(child, tag, False)

    def words(self, tag: str) -> tuple[str, ...]:
        """Blank-separated names; parentheses of old lists are dropped."""
        return tuple(re.sub(r"[()]", " ", self.text(tag)).split())

    def _is_empty(self, child: etree._Element, tag: str, expected: str) -> bool:
        if (child.text or "").strip():
            return False
        self._malformed(tag, "nothing", expected, child)
        return True

    def _floats(self, child: etree._Element, tag: str, infinite: bool) -> tuple[float, ...]:
        text = re.sub(r"[,()]" if tag in BRACKETED else ",", " ", child.text or "")
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            if self.document.like_opensim:
                self._malformed(tag, text.strip(), "numbers", child)
                return ()
            raise self.error(f"<{tag}> does not hold numbers.", line=child.sourceline or 0,
                             found=_short(text), expected="numbers separated by blanks") from None
        for value in values:
            if math.isnan(value) or (math.isinf(value) and not infinite) or MAX_MAGNITUDE < abs(value) < math.inf:
                raise self.error(f"<{tag}> holds {value}.", line=child.sourceline or 0,
                                 expected="finite numbers of a sensible size in SI units")
        return values

    def _malformed(self, tag: str, found: str, expected: str, child: etree._Element | None = None) -> None:
        line = (child.sourceline if child is not None else 0) or self.line
        if not self.document.like_opensim:
            raise self.error(f"<{tag}> cannot be understood.", line=line, found=_short(found), expected=expected,
                             to_do=f"correct <{tag}> (OpenSim would ignore it without a word)")
        self.document.note(f"line {line}: {self.label}: <{tag}> should be {expected} and is '{_short(found)}'; "
                           "read as OpenSim reads it.")

    def unknown_word(self, tag: str, word: str, known: Sequence[str]) -> None:
        """Refuse a word that OpenSim would replace by its default."""
        self._malformed(tag, word, " or ".join(known), self.find(tag))

    # ---- nested objects -------------------------------------------------------------------------------------
    def object(self, prop: str, kinds: Sequence[str] = ()) -> Node | None:
        """A one-object property in any of its three spellings (OPENSIM_SEMANTICS.md §1.3)."""
        self.read.add(prop)
        for parent in (self.element, self.document.defaults.get(self.kind)):
            if parent is None:
                continue
            for child in elements(parent):
                named = child.get("name") == prop and child.tag != prop
                if named or (child.tag in kinds and not child.get("name")):
                    self.read.add(child.tag)
                    return self.node(child)
            wrapper = first(parent, prop)
            if wrapper is not None:
                self.read.add(prop)
                return next((self.node(child) for child in elements(wrapper)), None)
        return None

    def optional_object(self, prop: str) -> Node | None:
        """An optional object: only <prop><Class/></prop> is read, <Class name="prop"/> is dropped by OpenSim."""
        for child in elements(self.element):
            if child.get("name") == prop and child.tag != prop:
                self._malformed(prop, f'<{child.tag} name="{prop}">', f"<{prop}><{child.tag}>…</{prop}>", child)
        wrapper = self.find(prop)
        return None if wrapper is None else next((self.node(child) for child in elements(wrapper)), None)

    def members(self, tag: str, path: str) -> list[Node]:
        """Objects of a Set: children of <tag><objects>; `path` is the set's component path."""
        child = self.find(tag)
        objects = None if child is None else first(child, "objects")
        if objects is None:
            strays = [] if child is None else [item for item in elements(child) if item.tag != "groups"]
            for stray in strays[:1]:
                self._malformed(tag, f"<{stray.tag}>", "<objects> with the members of the set", stray)
            return []
        return [self.node(item, f"{path}/{item.get('name', '')}") for item in elements(objects)]

    def items(self, tag: str, path: str) -> list[Node]:
        """Objects of a list property: children of <tag>."""
        child = self.find(tag)
        return [] if child is None else [self.node(item, f"{path}/{item.get('name', '')}") for item in elements(child)]

    def check_spelling(self, also: Sequence[str] = (), cutoff: float = 0.75) -> None:
        """Refuse a tag that looks like a misspelt property, and a property given twice; OpenSim drops both in silence.

        `also` lists known tags that were not read (yet).
        """
        tags = Counter(child.tag for child in elements(self.element))
        known = {*self.read, *also, *(OLD_TAGS if self.document.version < OFFSET_FRAMES_VERSION else ())}
        absent = [tag for tag in known if tag not in tags]
        for child in elements(self.element):
            if child.tag in self.read and tags[child.tag] > 1 and child.tag not in REMARKS and not child.get("name"):
                self._malformed(child.tag, f"{tags[child.tag]} times", "once", child)
            if child.tag in known:
                continue
            close = _closest(child.tag, frozenset(absent), cutoff)
            if close and not self.document.like_opensim:
                raise self.error(f"<{child.tag}> is not a property of {self.kind}.", line=child.sourceline or 0,
                                 expected=f"<{close}>",
                                 to_do="correct the tag (OpenSim would ignore it)")
            if close:
                self.document.note(f"line {child.sourceline}: {self.label}: unknown <{child.tag}> ignored.")


@lru_cache(maxsize=512)  # all muscles of a model have the same tags
def _closest(tag: str, known: frozenset[str], cutoff: float) -> str:
    """The known tag that one may have meant; empty if none is similar."""
    return next(iter(difflib.get_close_matches(tag, sorted(known), n=1, cutoff=cutoff)), "")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
