"""The commands of ``fieldcraft rules``: which systems there are, what they say, what proves it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldcraft.cli._commands import counted, print_json
from fieldcraft.cli._text import Screen
from fieldcraft.errors import RulesError

if TYPE_CHECKING:
    from fieldcraft.cli._coverage import Rule
    from fieldcraft.rules import Effect, Rules, TerrainType

__all__ = ["coverage", "show", "systems"]

FIGURES = ("entry", "exit", "obstruction")
SHOWN = ("id", "name", *FIGURES, "glyph", "colour")
IN_EFFECTS = (
    "climb", "stay", "prone", "leaving", "forbids", "on_entry", "round_end", "slip", "knockdown",
    "raised", "hidden", "tree_climb", "test",
)  # fmt: skip


def systems(*, json: bool) -> int:
    """Print the rule systems, one a line."""
    from fieldcraft import rules

    found = [rules.get(name) for name in rules.names()]
    if json:
        return print_json({"systems": [_about(system) for system in found]})
    rows = []
    for system in found:
        about = _about(system)
        lattices = " ".join(about["lattices"])
        rows.append((system.name, lattices, system.unit, str(about["n_terrains"]), about["about"]))
    titles = ("system", "lattices", "unit", "terrains", "about")
    Screen().show_table(titles, rows, right=("terrains",), wrapped=("lattices", "about"))
    return 0


def show(name: str, *, json: bool) -> int:
    """Print the terrains of a system, its borders and its parameters."""
    from fieldcraft import rules

    system = rules.resolve(name)
    terrains = [_terrain(system, entry) for entry in system.table.values()]
    borders = {kind: _plain(price) for kind, price in system.table.borders.items()}
    parameters = _parameters(system)
    if json:
        return print_json(
            {
                **_about(system),
                "terrains": terrains,
                "borders": borders,
                "parameters": {key: _plain(value) for key, value in parameters.items()},
            }
        )
    screen = Screen()
    about = _about(system)
    screen.show(f"{system.name}: {about['about']}")
    screen.show(f"On {_listed(about['lattices'])}, in {system.unit}; {_ticks(system)}.")
    screen.show()
    # A column of figures that are 0 throughout says nothing.
    figures = [key for key in FIGURES if key == "entry" or any(entry[key] for entry in terrains)]
    rows = [
        (
            entry["id"],
            entry["name"],
            *(_number(entry[key]) for key in figures),
            " ".join(entry["flags"]),
            entry["does"],
        )
        for entry in terrains
    ]
    titles = ("terrain", "name", *figures, "flags", "what it does")
    screen.show_table(titles, rows, right=figures, wrapped=("flags", "what it does"))
    if borders:
        screen.show()
        priced = [(kind, _number(price)) for kind, price in borders.items()]
        screen.show_table(("border", system.unit), priced, right=(system.unit,))
    screen.show()
    if not parameters:
        screen.show(f"{system.name} has no parameters.")
        return 0
    lines = [(key, _value(value)) for key, value in parameters.items()]
    screen.show_table(("parameter", "value"), lines, wrapped=("value",))
    return 0


def coverage(*, tests: bool, json: bool) -> int:
    """Print each rule with the number of its tests; the code is 1 where one has none."""
    from fieldcraft.cli import _coverage

    root = _coverage.find_checkout() or _coverage.find_checkout(Path.cwd())
    if root is None:
        raise RulesError(
            "coverage is counted in a source checkout, with docs/rules and tests; this is an "
            "installed copy, and this folder lies in no checkout"
        )
    found = _coverage.coverage(root)
    missing = [rule for rule, proofs in found.items() if not proofs]
    if json:
        print_json(
            {
                "rules": [_rule(rule, proofs, tests=tests) for rule, proofs in found.items()],
                "missing": [rule.number for rule in missing],
            }
        )
        return 1 if missing else 0
    screen = Screen()
    rows: list[tuple[str, str, str]] = []
    for rule, proofs in found.items():
        rows.append((rule.number, str(len(proofs)), rule.title))
        rows += [("", "", f"  {proof}") for proof in proofs] if tests else []
    screen.show_table(("rule", "tests", "title"), rows, right=("tests",), wrapped=("title",))
    screen.show()
    without = f": {' '.join(rule.number for rule in missing)}" if missing else ""
    screen.show(f"{counted(len(found), 'rule')}, {len(missing)} without a test{without}.")
    return 1 if missing else 0


# -- what there is to say ---------------------------------------------------------------------


def _about(system: Rules) -> dict[str, Any]:
    described = inspect.getdoc(type(system)) or ""
    return {
        "name": system.name,
        "lattices": list(getattr(system, "lattices", ())),
        "unit": system.unit,
        "ticks": _plain(system.ticks),
        "n_terrains": len(system.table),
        "about": described.partition("\n")[0],
    }


def _rule(rule: Rule, proofs: list[str], *, tests: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "number": rule.number,
        "title": rule.title,
        "system": rule.system,
        "count": len(proofs),
    }
    return {**about, "tests": proofs} if tests else about


def _parameters(system: Rules) -> Mapping[str, Any]:
    parameters = getattr(system, "parameters", None)
    return parameters() if callable(parameters) else {}


def _terrain(system: Rules, entry: TerrainType) -> dict[str, Any]:
    """Return what a terrain is, for JSON and for people alike."""
    found: dict[str, Any] = {"id": entry.id, "name": entry.name}
    found |= {key: _plain(getattr(entry, key)) for key in FIGURES}
    flags, does = [], []
    for key, value in _told(entry):
        if isinstance(value, bool):
            flags.append(_words(key) if value else f"no {_words(key)}")
        elif key == "bold":
            does.append(f"bold: entry {_number(_plain(value.entry))}")
        elif key == "number":
            does.append(f"{entry.id}:n has {value} n")
        elif key == "speeds":
            does.append(f"only by {_listed(list(value))}")
        elif key == "obstructs":
            does.append(f"obstructs as {value}")
        elif key not in (*SHOWN, *IN_EFFECTS):
            does.append(f"{_words(key)} {_detail(value)}")
    return {**found, "flags": flags, "does": [*does, *_effects(system.effects(entry.id))]}


def _told(entry: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a structure that differ from their defaults."""
    for item in fields(entry):
        value = getattr(entry, item.name)
        if item.default is MISSING or value != item.default:
            yield item.name, value


