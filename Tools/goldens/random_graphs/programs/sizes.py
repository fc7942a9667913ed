# SPDX-License-Identifier: Apache-2.0
"""Sizes of dimensions that are not known: names, and expressions of names, which are equal if they are written alike."""

import itertools


class Size:
    """A dimension that a caller or data decides. Names are in the order in which they were made: a seed gives the same program each time."""

    __slots__ = ("_number",)
    _numbers = itertools.count()

    def __init__(self):
        self._number = next(self._numbers)

    def __repr__(self):
        return f"size {self._number:012}"


def added(*sizes):
    """A sum; sorted, so that the order does not matter."""
    number = sum(size for size in sizes if isinstance(size, int))
    names = []
    for size in sizes:
        if isinstance(size, int):
            continue
        if isinstance(size, tuple) and size[0] == "+":
            number += size[1]
            names += size[2:]
        else:
            names.append(size)
    if not names:
        return number
    if len(names) == 1 and not number:
        return names[0]
    return ("+", number, *sorted(names, key=_key))


def multiplied(*sizes):
    number, names = 1, []
    for size in sizes:
        if isinstance(size, int):
            number *= size
        elif isinstance(size, tuple) and size[0] == "*":
            number *= size[1]
            names += size[2:]
        else:
            names.append(size)
    if not names or not number:
        return number
    if len(names) == 1 and number == 1:
        return names[0]
    return ("*", number, *sorted(names, key=_key))


def derived(name, *facts):
    """What a rule makes of sizes, such as a slice."""
    return (name, *facts)


def _key(size):
    return repr(size)


def replaced(size, known):
    """A size in terms of a caller: names that it does not know are new ones, the same for each call of it."""
    if isinstance(size, Size):
        if size not in known:
            known[size] = Size()
        return known[size]
    if not isinstance(size, tuple):
        return size
    parts = [replaced(part, known) if isinstance(part, (Size, tuple)) else part for part in size[1:]]
    if size[0] == "+":
        return added(*parts)
    if size[0] == "*":
        return multiplied(*parts)
    return (size[0], *parts)


def matched(pattern, sizes, known):
    """Whether a parameter's dimensions take these; notes what its names stand for."""
    if pattern is None or sizes is None or len(pattern) != len(sizes):
        return False
    for want, have in zip(pattern, sizes):
        if isinstance(want, Size):
            if known.setdefault(want, have) != have:
                return False
        elif want != have:
            return False
    return True
