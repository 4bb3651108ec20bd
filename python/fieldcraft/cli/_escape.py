"""Names from files on a terminal: nothing that is no printable character gets there raw."""

from __future__ import annotations

__all__ = ["visible"]


def visible(text: str) -> str:
    r"""Return the text with each character that cannot be printed written as an escape.

    Examples
    --------
    >>> from fieldcraft.cli._escape import visible
    >>> print(visible("red \x1b[31m"))
    red \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
