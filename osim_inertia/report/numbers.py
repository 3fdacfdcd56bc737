"""Numbers as a reader wants them: few digits, powers of ten written out."""

from __future__ import annotations

import math


def number(value: float | None) -> str:
    """Three significant digits."""
    if value is None or not math.isfinite(value):
        return "–"
    if value and not 1e-3 <= abs(value) < 1e5:
        return power(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{digits}f}"


def power(value: float) -> str:
    """1.2 × 10⁻⁷, for very small and very large numbers."""
    if not value:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}\u00a0×\u00a010{raised}"


def percent(share: float) -> str:
    """A share as 12 %, or 1.2 % if it is small."""
    value = 100.0 * share
    return f"{value:.1f}\u00a0%" if abs(value) < 9.95 else f"{value:.0f}\u00a0%"


def seconds(value: float | None) -> str:
    """To the millisecond."""
    return "–" if value is None else f"{value:.3f}"
