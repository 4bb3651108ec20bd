"""``python -m fieldcraft`` is the command ``fieldcraft``."""

from fieldcraft.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
