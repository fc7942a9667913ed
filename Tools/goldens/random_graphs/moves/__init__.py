# SPDX-License-Identifier: Apache-2.0
"""What a random graph grows by: each move adds one operator, or some that belong together.

Importing this fills `MOVES`: for each theme its moves and how often they are drawn.
"""

import collections

MOVES = collections.defaultdict(dict)


def move(**weights):
    """Registers a function of a `Weaver`; the keywords are themes, their values how often it is drawn."""

    def register(function):
        for theme, weight in weights.items():
            MOVES[theme][function] = weight
        return function

    return register


from random_graphs.moves import (  # noqa: E402,F401
    control, elementwise, grafts, images, movement, reductions, shapes, state, vectors,
)
