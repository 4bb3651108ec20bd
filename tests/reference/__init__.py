"""Slow, plain references that the library is checked against. They import nothing of it."""
