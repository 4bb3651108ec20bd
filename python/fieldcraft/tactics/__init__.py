"""One turn of one creature: where it can go, what it can do there, what that exposes it to."""

from __future__ import annotations

from fieldcraft.tactics.weapons import Weapon

__all__ = ["Weapon"]
