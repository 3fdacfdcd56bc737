"""Writes docs/validation.md: the figures of all studies, next to what is expected. A test holds the page to it.

    python docs/make_validation_page.py
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

VALIDATION = Path(__file__).resolve().parents[1] / "validation"
PAGE = Path(__file__).with_name("validation.md")
HEAD = """# Evidence

What was compared with what, and how it came out. This page is made by `python docs/make_validation_page.py` from the
stored results of the studies in `validation/`; `python validation/run_all.py` computes them again. Every study has a
folder with its script, its expected figures and a page with pictures.
"""

specification = importlib.util.spec_from_file_location("run_all", VALIDATION / "run_all.py")
assert specification is not None
assert specification.loader is not None
run_all = importlib.util.module_from_spec(specification)
specification.loader.exec_module(run_all)


def section(folder: Path) -> str:
    """One study: its README without the picture, and a table."""
    text = (folder / "README.md").read_text(encoding="utf-8").strip()
    blocks = [block for block in text.split("\n\n") if not block.startswith("![")]
    results, expected = (json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
                         for name in ("results", "expected"))
    rows = [f"| {name} | {results[name]:.3g} | {run_all.in_words(wanted)} | {wanted['source']} |" for name, wanted in
            expected.items()]
    table = "\n".join(["| figure | found | expected | source |", "|---|---|---|---|", *rows])
    return "\n\n".join([f"#{blocks[0]}", *blocks[1:], table]) + "\n"


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(file.parent) for file in sorted(VALIDATION.glob("*/study.py")))])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
