"""Where the shared folder is: a module of its own, which tests import when they are collected.

To import `conftest` itself would run it a second time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")


def shared_dir(*parts: str) -> Path:
    """Return the path of `parts` in the folder `shared` beside the repository.

    Without it the test is skipped; under ``CI=true`` it fails, since a skip would go unnoticed.
    To be called in a test, in a fixture, or where a module collects its parameters.
    """
    path = SHARED.joinpath(*parts)
    if path.exists():
        return path
    reason = f"needs {'/'.join(('..', 'shared', *parts))}, beside the repository"
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)
