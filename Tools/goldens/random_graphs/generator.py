# SPDX-License-Identifier: Apache-2.0
"""Draws whole graphs: a kind, inputs, moves, and which tensors are outputs."""

import random

import numpy as np

from random_graphs.model import Graph, Operator, Subgraph, Tensor
from random_graphs.moves import MOVES
from random_graphs.moves.grafts import Sources
from random_graphs.programs import draw_program
from random_graphs.weaver import Abandoned, Weaver

# Raised when the same seed gives another graph than before.
VERSION = 7

# Kinds: how often each is drawn, its theme, its element types.
KINDS = {
    "float": (14, "images", ("float32",)),
    "int8": (12, "images", ("int8",)),
    "uint8": (7, "images", ("uint8",)),
    "int16": (5, "images", ("int16",)),
    "hybrid": (6, "images", ("float32",)),
    "half": (6, "images", ("float32",)),
    "vectors": (10, "vectors", ("float32", "float32", "int8", "int16")),
    "mixed": (12, "mixed", ("float32", "int8", "uint8", "int16")),
    "odd": (5, "odd", ("float32", "int8", "uint8", "int16")),
    "shapes": (6, "shapes", ("float32", "float32", "int8")),
    "control": (6, "control", ("float32", "float32", "int8", "uint8")),
    "state": (4, "state", ("float32", "float32", "int8")),
    "batch": (6, "batch", ("float32", "float32", "int8", "uint8", "int16")),
    "grafts": (6, "grafts", ("float32", "int8", "uint8", "int16")),
    "special": (5, "special", ("float32",)),
    # Drawn only when asked for, while some of these fail (see README.md).
    "programs": (0, "programs", ("float32",)),
}
# Other kinds whose floats may be special: those that do not make integers of them everywhere.
SPECIAL = ("float", "vectors", "mixed", "odd", "control", "state", "hybrid", "batch", "grafts")
SPECIALS = [np.float32(x) for x in (
    np.inf, -np.inf, np.nan, -0.0, 3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 1e-40, 88.7, -88.5, -103.5, 1e30, -1e20)]
WEIGHTS = {
    "hybrid": {"plain": 1, "hybrid": 8, "half": 1},
    "half": {"plain": 1, "half": 8, "bytes": 2, "made": 1},
    "float": {"plain": 8, "half": 1, "bytes": 1, "made": 1},
}


class Generator:
    def __init__(self):
        self._sources = Sources()

    def draw(self, seed, index, kinds=None):
        """The graph of a seed and a number: the same one each time."""
        chooser = random.Random(f"{VERSION} {seed} {index}")
        table = {kind: row[0] for kind, row in KINDS.items() if not kinds or kind in kinds}
        kind = chooser.choices(list(table), list(table.values()))[0] if any(table.values()) else next(iter(table))
        numbers = np.random.default_rng([VERSION, seed, index])
        for _ in range(20):
            try:
                with np.errstate(all="ignore"):
                    if kind == "programs":
                        graph = Graph(kind)
                        draw_program(graph, chooser, numbers)
                        return graph
                    return _Drawing(kind, chooser, numbers, self._sources).graph
            except Abandoned:
                continue
        raise Abandoned


