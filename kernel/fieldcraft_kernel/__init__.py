"""Numba kernels of Fieldcraft: flat arrays in, flat arrays out; no games, no classes, no I/O.

Importing this package imports nothing else; import the module that holds the kernel you want.
"""

__all__ = ["bodies", "lattice", "lines", "queues", "search", "sight", "steps", "walk"]