def _effects(effects: Iterable[Effect]) -> list[str]:
    """Return effects in words; the modifiers of one moment make one phrase."""
    from fieldcraft.rules import Modifier

    phrases: dict[tuple[str, str, int], list[str]] = {}
    for number, effect in enumerate(effects, 1):
        phrase = 0 if isinstance(effect.detail, Modifier) else number
        at = effect.when, effect.footing, phrase
        phrases.setdefault(at, []).append(_effect(effect.detail))
    return [
        f"{_words(when)}{f' {footing}' if footing else ''}: {', '.join(texts)}"
        for (when, footing, _), texts in phrases.items()
    ]


def _effect(detail: Any) -> str:
    """Return in words what happens."""
    from fieldcraft import rules

    match detail:
        case rules.Modifier():
            return f"{_words(detail.what)} {_signed(detail.value, detail.unit)}"
        case rules.Forbids():
            return f"no {_words(detail.what)}"
        case rules.Save():
            fails = ["knockdown"] if detail.knockdown else []
            fails += [str(detail.damage)] if detail.damage else []
            combat = " in combat" if detail.combat else ""
            save = f"{detail.save} save{_on_ground(detail.modifiers)}"
            return f"{save} or {' and '.join(fails)}{combat}"
        case rules.Slip():
            dry, *other = detail.initiative._asdict().items()
            rolls = ", ".join(f"{ground} {roll}" for ground, roll in other)
            save = f"save{_on_ground(detail.save)}"
            return f"slip on initiative {dry[1]} ({rolls}), {save}"
        case rules.Knockdown():
            parts = [str(detail.damage)] if detail.damage else []
            if detail.fall_chance:
                parts.append(f"fall {detail.fall_chance} %")
            if detail.fall_damage:
                parts[-1] += f" ({detail.fall_damage})"
            if detail.high_fall_damage:
                high = _number(_plain(detail.high_metres))
                parts.append(f"from {high} m {detail.high_fall_damage}")
            return ", ".join(parts)
        case rules.Climb():
            slopes = [f"{s.name} to {s.upto} {_signed(s.modifier, '%')}" for s in detail.slopes]
            rise = _number(_plain(detail.rise))
            text = f"{detail.surface}, {detail.height} m high (without elevation {rise} m)"
            if detail.metres_per_level:
                text += f", a level for {detail.metres_per_level} m"
            return text + (f", slope {', '.join(slopes)}" if slopes else "")
        case rules.Raised():
            metres = _number(_plain(detail.except_metres))
            return f"raised, not against {detail.except_size} over {metres} m"
        case rules.Hidden():
            at = f" at {detail.modifier:+d}" if detail.modifier else ""
            return f"found from {_number(_plain(detail.metres))} m{at}"
        case rules.PerchSearch():
            where = "here" if detail.where == "own" else "elsewhere"
            parts = [f"perch {where}: {detail.action} action"]
            parts += ["test"] if detail.test else []
            parts += [f"{detail.later:+d} on later actions"] if detail.later else []
            parts += [f"{detail.a_round} a round"] if detail.a_round else []
            return ", ".join(parts)
        case rules.Landing():
            return f"{detail.save} save below or {detail.share} of the damage"
    told = _detail(detail)
    kind = _words(type(detail).__name__)
    return f"{kind} {told}" if told else kind


