# SPDX-License-Identifier: Apache-2.0
"""The cases of the machine of limits: shapes by hand, and goldens whose inputs are made large."""

import random

import numpy as np

import operators  # noqa: F401  (fills the catalogue)
import worst_runs  # noqa: F401  (adds to the shapes by hand)
from catalogue import OPERATORS
from draw import Draw
from limit_model import Blank
from worst_shapes import SHAPES, LimitCase, made

# Elements of what is made large, as a power of two.
POWERS = (20, 22, 24, 25, 26)
# What a probe can draw numbers of.
DRAWN = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool")


def cases(arguments):
    """Functions that make a case each."""
    found = [lambda entry=entry: made(entry) for entry in SHAPES if arguments.only in entry[0]]
    for number in range(arguments.grown):
        for name, operator in sorted(OPERATORS.items()):
            for type_name in operator.types:
                if arguments.only in f"grown {name} {type_name}":
                    found.append(lambda operator=operator, type_name=type_name, number=number:
                                 grown(operator, type_name, arguments.seed, number))
    return found


def grown(operator, type_name, seed, number):
    """A golden's model, one or two of whose inputs' dimensions are as large as some power of two allows.

    Other inputs that have the same size at the same axis grow with it, as most operators require. If Apus refuses the shapes, that is
    its right.
    """
    chooser = random.Random(f"{seed} {operator.name} {type_name} {number}")
    draw = Draw(operator.name, type_name, number, seed=seed or 1)
    model = operator.case(draw)
    model.set_version(operator.version(type_name))
    shapes = [list(values.shape) for values in model.inputs]
    large = [place for place, values in enumerate(model.inputs) if values.size and values.ndim and values.dtype.name in DRAWN]
    text = f"grown {operator.name} {draw.name}"
    if large:
        place = max(large, key=lambda p: model.inputs[p].size) if chooser.random() < 0.8 else chooser.choice(large)
        shape = shapes[place]
        axes = [chooser.randrange(len(shape))]
        if len(shape) > 1 and chooser.random() < 0.3:
            axes = chooser.sample(range(len(shape)), 2)
        power = chooser.choice(POWERS)
        rest = max(int(np.prod([size for axis, size in enumerate(shape) if axis not in axes])), 1)
        for axis in axes:
            old = shape[axis]
            new = max(int(round(((1 << power) / rest) ** (1 / len(axes)))), 1)
            for other, values in enumerate(model.inputs):
                same = values.ndim == len(shape) and values.shape[axis] == old or other == place
                if same and other in large:
                    shapes[other][axis] = new
        text += f" {'×'.join(map(str, shape))}"
    integers = [int(values.max(initial=0)) for values in model.inputs if values.dtype.kind == "i"]
    inputs = [Blank(shape) if tuple(shape) != values.shape else values for shape, values in zip(shapes, model.inputs)]
    return LimitCase(text, model.bytes(), inputs, max([1, *[n + 1 for n in integers if n < 1 << 20]]))