class _Drawing:
    def __init__(self, kind, chooser, numbers, sources):
        self.graph = Graph(kind)
        self._kind, theme, types = kind, *KINDS[kind][1:]
        w = self._weaver = Weaver(chooser, numbers, self.graph, self.graph.main, chooser.choice(types))
        w.sources = sources
        w.is_flexible = kind == "batch"
        self.graph.may_mix = kind in ("float", "control") and w.act == "float32" and w.chance(0.12)
        if kind in WEIGHTS:
            w.weight_kinds = dict(WEIGHTS[kind])
        if self.graph.may_mix:
            w.weight_kinds = {"plain": 1}
        if kind == "odd" or w.chance(0.15):
            w.limit = 200
        elif w.chance(0.1):
            w.limit, w.budget, w.is_large = 4000, 800_000, True
        elif w.chance(0.02):
            w.limit, w.budget, w.is_large = 16_000, 4_000_000, True
        count = chooser.choices((w.integer(2, 6), w.integer(5, 14), w.integer(12, 30), w.integer(25, 60)), (3, 5, 3, 1))[0]
        self.graph.is_special = kind == "special" or kind in SPECIAL and w.chance(0.08)
        self._inputs(theme)
        failures = 0
        while self.graph.operator_count() < count and failures < 60:
            if not self._attempt(theme):
                failures += 1
        if not self.graph.main.operators:
            raise Abandoned
        for add in w.later:
            add()
        self._outputs()
        self._order()
        if kind in ("mixed", "state", "vectors") and w.chance(0.1):
            self._add_unsupported()
        if w.is_flexible or (self._kind in ("float", "int8", "uint8", "int16") and w.chance(0.15)):
            # What keeps its values keeps its shape.
            if not self.graph.has_state:
                self._resize()

    def _attempt(self, theme):
        return self._weaver.attempt(self._weaver.weighted(MOVES[theme]))

    # Inputs

    def _inputs(self, theme):
        w = self._weaver
        count = w.choice([1, 1, 1, 2, 2, 3])
        self._batch = w.choice([1, 1, 1, 2, 3])
        if theme == "odd":
            self._batch = w.choice([0, 1, 1, 1, 2]) if w.chance(0.5) else 1
        for position in range(count):
            self._input(theme, w.act if position == 0 or not theme == "mixed" else w.choice(
                ["float32", "int8", "uint8", "int16", "int32", "int64", "bool"]))
        if theme in ("mixed", "control", "shapes", "odd", "state") and w.chance(0.4):
            self._input(theme, w.choice(["int32", "int32", "int64", "bool"]) if theme != "control" else "int32")

    def _shape(self, theme):
        w = self._weaver
        channels = w.choice([1, 2, 3, 3, 4, 4, 5, 8, 8, 12, 16, 17, 20])
        if w.is_large:
            channels = w.choice([3, 8, 16, 17, 24, 32, 32, 48, 64, 96])
        if theme == "odd":
            sizes = [1, 1, 1, 2, 3, 5]
            rank = w.choice([1, 2, 3, 4, 4, 5])
            shape = [w.choice(sizes) for _ in range(rank)]
            if w.chance(0.1):
                shape[w.integer(0, rank - 1)] = 0
            return tuple(shape)
        rank = {"images": 4, "vectors": w.choice([2, 2, 3, 3, 4]), "batch": w.choice([4, 4, 2, 3]),
                "control": w.choice([1, 2, 4, 4]), "state": w.choice([2, 2, 3]),
                "shapes": w.choice([1, 2, 3, 4, 4])}.get(theme, w.choice([1, 2, 3, 4, 4]))
        if rank == 4:
            side = w.choice([7, 8, 12, 14, 16, 20]) if w.is_large else w.choice([1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12])
            other = side if w.chance(0.6) else w.choice([1, 2, 3, 4, 5, 6, 7, 8, 10, 2 * side])
            channels = min(channels, max(w.limit // (side * other * self._batch or 1), 1))
            return (self._batch, side, other, channels)
        if rank == 1:
            return (w.integer(1, 40),)
        middle = [w.choice([1, 2, 3, 4, 5, 6, 7, 8]) for _ in range(rank - 2)]
        while np.prod(middle) > 24:
            middle = middle[:-1] + [1]
        return (self._batch, *middle, w.choice([1, 2, 3, 4, 7, 8, 10, 16, 17, 24, 32]) if not w.is_large else channels)

    def _input(self, theme, type_name):
        w = self._weaver
        like = [t for t in w.pool if t.type == type_name]
        shape = w.choice(like).shape if like and w.chance(0.4) else self._shape(theme)
        tensor = w.input([self._values(shape, type_name, None)] * 2, type_name) if type_name in ("bool", "int32", "int64") else None
        if tensor is None:
            quantization = None
            if type_name != "float32":
                spread = w.random.choice((1.0, 2.0, 4.0))
                quantization = w.fit(np.array([-spread * w.random.uniform(0, 1), spread]), type_name)
            likeness = (w.random.choice((0.5, 1, 2)), w.random.choice((0, 0, 0, 1)))
            sets = [self._values(shape, type_name, quantization, *likeness) for _ in range(2)]
            tensor = w.input(sets, type_name, quantization)
            if self.graph.is_special and type_name == "float32":
                tensor.sets = [self._with_specials(values) for values in tensor.sets]
        else:
            tensor.sets = [tensor.sets[0], self._values(shape, type_name, None)]
        if w.is_flexible:
            tensor.open = (-1, *shape[1:])

    def _values(self, shape, type_name, quantization, spread=1, middle=0):
        w = self._weaver
        if type_name == "bool":
            return w.numbers.integers(0, 2, shape).astype(bool)
        if type_name in ("int32", "int64"):
            return w.numbers.integers(-9, 10, shape).astype(type_name)
        if type_name == "float32":
            values = w.numbers.standard_normal(shape, np.float32) * np.float32(spread) + np.float32(middle)
            return values.astype(np.float32)
        low, high = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}[type_name]
        return w.numbers.integers(low, high + 1, shape).astype(type_name)

    def _with_specials(self, values):
        """A few elements become infinite, NaN, subnormal or the like; ranges are made for the others."""
        w = self._weaver
        values = values.copy()
        flat = values.reshape(-1)
        for _ in range(w.integer(1, 4)):
            if flat.size:
                flat[w.integer(0, flat.size - 1)] = w.choice(SPECIALS)
        return values

    # Outputs

    def _outputs(self):
        w = self._weaver
        main = self.graph.main
        read = {id(t) for operator in main.operators for t in operator.inputs if t is not None}
        produced = [t for operator in main.operators for t in operator.outputs if t.type != "resource"]
        # Only what can be read from outside.
        plain = [t for t in produced if t.type in READABLE and not t.is_hidden]
        outputs = [t for t in plain if id(t) not in read and not w.chance(0.08)]
        for tensor in plain:
            if id(tensor) in read and w.chance(0.06):
                outputs.append(tensor)
        for tensor in main.inputs:
            if tensor.type in READABLE and w.chance(0.04):
                outputs.append(tensor)
        if not outputs:
            outputs = plain[-1:]
        if not outputs:
            raise Abandoned
        w.random.shuffle(outputs)
        if w.chance(0.03):
            outputs.append(w.choice(outputs))
        main.outputs = outputs[:12]

    def _order(self):
        """Another order of the operators, and of the inputs, that is as right."""
        w = self._weaver
        main = self.graph.main
        w.random.shuffle(main.inputs)
        if any(operator.state for operator in main.operators) or not w.chance(0.5):
            return
        done = {id(t) for operator in main.operators for t in operator.outputs}
        waiting, ordered = list(main.operators), []
        while waiting:
            ready = [o for o in waiting if not any(t is not None and id(t) in done for t in o.inputs)]
            chosen = w.choice(ready) if w.chance(0.5) else ready[0]
            # By identity: operators have no order of their own.
            waiting = [o for o in waiting if o is not chosen]
            ordered.append(chosen)
            done -= {id(t) for t in chosen.outputs}
        main.operators = ordered

    def _add_unsupported(self):
        """Another function with an operator that only TensorFlow has, as models for training on a device have one."""
        save = Subgraph()
        save.inputs = [Tensor("float32", (2,))]
        save.outputs = [Tensor("float32", (2,))]
        save.operators = [Operator("FlexSave", save.inputs, save.outputs, custom=b"\0")]
        self.graph.signatures = [("infer", self.graph.main), ("save", save)]

    def _resize(self):
        """A third set of data, of another shape: other batches, or other pictures."""
        w = self._weaver
        main = self.graph.main
        if not main.inputs or any(t.type not in ("float32", "int8", "uint8", "int16") or not t.rank for t in main.inputs):
            return
        batch = w.integer(1, 4)
        grows = 0 if w.is_flexible else w.choice([0, 1, 2])
        for tensor in main.inputs:
            shape = list(tensor.shape)
            shape[0] = batch
            if tensor.rank == 4:
                shape[1] += grows
            tensor.sets.append(self._values(shape, tensor.type, tensor.quantization))
        self.graph.resized = True


READABLE = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool", "float16", "float64", "uint16", "uint32", "uint64",
            "complex64")


