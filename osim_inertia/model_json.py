"""write_model and read_model: the whole Model, muscle mass included, as JSON that people can read and programs check.

    Model --model_json--> .json --model_json--> the same Model, number by number

An element is an object that names its class, {"class": "Body", "name": "tibia_r", …}; tuples are lists; numbers have as
many digits as they need to come back exactly; what JSON has no number for is "inf", "-inf" or "nan". Only classes of
the table below are ever made, and every value is checked against the type its field declares.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from osim_inertia.errors import FileError, ModelError
from osim_inertia.files import atomic_write_text
from osim_inertia.model import constraints, forces, frames, functions, joints, muscle_mass, paths
from osim_inertia.model.model import Model
from osim_inertia.model_references import check_references

FORMAT = "osim-inertia model"
VERSION = 1
WIDTH = 120  # what fits is written on one line
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
MAY_BE_INFINITE = ("range", "properties")  # limits of coordinates, and what forces have that is not computed with
ADVICE = "make it again with `osim-inertia convert` or oi.write_model"

CLASSES: dict[str, type] = {
    name: item
    for module in (constraints, forces, frames, functions, joints, muscle_mass, paths)
    for name, item in vars(module).items()
    if isinstance(item, type) and dataclasses.is_dataclass(item) and item.__module__ == module.__name__
} | {"Model": Model}


class _MisfitError(Exception):
    """A value that does not fit its field: where, what was found, what was expected."""

    def __init__(self, where: str, found: object, expected: str) -> None:
        super().__init__(where)
        text = json.dumps(found, ensure_ascii=False) if not isinstance(found, str) else found
        self.where, self.found, self.expected = where or "model", _shortened(text), expected


def write_model(model: Model, path: str | Path) -> Path:
    """Write the complete model as JSON; an existing file is replaced once the new one is complete. Returns the path."""
    atomic_write_text(path, model_text(model))
    return Path(path)


def model_text(model: Model) -> str:
    """The document as text."""
    document = {"format": FORMAT, "version": VERSION, "model": _encoded(model)}
    return "".join(_pretty(document, 0)) + "\n"


def read_model(path: str | Path) -> Model:
    """The model of a file that `write_model` wrote."""
    document = _document(path)
    try:
        model = _decoded(document["model"], Model, "")
    except _MisfitError as error:
        raise FileError(f"{error.where}: this is not what a model has there.", file=path, found=error.found,
                        expected=error.expected, to_do=ADVICE) from None
    assert isinstance(model, Model)
    try:
        check_references(model)
    except ModelError as error:
        raise FileError(str(error), file=path, to_do=ADVICE) from None
    return model


# ---- writing --------------------------------------------------------------------------------------------------------
def _encoded(value: Any) -> Any:
    """The value in lists, dicts, strings and numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _encoded(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": type(value).__name__} | fields
    if isinstance(value, tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    return value


def _pretty(value: Any, depth: int) -> Iterator[str]:
    """JSON with one element per line where a line holds it."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) + depth <= WIDTH or not isinstance(value, (dict, list)):
        yield line
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    items: Iterable[tuple[str, Any]]
    if isinstance(value, dict):
        items = ((json.dumps(key, ensure_ascii=False) + ": ", item) for key, item in value.items())
    else:
        items = (("", item) for item in value)
    indent = "\n" + " " * (depth + 1)
    yield opening
    for number, (label, item) in enumerate(items):
        yield ("," if number else "") + indent + label
        yield from _pretty(item, depth + 1)
    yield "\n" + " " * depth + closing


# ---- reading --------------------------------------------------------------------------------------------------------
def _document(path: str | Path) -> dict[str, Any]:
    """The outermost object, known to be ours and of a version we read."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror or error}.", file=path) from None
    except UnicodeDecodeError:
        raise FileError("This is not a text file.", file=path, expected="a model in JSON", to_do=ADVICE) from None
    except json.JSONDecodeError as error:
        raise FileError(f"This is not JSON: {error.msg}.", file=path, line=error.lineno, to_do=ADVICE) from None
    except _MisfitError as error:
        raise FileError(f"'{error.where}' is there twice in one object.", file=path, to_do=ADVICE) from None
    except (RecursionError, ValueError):  # ValueError: a number with thousands of digits
        raise FileError("This is no model: it is nested too deeply, or has endless numbers.", file=path) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT or "model" not in document:
        raise FileError("This JSON is not a model of osim-inertia.", file=path,
                        expected=f'{{"format": "{FORMAT}", "version": {VERSION}, "model": …}}', to_do=ADVICE)
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        newer = isinstance(version, int) and version > VERSION
        raise FileError(f"Version {_shortened(json.dumps(version))} of the format cannot be read.", file=path,
                        expected=f"version {VERSION}",
                        to_do="update osim-inertia (pip install -U osim-inertia)" if newer else ADVICE)
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise _MisfitError(next(name for name in names if names.count(name) > 1), "", "")
    return result


def _decoded(value: Any, kind: Any, where: str) -> Any:
    """The value as the declared type has it; _MisfitError if it does not fit."""
    options = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    if value is None and type(None) in options:
        return None
    classes = [option for option in options if dataclasses.is_dataclass(option)]
    if classes:
        return _element(value, classes, where)
    (kind,) = (option for option in options if option is not type(None))
    if get_origin(kind) is tuple:
        return _tuple(value, get_args(kind), where)
    if kind is float:
        return _number(value, where)
    if type(value) is not kind:
        words = {str: "a text in quotes", int: "a whole number", bool: "true or false"}
        raise _MisfitError(where, value, words[kind])
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, str) and value in NOT_FINITE and any(f".{name}[" in where for name in MAY_BE_INFINITE):
        return NOT_FINITE[value]
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise _MisfitError(where, value, "a number")


def _tuple(value: Any, kinds: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _MisfitError(where, value, "a list")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise _MisfitError(where, value, f"{len(kinds)} values")
    return tuple(_decoded(item, kind, f"{where}[{i}]") for i, (item, kind) in enumerate(zip(value, kinds)))


def _element(value: Any, classes: list[Any], where: str) -> Any:
    """An object of one of the classes or of their subclasses."""
    allowed = {name: item for name, item in CLASSES.items() if any(issubclass(item, base) for base in classes)}
    words = " or ".join(allowed)
    if not isinstance(value, dict):
        raise _MisfitError(where, value, f"an object of class {words}")
    name = value.get("class")
    if not isinstance(name, str) or name not in allowed:
        raise _MisfitError(f"{where}.class".strip("."), name, words)
    chosen = allowed[name]
    hints, required = _fields(chosen)
    for key in value:
        if key != "class" and key not in hints:
            raise _MisfitError(f"{where}.{key}".strip("."), value[key], f"a {name} has only: {', '.join(hints)}")
    missing = [key for key in required if key not in value]
    if missing:
        raise _MisfitError(where, f"a {name} without {missing[0]}", f"a {name} has: {', '.join(hints)}")
    return chosen(**{key: _decoded(value[key], kind, f"{where}.{key}".strip(".")) for key, kind in hints.items()
                     if key in value})


@cache
def _fields(kind: type) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Declared types by field, and the fields that have no default."""
    hints = get_type_hints(kind)
    fields = dataclasses.fields(kind)
    missing = dataclasses.MISSING
    required = tuple(f.name for f in fields if f.default is missing and f.default_factory is missing)
    return {field.name: hints[field.name] for field in fields}, required


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
