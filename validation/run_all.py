"""Runs the studies, holds their figures against what is expected, and writes a page for each.

    python validation/run_all.py [STUDY …] [-o FOLDER]

Each study is a folder: study.py writes results.json and pictures, expected.json says what the figures should be and
why, README.md tells the reader. With -o everything is written below another folder and the project stays as it is.
Ends with 1 if a figure is not as expected.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import markdown

HERE = Path(__file__).resolve().parent
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }}
img {{ max-width: 100%; background: #fff; }} .wide {{ overflow-x: auto; }} .no {{ color: #c62828; font-weight: bold; }}
table {{ border-collapse: collapse; font-size: .9rem; }} td, th {{ padding: .25rem .8rem .25rem 0; text-align: left;
border-bottom: 1px solid #8884; vertical-align: top; }} td:nth-child(2) {{ text-align: right; }}
td:nth-child(2), td:nth-child(3) {{ white-space: nowrap; }}
@media print {{ body {{ max-width: none; }} tr {{ break-inside: avoid; }} }}
</style></head><body>
{text}
<h2>Figures</h2><div class="wide"><table>
<thead><tr><th>figure</th><th>found</th><th>expected</th><th>source</th><th></th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
</body></html>
"""


def studies() -> list[str]:
    """Names of all folders that hold a study."""
    return sorted(file.parent.name for file in HERE.glob("*/study.py"))


def holds(found: float, expected: dict[str, Any]) -> bool:
    """Whether a figure is as expected; NaN never is."""
    if "value" in expected:
        return abs(found - expected["value"]) <= expected["within"]
    return expected.get("at least", -float("inf")) <= found <= expected.get("at most", float("inf"))


def in_words(expected: dict[str, Any]) -> str:
    """What is expected of a figure."""
    if "value" in expected:
        return f"{expected['value']:g} ± {expected['within']:g}"
    return ", ".join(f"{bound} {expected[bound]:g}" for bound in ("at least", "at most") if bound in expected)


def page(study: str, results: dict[str, Any], expected: dict[str, Any], folder: Path) -> str:
    """A study as one HTML file."""
    rows = []
    for name, value in results.items():
        wanted = expected.get(name)
        verdict = "" if wanted is None else "holds" if holds(value, wanted) else '<span class="no">does not hold</span>'
        cells = (html.escape(name), f"{value:.4g}", in_words(wanted) if wanted else "",
                 html.escape(wanted["source"]) if wanted else "", verdict)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    text = (HERE / study / "README.md").read_text(encoding="utf-8")
    for picture in folder.glob("*.png"):
        data = base64.b64encode(picture.read_bytes()).decode()
        text = text.replace(f"({picture.name})", f"(data:image/png;base64,{data})")
    return PAGE.format(title=html.escape(text.splitlines()[0].lstrip("# ")), text=markdown.markdown(text),
                       rows="\n".join(rows))


def run(study: str, folder: Path) -> list[str]:
    """Run one study and write its page; what is not as expected, in words."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(HERE / study / "study.py"), str(folder)], check=True)
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    expected = json.loads((HERE / study / "expected.json").read_text(encoding="utf-8"))
    (folder / "report.html").write_text(page(study, results, expected, folder), encoding="utf-8")
    missing = [f"{study}: '{name}' was not computed" for name in expected if name not in results]
    return missing + [f"{study}: {name} is {results[name]:.4g}, expected {in_words(wanted)}"
                      for name, wanted in expected.items() if name in results and not holds(results[name], wanted)]


def main() -> int:
    """All studies or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"of {', '.join(studies())}; default all")
    parser.add_argument("-o", "--output", type=Path, default=HERE, metavar="FOLDER", help="write below this folder")
    options = parser.parse_args()
    unknown = set(options.studies) - set(studies())
    if unknown:
        parser.error(f"there is no study {', '.join(sorted(unknown))}; there are: {', '.join(studies())}")
    wrong = []
    for study in options.studies or studies():
        found = run(study, options.output / study)
        print(f"{study}: {'not as expected' if found else 'as expected'}", flush=True)
        wrong += found
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
