"""Attacks on the program: damaged files, kills, power failures, full disks, random input, hours of a bad camera.

`python -m torture` (see `make torture`) runs them and prints what happened. Every case follows from a seed and its
number, so that a failure can be repeated alone: `python -m torture media --case 1234`.
"""
