"""Blocks of text to rows of numbers, fast, with the line of every fault.

A block is parsed as one run of numbers; that each line holds the right count of them is checked on the bytes. Only a
block with a fault is looked at line by line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import FileError

Array = NDArray[np.float64]
BLOCK_BYTES = 4_000_000
LAST_BLANK = 32  # bytes up to the space separate numbers


@dataclass
class Faults:
    """Words the first fault of a block."""

    path: Path
    line: int  # of the first line of the next block
    labels: tuple[str, ...]
    to_do: str
    keep_nan: bool = False

    def explain(self, block: bytes, commas: bool) -> None:
        """Raise the error of the first line that is not a row of finite numbers."""
        text = block.replace(b",", b" ") if commas else block
        for offset, raw in enumerate(text.split(b"\n")):
            words = raw.split()
            if not words:
                continue
            for column, word in enumerate(words[: len(self.labels)]):
                self._check(word.decode("utf-8", "replace"), self.labels[column], self.line + offset)
            if len(words) != len(self.labels):
                fewer = "few" if len(words) < len(self.labels) else "many"
                raise FileError(f"The row has too {fewer} numbers.", file=self.path, line=self.line + offset,
                                found=str(len(words)), expected=f"{len(self.labels)}, one for each label",
                                to_do=self.to_do)

    def _check(self, word: str, label: str, line: int) -> None:
        try:
            value = float(word)
        except ValueError:
            raise FileError(f"'{label}' is not a number.", file=self.path, line=line, found=f"'{word[:40]}'",
                            to_do=self.to_do) from None
        if not np.isfinite(value) and not self.keep_nan:
            raise FileError(f"'{label}' is {word}.", file=self.path, line=line, expected="a finite number",
                            to_do="fill the gap or cut it off (OpenSim would drop this row and all that follow)")


def blocks(file: BinaryIO, columns: int, faults: Faults, *, commas: bool) -> Iterator[Array]:
    """The rest of the file as blocks of rows (k, columns)."""
    rest = b""
    while True:
        data = file.read(BLOCK_BYTES)
        text = rest + data
        if data:
            cut = text.rfind(b"\n") + 1
            text, rest = text[:cut], text[cut:]
        if text:
            yield _parse(text, columns, faults, commas)
            faults.line += text.count(b"\n")
        if not data:
            return


def _parse(text: bytes, columns: int, faults: Faults, commas: bool) -> Array:
    clean = text.replace(b",", b" ") if commas else text
    counts = numbers_per_line(clean)
    numbers = parse_numbers(clean)
    whole = numbers is not None and bool((counts == columns).all()) and len(numbers) == columns * len(counts)
    if numbers is None or not whole or not (faults.keep_nan or np.isfinite(numbers).all()):
        faults.explain(text, commas)
        raise FileError("A row cannot be understood.", file=faults.path, line=faults.line)
    return numbers.reshape(-1, columns)


def numbers_per_line(text: bytes) -> NDArray[np.int64]:
    """Words in each line that is not blank."""
    byte = np.frombuffer(text, dtype=np.uint8)
    is_word = byte > LAST_BLANK
    starts = is_word.copy()
    starts[1:] &= ~is_word[:-1]
    ends = np.flatnonzero(byte == 10)
    total = np.add.reduceat(starts, np.concatenate([[0], ends[ends + 1 < len(byte)] + 1]), dtype=np.int64)
    return total[total > 0]


def parse_numbers(text: bytes) -> Array | None:
    """All numbers of a text, or None if something else is among them."""
    if not text or text.isspace():  # of which NumPy makes one number
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def stream_of_numbers(file: BinaryIO, wanted: int) -> tuple[Array, bool, bool]:
    """Up to `wanted` numbers, ended by the first word that is no finite number.

    Also whether such a word ended them, and whether more than the wanted numbers are there.
    """
    parts: list[Array] = []
    count, rest = 0, b""
    while count < wanted:
        data = file.read(BLOCK_BYTES)
        text = rest + data
        if data:
            cut = max(text.rfind(blank) for blank in (b"\n", b" ", b"\t")) + 1
            text, rest = text[:cut], text[cut:]
        numbers = parse_numbers(text)
        if numbers is None or not np.isfinite(numbers).all():
            parts.append(_leading_numbers(text))
            numbers = np.concatenate(parts)
            return numbers[:wanted], len(numbers) < wanted, True
        parts.append(numbers)
        count += len(numbers)
        if not data:
            break
    numbers = np.concatenate(parts) if parts else np.empty(0)
    more = len(numbers) > wanted or bool((rest + file.read(BLOCK_BYTES)).strip())
    return numbers[:wanted], False, more


def _leading_numbers(text: bytes) -> Array:
    values: list[float] = []
    for word in text.split():
        try:
            value = float(word)
        except ValueError:
            break
        if not np.isfinite(value):
            break
        values.append(value)
    return np.array(values)
