"""Numba kernels of Fieldcraft: flat arrays in, flat arrays out; no games, no classes, no I/O.

Importing this package imports nothing else; import the module that holds the kernel you want.
"""

__all__ = [
    "astar",
    "bits",
    "bodies",
    "book",
    "breadth",
    "components",
    "fans",
    "flood",
    "inside",
    "jump",
    "lanes",
    "lattice",
    "lines",
    "pairs",
    "plain",
    "queues",
    "safest",
    "search",
    "shadows",
    "sight",
    "stacks",
    "steps",
    "viewlanes",
    "views",
    "walk",
    "words",
]
