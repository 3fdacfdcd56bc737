"""A page in headless Chromium, for tests: `with open_page(file) as page: …; assert not page.errors`."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REQUIRED = bool(os.environ.get("OSIM_INERTIA_REQUIRE_ORACLE"))  # set by .ci/run: nothing may be skipped there
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
             "--disable-background-networking", "--disable-component-update", "--no-first-run")  # fmt: skip


class Opened:
    """A page, and what went wrong on it: errors and warnings of the console, exceptions, requests to a network."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(f"exception: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        # the driver says when drawing in software is slow; a page cannot change that
        if message.type in ("error", "warning") and "GL Driver Message (OpenGL, Performance" not in message.text:
            self.errors.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.errors.append(f"request: {request.url}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)


@contextlib.contextmanager
def open_page(
    path: Path, *, dark: bool = False, width: int = 1280, height: int = 800, webgl: bool = True, **options: Any
) -> Iterator[Opened]:
    """The page of a file; `options` go to the browser's context (has_touch, reduced_motion …)."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if program is None or sync_playwright is None:
        missing = "Chromium" if program is None else "playwright"
        if REQUIRED:
            pytest.fail(f"{missing} is required but not installed.")
        pytest.skip(f"{missing} is not installed")
    extra = () if webgl else ("--disable-gpu", "--disable-3d-apis")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS, *extra])
        try:
            context = browser.new_context(color_scheme="dark" if dark else "light", offline=True,
                                          viewport={"width": width, "height": height}, **options)  # fmt: skip
            opened = Opened(context.new_page())
            opened.page.goto(path.resolve().as_uri())
            yield opened
        finally:
            browser.close()
