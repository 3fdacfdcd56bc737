"""A report from beginning to end: Request -> folder with page and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from osim_inertia.files import atomic_write_text
from osim_inertia.report.collect import Findings, Phase, collect, quiet
from osim_inertia.report.files import PAGE, complete_folder, write_files
from osim_inertia.report.page import can_draw, page
from osim_inertia.report.request import Request
from osim_inertia.view.page import fragment


def make_report(
    request: Request, output: Path, phase: Phase = quiet, before_muscles: Callable[[], object] = lambda: None
) -> tuple[Findings, dict[str, Any]]:
    """Compute everything and write the report into a folder; what was found, and what summary.json says.

    Without plotly and jinja2 there is no page, but everything else.
    """
    with complete_folder(output) as folder:
        findings = collect(request, folder, phase, draw=can_draw(), before_muscles=before_muscles)
        with phase("page", "Writing the report"):
            if findings.scene is not None:
                atomic_write_text(folder / PAGE, page(findings, fragment(findings.scene, div_id="motion")))
            found = write_files(findings, folder)
    return findings, found
