"""Benchmarks: answers are checked first, then times are taken side by side in one run."""
