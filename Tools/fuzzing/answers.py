# SPDX-License-Identifier: Apache-2.0
"""Models whose outputs have the shapes that a task looks for, and values that no honest model gives."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from corpus import T, empty_graph, empty_model, operator, pack, tensor

B = schema.BuiltinOperator
HUGE = [0.0, 1.0, -1.0, 0.5, 2.0, 255.0, 1e-40, 65_536.0, 2.0**31, 2.0**63, 9.5e14, 1e15, 1e30, -1e30, 3e38, float("inf"), -float("inf"), float("nan")]


def shapes(task, random):
    """The input's sides, and the shapes of the outputs."""
    count = random.choice([1, 2, 10, 300, 2000])
    extra = random.choice([0, 0, 1, 32])
    if task == "detect":
        side = random.choice([8, 64, 320])
        cells = sum((side // stride) ** 2 for stride in (8, 16, 32))
        return side, random.choice([
            [[1, count, 4], [1, count], [1, count], [1]], [[1, count, 4], [1, count], [1, count]],
            [[1, count, 4], [1, count, random.choice([1, 2, 21, 91])]], [[1, 300, 6 + extra]] + [[1, side // 4, side // 4, 32]] * (extra == 32),
            [[1, 4 + random.choice([1, 80]) + extra, cells]] + [[1, 32, side // 4, side // 4]] * (extra == 32),
            [[1, 3 * cells, 5 + random.choice([1, 80])]], [[1, 1917, 4], [1, 1917, 91]]])
    if task == "faces":
        return random.choice([(128, [[1, 896, 16], [1, 896, 1]]), (192, [[1, 2304, 16], [1, 2304, 1]])])
    if task == "keypoints":
        cells = random.choice([2, 3, 9])
        maps = [[1, cells, cells, channels] for channels in random.choice([(17, 34, 64), (17, 34, 32, 32)])]
        return random.choice([(64, [[1, 1, 17, 3]]), (64, [[1, 6, 56]]), (4 * cells, maps), (64, [[1, 56, 84]])])
    if task == "segment":
        side = random.choice([2, 8, 65])
        return side, random.choice([[[1, side, side, random.choice([1, 2, 21, 300])]], [[1, 21, side, side]], [[1, side, side]]])
    return 8, [[1, random.choice([1, 2, 1001, 1 << 16])] for _ in range(random.choice([0, 1, 1, 1, 2, 3]))]


def values(shape, random):
    count = int(np.prod(shape))
    drawn = np.random.default_rng(random.randrange(1 << 32))
    kind = random.random()
    if kind < 0.3:
        return drawn.random(count, np.float32)
    if kind < 0.5:
        return np.full(count, random.choice(HUGE), np.float32)
    with np.errstate(over="ignore"):
        if kind < 0.8:
            return (drawn.random(count) * random.choice([10, 1e6, 1e15, 1e30, 3e38])).astype(np.float32)
        return drawn.choice(np.array(random.sample(HUGE, 4)), count).astype(np.float32)


def model(task, random):
    """The bytes of a model for a task."""
    side, outputs = shapes(task, random)
    made = empty_model()
    graph = empty_graph(made)
    picture = tensor(made, graph, T.FLOAT32, [1, side, side, 3], name="picture")
    graph.inputs = np.array([picture], np.int32)
    brightest = whole = None
    found = []
    for place, shape in enumerate(outputs):
        shape = list(shape)
        if random.random() < 0.1:
            axis = random.randrange(len(shape))
            shape[axis] = random.choice([0, 1, 2, max(shape[axis] - 1, 0), shape[axis] + 1, 2 * shape[axis]])
        name = random.choice(["", ["boxes", "classes", "scores", "count"][place % 4]])
        way = random.random()
        if way < 0.7 and np.prod(shape) <= 1 << 20:
            found.append(tensor(made, graph, T.FLOAT32, shape, values(shape, random), name=name))
            continue
        if brightest is None:
            axes = tensor(made, graph, T.INT32, [4], [0, 1, 2, 3])
            brightest, whole = tensor(made, graph, T.FLOAT32, []), tensor(made, graph, T.INT32, [])
            operator(made, graph, B.REDUCE_MAX, [picture, axes], [brightest], schema.ReducerOptionsT())
            operator(made, graph, B.CAST, [brightest], [whole], schema.CastOptionsT())
        sizes = tensor(made, graph, T.INT32, [len(shape)], shape)
        if way < 0.85:
            # So large that the answer, not the model, takes the memory; its value is the picture's.
            shape[random.randrange(len(shape))] = random.choice([1 << 12, 1 << 20, 1 << 24, 1 << 26])
            sizes = tensor(made, graph, T.INT32, [len(shape)], shape)
        else:
            # The size depends on the picture, too: the file states another one.
            steps = tensor(made, graph, T.INT32, [len(shape)], [random.choice([0, 0, 1]) for _ in shape])
            grown, sum = tensor(made, graph, T.INT32, [len(shape)]), tensor(made, graph, T.INT32, [len(shape)])
            operator(made, graph, B.MUL, [whole, steps], [grown], schema.MulOptionsT())
            operator(made, graph, B.ADD, [grown, sizes], [sum], schema.AddOptionsT())
            sizes = sum
        output = tensor(made, graph, T.FLOAT32, shape, name=name)
        operator(made, graph, B.FILL, [sizes, brightest], [output], schema.FillOptionsT())
        found.append(output)
    graph.outputs = np.array(found, np.int32)
    return pack(made)