def _signed(value: int, unit: str) -> str:
    return f"{value:+d} {unit}".rstrip()


def _on_ground(ground: Any) -> str:
    """Return the modifiers of a save by the state of the ground, in brackets."""
    listed = [f"{name} {value:+d} %" for name, value in ground._asdict().items() if value]
    return f" ({', '.join(listed)})" if listed else ""


def _detail(value: Any) -> str:
    """Return a value of a terrain table in words, whatever it is made of."""
    if hasattr(value, "_asdict"):
        items: Iterable[tuple[str, Any]] = value._asdict().items()
        return " ".join(f"{_words(key)} {_detail(item)}" for key, item in items if item)
    if is_dataclass(value) and type(value).__str__ is not object.__str__:
        return str(value)
    if is_dataclass(value):
        return ", ".join(
            _words(key) if item is True else f"{_words(key)} {_detail(item)}"
            for key, item in _told(value)
        )
    if isinstance(value, tuple | list | frozenset):
        return " / ".join(map(_detail, sorted(value) if isinstance(value, frozenset) else value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(key))} {_detail(item)}" for key, item in value.items())
    if isinstance(value, Fraction | float):
        return _number(_plain(value))
    return str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
    return value


def _value(value: Any) -> str:
    """Return a parameter as a rules file writes it."""
    plain = _plain(value)
    if plain is None:
        return "none"
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in plain.items()) + " }"
    if isinstance(plain, list):
        return "[" + ", ".join(map(_value, plain)) + "]"
    return _number(plain) if isinstance(plain, int | float) else str(plain)


def _number(value: float) -> str:
    return f"{value:.6g}"


def _ticks(system: Rules) -> str:
    tick = 1 / Fraction(system.ticks)
    return f"a tick is {_number(_plain(tick))} {system.unit[:-1] if tick == 1 else system.unit}"


def _listed(words: list[str]) -> str:
    return ", ".join(words)


def _words(name: str) -> str:
    """Return a name of the code as words."""
    spaced = "".join(
        f" {c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name)
    )
    return spaced.replace("_", " ")
