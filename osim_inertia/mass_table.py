"""Tables of muscle masses: CSV (name, mass) or TOML (name = mass)."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from osim_inertia.errors import FileError


def read_mass_table(path: str | Path) -> dict[str, float]:
    """Muscle name -> mass. In a CSV file the first two columns count; a heading line is allowed."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"The table of masses cannot be read: {error.strerror or error}.", file=path) from None
    except UnicodeDecodeError:
        raise FileError("The table of masses is not a text file.", file=path) from None
    rows = _toml_rows(text, path) if path.suffix.lower() == ".toml" else _csv_rows(text, path)
    table: dict[str, float] = {}
    for line, name, mass in rows:
        if name in table:
            raise FileError(f"Muscle '{name}' is there twice.", file=path, line=line)
        table[name] = mass
    if not table:
        raise FileError("The table of masses is empty.", file=path, expected="lines such as soleus_r,0.45")
    return table


def _csv_rows(text: str, path: Path) -> list[tuple[int | None, str, float]]:
    rows: list[tuple[int | None, str, float]] = []
    separator = ";" if ";" in text else ","
    headed = False
    for line, cells in enumerate(csv.reader(text.splitlines(), delimiter=separator), start=1):
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith("#"):
            continue
        try:
            rows.append((line, cells[0], float(cells[1].replace(",", "."))))  # 0,45 where ; separates
        except (IndexError, ValueError):
            if rows or headed:
                raise FileError("This line does not hold a name and a mass.", file=path, line=line,
                                found=separator.join(cells), expected="soleus_r,0.45") from None
            headed = True
    return rows


def _toml_rows(text: str, path: Path) -> list[tuple[int | None, str, float]]:
    if sys.version_info < (3, 11):
        raise FileError("TOML tables need Python 3.11 or newer.", file=path, to_do="write the table as CSV")
    import tomllib  # type: ignore[import-not-found]

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"This is not TOML: {error}.", file=path) from None
    rows: list[tuple[int | None, str, float]] = []
    for key, item in data.items():
        for name, value in item.items() if isinstance(item, dict) else [(key, item)]:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise FileError(f"The mass of '{name}' is not a number.", file=path, found=str(value))
            rows.append((None, name, float(value)))
    return rows
