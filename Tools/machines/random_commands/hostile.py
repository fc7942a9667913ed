# SPDX-License-Identifier: Apache-2.0
"""Texts and numbers that nobody means: names with characters that command terminals, numbers at the ends of their ranges."""

import numpy as np

# What follows a line feed in a name must never begin a line of an answer.
FORGED = "\nforged 0.9999"
# Numbers that no trained model gives, and some at the edge of what it may give.
SPECIAL = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e19, 1e-42, -0.0, -1e-5, 1.0001, 1.5, 2.1, -3, 7.5, 1e6], np.float32)

ODD = [FORGED, "\x1b[31mred", "\r", "\t", "\x00"[:0], "\u202e", "\u2028", "\x7f", "\x85", "é", "e\u0301", "日本語", "👩‍👩‍👧", '"', "\\", "'",
       ",", ";", ":", "%", "{}", "$(x)", " ", "-", "ﬁ", "\ufeff", "\u200f"]


def odd_name(random, name):
    """The name with odd characters somewhere."""
    for _ in range(random.integers(1, 3)):
        place = int(random.integers(len(name) + 1))
        name = name[:place] + ODD[random.integers(len(ODD))] + name[place:]
    return name


def odd_texts():
    """Values for any option."""
    return ["", " ", "x", "-", "--", "-1", "0", "1e999", "nan", "NaN", "inf", "-inf", "1e-400", "9223372036854775808", "18446744073709551616",
            "0x10", "1_000", "１", "1,2", "1;2", "true", "null", "\u202e1", "a" * 5000, "1" * 400, "\x1b[2J", "a\nerror: forged", "%s%n",
            "/nowhere", "/dev/null", "é", "👩‍👩‍👧", ".", "1.", ".5", "+1", " 1", "1 ", "1:0", "0:0", "1:nan", "640x0", "0x0", "99999999999x9", "-1x-1",
            "1x1x1"]
