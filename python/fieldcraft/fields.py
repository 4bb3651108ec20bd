"""Compiled maps: `StepField` for moving, `SightField` for seeing, and what they are made of."""

from __future__ import annotations

from fieldcraft.graph import Layer, Link, Patch
from fieldcraft.legal import legal_steps, windows
from fieldcraft.sight_field import SightField
from fieldcraft.step_field import Explainer, Part, StepField, Within, within

__all__ = [
    "Explainer",
    "Layer",
    "Link",
    "Part",
    "Patch",
    "SightField",
    "StepField",
    "Within",
    "legal_steps",
    "windows",
    "within",
]
