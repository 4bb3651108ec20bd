"""Compiled maps: `StepField` for moving, `SightField` for seeing."""

from __future__ import annotations

from fieldcraft.sight_field import SightField
from fieldcraft.step_field import (
    Explainer,
    Layer,
    Link,
    Part,
    StepField,
    Within,
    legal_steps,
    within,
)

__all__ = [
    "Explainer",
    "Layer",
    "Link",
    "Part",
    "SightField",
    "StepField",
    "Within",
    "legal_steps",
    "within",
]
