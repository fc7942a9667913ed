# SPDX-License-Identifier: Apache-2.0
"""Models with inputs and outputs of every form that pictures have, with what LiteRT answers: `cases()` yields records.

The input is prepared in NumPy. Pictures have the size of the input, so that nothing is resized on the way in.
"""

import base64

import ml_dtypes
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import models
import task_rules
from models import GraphBuilder, Quantization, schema

HEIGHT, WIDTH = 5, 7
UNIT, SIGNED, RAW = (0, 255), (127.5, 127.5), (0, 1)
PICTURE_BYTES = Quantization.per_tensor(1 / 255, 0)


def text(values):
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def picture(channels, seed=7, height=HEIGHT, width=WIDTH):
    """Any pixels: gray for one channel."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, channels)).astype(np.uint8)
    return pixels[..., 0] if channels == 1 else pixels


def normalized(pixels, mean_std):
    mean, std = mean_std
    return ((pixels.astype(np.float32) - np.float32(mean)) / np.float32(std)).astype(np.float32)


class Graph:
    """A chain of operators on one picture."""

    def __init__(self, shape, dtype="float32", quantization=None, signature=None):
        self.graph = GraphBuilder()
        element = ml_dtypes.bfloat16 if dtype == "bfloat16" else getattr(np, dtype)
        self.last = self.graph.input(np.zeros(shape, element), quantization)
        self.shape, self.dtype = tuple(shape), dtype
        if signature:
            self.graph._tensors[self.last].shapeSignature = np.array(signature, np.int32)

    def add(self, name, *constants, shape=None, dtype=None, quantization=None, options=None, first=False):
        self.shape, self.dtype = tuple(shape or self.shape), dtype or self.dtype
        target = self.graph.tensor(self.dtype, self.shape, quantization)
        operands = [self.graph.constant(constant) for constant in constants]
        kind = {"ADD": schema.AddOptionsT, "MUL": schema.MulOptionsT, "SUB": schema.SubOptionsT,
                "RESHAPE": schema.ReshapeOptionsT, "SOFTMAX": schema.SoftmaxOptionsT, "CAST": schema.CastOptionsT,
                "RESIZE_NEAREST_NEIGHBOR": schema.ResizeNearestNeighborOptionsT,
                "RESIZE_BILINEAR": schema.ResizeBilinearOptionsT}.get(name)
        made = kind() if kind else None
        for key, value in (options or {}).items():
            setattr(made, key, value)
        self.graph.add(name, [*operands, self.last] if first else [self.last, *operands], [target], made)
        self.last = target
        return self

    def reshape(self, *shape):
        return self.add("RESHAPE", np.array(shape, np.int32), shape=shape)

    def scaled(self, factor, offset=0.0):
        self.add("MUL", np.float32(factor))
        return self.add("ADD", np.float32(offset)) if offset else self

    def bytes(self):
        self.graph.result(self.last)
        return self.graph.bytes()


def litert(model, values):
    """What LiteRT's reference kernels answer, as stored."""
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    detail = interpreter.get_input_details()[0]
    if detail["dtype"] != values.dtype.type or tuple(detail["shape"]) != values.shape:
        interpreter.resize_tensor_input(detail["index"], values.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def record(name, task, model, pixels, *, options=None, **answer):
    return {"name": name, "task": task, "model": base64.b64encode(model).decode(),
            "picture": {"width": pixels.shape[1], "height": pixels.shape[0],
                        "channels": 1 if pixels.ndim == 2 else pixels.shape[2], "bytes": text(pixels)},
            "options": options or {}, **answer}


def cases():
    yield from shape_cases()
    yield from type_cases()
    yield from channel_cases()
    yield from batch_cases()
    yield from refused_inputs()
    yield from mask_cases()
    yield from video_cases()
    yield from picture_cases()
    yield from number_cases()
    yield from refused_outputs()


def echoed(name, graph, pixels, values, options=None):
    """An embedder that answers with its input in a row."""
    count = int(np.prod(graph.shape))
    model = graph.reshape(1, count).bytes()
    answer = litert(model, values).astype(np.float32).reshape(-1)
    return record(name, "embedder", model, pixels, options=options, values=text(answer))


# MARK: Inputs


def shape_cases():
    gray, color, square = picture(1), picture(3), picture(1, 8, 6, 6)
    for shape in ((5, 7), (1, 5, 7), (1, 5, 7, 1), (1, 1, 5, 7)):
        scale = SIGNED if len(shape) == 4 else UNIT
        yield echoed(f"gray {shape}", Graph(shape), gray, normalized(gray, scale).reshape(shape))
    for shape in ((36,), (1, 36), (1, 1, 36), (1, 36, 1)):
        yield echoed(f"a square in a row {shape}", Graph(shape), square, normalized(square, UNIT).reshape(shape))
    yield echoed("an open batch of rows", Graph((1, 36), signature=(-1, 36)), square,
                 normalized(square, UNIT).reshape(1, 36))
    yield echoed("an open batch of gray", Graph((1, 5, 7), signature=(-1, 5, 7)), gray,
                 normalized(gray, UNIT).reshape(1, 5, 7))
    yield echoed("a row of a given size", Graph((1, 35)), gray, normalized(gray, UNIT).reshape(1, 35),
                 {"inputSize": [7, 5]})
    yield echoed("colors in a row of a given size", Graph((1, 105)), color, normalized(color, UNIT).reshape(1, 105),
                 {"inputSize": [7, 5]})
    yield echoed("colors without a batch", Graph((5, 7, 3)), color, normalized(color, SIGNED))
    yield echoed("planes without a batch", Graph((3, 5, 7)), color, normalized(color, SIGNED).transpose(2, 0, 1))
    yield echoed("gray with given pixels", Graph((1, 5, 7)), gray, normalized(gray, RAW)[None], {"pixels": "raw"})


def type_cases():
    color, gray = picture(3), picture(1)
    for dtype in ("uint8", "int16", "uint16", "int32", "uint32", "int64"):
        values = color.astype(getattr(np, dtype))[None]
        yield echoed(f"pixels of {dtype}", Graph(values.shape, dtype), color, values)
    yield echoed("pixels of int8", Graph((1, 5, 7, 3), "int8"), color, (color.astype(int) - 128).astype(np.int8)[None])
    yield echoed("gray of int64", Graph((1, 5, 7), "int64"), gray, gray.astype(np.int64)[None])
    for dtype in ("float16", "float64"):
        values = normalized(color, SIGNED).astype(getattr(np, dtype))[None]
        yield echoed(f"pixels of {dtype}", Graph(values.shape, dtype), color, values)
    # LiteRT's Python interface does not take this type; ml_dtypes rounds as it does.
    values = normalized(color, SIGNED).astype(ml_dtypes.bfloat16).astype(np.float32)
    model = Graph((1, 5, 7, 3), "bfloat16").reshape(1, 105).bytes()
    yield record("pixels of bfloat16", "embedder", model, color, values=text(values.reshape(-1)))
    scale = Quantization.per_tensor(1 / 32768, 0)
    steps = np.clip(np.round(normalized(color, SIGNED) * 32768), -32768, 32767).astype(np.int16)[None]
    model = Graph((1, 5, 7, 3), "int16", scale)
    model.add("RESHAPE", np.array((1, 105), np.int32), shape=(1, 105), quantization=scale)
    yield record("pixels of int16 with a scale", "embedder", model.bytes(), color,
                 values=text(models.real(steps, scale).reshape(-1)))


def channel_cases():
    clear, color = picture(4), picture(3)
    opaque = np.concatenate([color, np.full((HEIGHT, WIDTH, 1), 255, np.uint8)], 2)
    for name, pixels, seen in (("alpha", clear, clear), ("alpha of an opaque picture", color, opaque)):
        yield echoed(name, Graph((1, 5, 7, 4)), pixels, normalized(seen, UNIT)[None])
        yield echoed(name + ", channels first", Graph((1, 4, 5, 7)), pixels,
                     normalized(seen, UNIT).transpose(2, 0, 1)[None])
        yield echoed(name + ", as bytes", Graph((1, 5, 7, 4), "uint8"), pixels, seen[None])
        yield echoed(name + ", without a batch", Graph((5, 7, 4)), pixels, normalized(seen, UNIT))
    yield echoed("alpha, raw", Graph((1, 5, 7, 4)), clear, normalized(clear, RAW)[None], {"pixels": "raw"})
    mean, std = [1, 2, 3, 4], [10, 20, 30, 40]
    yield echoed("alpha with numbers of its own", Graph((1, 5, 7, 4)), clear, normalized(clear, (mean, std))[None],
                 {"pixels": "1,2,3,4:10,20,30,40"})


def batch_cases():
    color, gray = picture(3), picture(1)
    for name, shape, pixels, one in (
            ("four pictures", (4, 5, 7, 3), color, normalized(color, SIGNED)),
            ("two pictures, channels first", (2, 3, 5, 7), color, normalized(color, SIGNED).transpose(2, 0, 1)),
            ("six gray pictures", (6, 5, 7), gray, normalized(gray, UNIT))):
        graph = Graph(shape).reshape(shape[0], one.size)
        model = graph.bytes()
        answer = litert(model, np.stack([one] * shape[0]))
        yield record("a batch of " + name, "embedder", model, pixels, values=text(answer[0]))


def refused_inputs():
    gray = picture(1)
    for name, shape, dtype, error in (
            ("four features", (1, 4), "float32", "takes 4 numbers in a row"),
            ("nine features", (1, 9), "float32", "takes 9 numbers in a row"),
            ("24 numbers", (1, 24), "float32", "--input-size WIDTHxHEIGHT"),
            ("three frames of features", (1, 3, 40), "int8", "is not a picture"),
            ("two channels", (1, 5, 7, 2), "float32", "is not a picture"),
            ("truth values", (1, 5, 7, 3), "bool", "does not take pixels")):
        graph = Graph(shape, "int8" if dtype == "bool" else dtype)
        if dtype == "bool":
            graph.graph._tensors[graph.last].type = schema.TensorType.BOOL
            graph.dtype = "bool"
        yield record(name, "embedder", graph.reshape(1, int(np.prod(shape))).bytes(), gray, error=error)
    yield record("a batch whose output has no rows", "embedder", Graph((4, 5, 7, 3)).reshape(1, 420).bytes(), gray,
                 error="does not have a row for each")
    yield record("a row that is not of the size", "embedder", Graph((1, 35)).reshape(1, 35).bytes(), gray,
                 options={"inputSize": [6, 6]}, error="not 1, 3 or 4 for each of 6 × 6 pixels")


# MARK: Masks


def mask_cases():
    gray, color = picture(1), picture(3)
    signed = normalized(gray, SIGNED)[None, ..., None]
    hard = Graph((1, 5, 7, 1)).scaled(4, 3).add("RELU6").scaled(1 / 6)
    for name, graph, threshold in (
            ("probabilities by LOGISTIC", Graph((1, 5, 7, 1)).scaled(8).add("LOGISTIC"), 0.5),
            ("probabilities by LOGISTIC, enlarged", Graph((1, 5, 7, 1)).scaled(8).add("LOGISTIC").reshape(1, 5, 7, 1), 0.5),
            ("probabilities by a hard sigmoid", hard, 0.5),
            ("logits", Graph((1, 5, 7, 1)).scaled(8, -1), 0),
            ("logits without a channel", Graph((1, 5, 7, 1)).scaled(8, -1).reshape(1, 5, 7), 0)):
        model = graph.bytes()
        values = litert(model, signed).reshape(HEIGHT, WIDTH)
        yield record(name, "segmenter", model, gray, mask=text((values > threshold).astype(np.uint8)))
    for name, scale, threshold in (("of a probability's scale", Quantization.per_tensor(1 / 256, -128), 0.5),
                                   ("of a logit's scale", Quantization.per_tensor(0.1, 10), 0)):
        steps = np.random.default_rng(3).integers(-128, 128, (1, HEIGHT, WIDTH, 1)).astype(np.int8)
        model = models.constant_model([(steps, scale)], (WIDTH, HEIGHT))
        real = models.real(steps, scale).reshape(HEIGHT, WIDTH)
        if threshold == 0:
            # Constants say nothing, so the option does.
            yield record(f"bytes {name}", "segmenter", model, color, options={"scores": "logit"},
                         mask=text((real > 0).astype(np.uint8)))
        else:
            yield record(f"bytes {name}", "segmenter", model, color, mask=text((real > 0.5).astype(np.uint8)))
    model = Graph((1, 5, 7, 3)).scaled(2, 0.1).add("SOFTMAX", options={"beta": 1.0}).bytes()
    values = litert(model, normalized(color, SIGNED)[None])[0]
    yield record("three classes by SOFTMAX", "segmenter", model, color, mask=text(values.argmax(2).astype(np.uint8)))
    model = Graph((1, 5, 7, 3)).scaled(2, 0.1).bytes()
    values = litert(model, normalized(color, SIGNED)[None])[0]
    yield record("three named classes", "segmenter", model, color, labels=["sky", "tree", "road"],
                 mask=text(values.argmax(2).astype(np.uint8)))
    # The fourth channel is zeros: a model that passes it on alone.
    model = Graph((1, 5, 7, 4)).scaled(1.0).bytes()
    seen = np.concatenate([normalized(color, UNIT), np.zeros((HEIGHT, WIDTH, 1), np.float32)], 2)
    values = litert(model, seen[None])[0]
    yield record("four channels", "segmenter", model, color, mask=text(values.argmax(2).astype(np.uint8)))
    given = Graph((1, 5, 7, 1)).add("ABS").bytes()
    values = litert(given, signed).reshape(HEIGHT, WIDTH)
    yield record("given as probabilities", "segmenter", given, gray, options={"scores": "probability"},
                 mask=text((values > 0.5).astype(np.uint8)))
    yield record("logits that would all be probabilities", "segmenter",
                 Graph((1, 5, 7, 1)).scaled(0.1, 0.5).bytes(), gray, answerError="--scores probability")
    whole = Graph((1, 5, 7, 1)).scaled(8, 8).add("FLOOR").scaled(1.0).bytes()
    yield record("whole numbers of which none is negative", "segmenter", whole, gray, answerError="--labels with three names")
    values = litert(whole, signed).reshape(HEIGHT, WIDTH)
    yield record("whole numbers with names", "segmenter", whole, gray, labels=[f"class {place}" for place in range(17)],
                 mask=text(values.astype(np.uint8)))
    yield record("logits that are none", "segmenter", Graph((1, 5, 7, 1)).scaled(500, 20).bytes(), gray,
                 answerError="these are no logits")
    yield record("probabilities that are none", "segmenter", Graph((1, 5, 7, 1)).scaled(8).bytes(), gray,
                 options={"scores": "probability"}, answerError="--scores logit")


def video_cases():
    """One picture again and again, with the mask before as the fourth channel: none, then that of each answer."""
    color = picture(3)
    for name, planar, classes in (("one probability", False, 1), ("two classes", False, 2), ("channels first", True, 1)):
        graph = Graph((1, 4, 5, 7) if planar else (1, 5, 7, 4))
        axis = 1 if planar else 3
        graph.add("SUM", np.array([axis], np.int32), shape=(1, 1, 5, 7) if planar else (1, 5, 7, 1))
        graph.graph._operators[-1].builtinOptions = schema.ReducerOptionsT()
        graph.graph._operators[-1].builtinOptions.keepDims = True
        graph.graph._operators[-1].builtinOptionsType = schema.BuiltinOptions.ReducerOptions
        if classes == 2:
            graph.add("MUL", np.array([-4, 4], np.float32), shape=(1, 5, 7, 2)).add("ADD", np.array([8.3, -8.3], np.float32))
            graph.add("SOFTMAX", options={"beta": 1.0})
        else:
            graph.scaled(8, -16.6).add("LOGISTIC")
        model = graph.bytes()
        before, masks = np.zeros((HEIGHT, WIDTH, 1), np.float32), []
        for _ in range(3):
            seen = np.concatenate([normalized(color, UNIT), before], 2)
            answer = litert(model, (seen.transpose(2, 0, 1) if planar else seen)[None])
            chance = answer.reshape(HEIGHT, WIDTH, classes)[..., -1]
            masks.append((chance > 0.5).astype(np.uint8))
            before = (np.floor(chance * np.float32(255) + np.float32(0.5)) / np.float32(255))[..., None].astype(np.float32)
        assert len({mask.tobytes() for mask in masks}) > 1
        yield record(f"a video, {name}", "segmenter", model, color, mask=text(masks[0]), video=[text(mask) for mask in masks])


def sounds():
    """Models for sounds: the largest sample and the mean of a window, and inputs that are none."""
    names = ["loud", "even"]
    graph = GraphBuilder()
    source = graph.input(np.zeros((1, 1000), np.float32))
    parts = []
    for kind in ("REDUCE_MAX", "MEAN"):
        part = graph.tensor("float32", (1, 1))
        options = schema.ReducerOptionsT()
        options.keepDims = True
        graph.add(kind, [source, graph.constant(np.array([1], np.int32))], [part], options)
        parts.append(part)
    target = graph.tensor("float32", (1, 2))
    options = schema.ConcatenationOptionsT()
    options.axis = 1
    graph.add("CONCATENATION", parts, [target], options)
    graph.result(target)
    yield {"name": "loudness", "model": base64.b64encode(
        models.with_files(graph.bytes(), {"labels.txt": "\n".join(names)})).decode()}
    for name, shape, error in (("features", (1, 49, 10, 1), "takes features of 49 × 10"),
                               ("frames", (1, 3, 40), "takes features of 3 × 40"),
                               ("picture", (1, 8, 8, 3), "is a picture"),
                               ("measures", (1, 4), "too few for a waveform"),
                               ("autoencoder", (1, 640), "returns 640 numbers for as many samples")):
        model = Graph(shape).reshape(1, int(np.prod(shape))).bytes()
        yield {"name": name, "model": base64.b64encode(model).decode(), "error": error}


# MARK: Pictures


def drawn(values, black, white):
    """Numbers as bytes from black to white."""
    share = (values.astype(np.float32) - np.float32(black)) * np.float32(255 / (white - black))
    return np.floor(np.clip(share, 0, 255) + np.float32(0.5)).astype(np.uint8)


def made(name, model, pixels, values, black, white, options=None, planar=False, quantization=None):
    answer = litert(model, values)
    answer = models.real(answer, quantization)[0] if quantization else answer[0].astype(np.float32)
    if planar:
        answer = answer.transpose(1, 2, 0)
    fine = answer
    if options and options.get("fitsOutput"):
        fine = task_rules.enlarged(answer.astype(np.float64), (pixels.shape[1], pixels.shape[0])).astype(np.float32)
    return record(name, "transformer", model, pixels, options=options, values=text(fine),
                  size=[fine.shape[1], fine.shape[0]], drawn=text(drawn(fine, black, white)))


def picture_cases():
    color, gray = picture(3), picture(1)
    unit, signed, raw = (normalized(color, scale)[None] for scale in (UNIT, SIGNED, RAW))
    yield made("from 0 to 1 by LOGISTIC", Graph((1, 5, 7, 3)).scaled(3).add("LOGISTIC").bytes(), color, unit, 0, 1)
    yield made("from -1 to 1 by TANH", Graph((1, 5, 7, 3)).add("TANH").bytes(), color, signed, -1, 1)
    yield made("from -1 to 1 by RELU_N1_TO_1", Graph((1, 5, 7, 3)).scaled(1.5).add("RELU_N1_TO_1").bytes(), color, signed,
               -1, 1)
    yield made("from 0 to 255 by TANH", Graph((1, 5, 7, 3)).scaled(0.01).add("TANH").scaled(127.5, 127.5).bytes(), color,
               raw, 0, 255)
    clip = Graph((1, 5, 7, 3)).scaled(1.2, -9).add("MINIMUM", np.float32(255)).add("MAXIMUM", np.float32(0))
    yield made("from 0 to 255 by limits", clip.bytes(), color, raw, 0, 255)
    yield made("as the input", Graph((1, 5, 7, 3)).scaled(0.9, 0.02).bytes(), color, unit, 0, 1)
    yield made("as the input says", Graph((1, 5, 7, 3)).scaled(0.9, 3).bytes(), color, raw, 0, 255, {"pixels": "raw"})
    yield made("as the operators make of the input", Graph((1, 5, 7, 3)).scaled(255).bytes(), color, unit, 0, 255)
    yield made("given", Graph((1, 5, 7, 3)).scaled(255, 20).bytes(), color, unit, 0, 255, {"outputPixels": "raw"})
    yield made("given with numbers of its own", Graph((1, 5, 7, 3)).scaled(4, -2).bytes(), color, unit, -2, 2,
               {"outputPixels": "127.5:63.75"})
    yield made("channels first", Graph((1, 3, 5, 7)).add("TANH").bytes(), color, signed.transpose(0, 3, 1, 2), -1, 1,
               planar=True)
    yield made("gray", Graph((1, 5, 7, 1)).add("TANH").bytes(), gray, normalized(gray, SIGNED)[None, ..., None], -1, 1)
    yield made("bytes without a scale", Graph((1, 5, 7, 3), "uint8").reshape(1, 5, 7, 3).bytes(), color, color[None],
               0, 255)
    for dtype, scale, values, black, white in (
            ("uint8", Quantization.per_tensor(1 / 255, 0), color, 0, 1),
            ("int8", Quantization.per_tensor(2 / 255, 0), (color.astype(int) - 128).astype(np.int8), -1, 1),
            ("int8", Quantization.per_tensor(1, -128), (color.astype(int) - 128).astype(np.int8), 0, 255)):
        graph = Graph((1, 5, 7, 3), dtype, scale)
        graph.add("RESHAPE", np.array((1, 5, 7, 3), np.int32), quantization=scale)
        yield made(f"{dtype} in steps of {scale.scale:.4g}", graph.bytes(), color, values[None], black, white,
                   quantization=scale)
    size = np.array((10, 14), np.int32)
    twice = Graph((1, 5, 7, 3)).add("RESIZE_NEAREST_NEIGHBOR", size, shape=(1, 10, 14, 3))
    yield made("twice as large", twice.bytes(), color, unit, 0, 1)
    twice = Graph((1, 5, 7, 3)).add("TANH").add("RESIZE_BILINEAR", size, shape=(1, 10, 14, 3),
                                                options={"halfPixelCenters": True})
    yield made("twice as large, fitted", twice.bytes(), color, signed, -1, 1, {"fitsOutput": True})
    yield record("beyond white", "transformer", Graph((1, 5, 7, 3)).scaled(3, 1).bytes(), color,
                 answerError="--output-pixels")
    yield record("fractions that are read as bytes", "transformer", Graph((1, 5, 7, 3)).scaled(1 / 700, 0.01).bytes(), color,
                 options={"pixels": "raw"}, answerError="--output-pixels unit")


def number_cases():
    color = picture(3)
    unit = normalized(color, UNIT)[None]
    for name, graph, options in (
            ("depth", Graph((1, 5, 7, 3)), None), ("depth, fitted", Graph((1, 5, 7, 3)), {"fitsOutput": True})):
        graph.add("SUM", np.array([3], np.int32), shape=(1, 5, 7, 1), options=None)
        graph.graph._operators[-1].builtinOptions = schema.ReducerOptionsT()
        graph.graph._operators[-1].builtinOptions.keepDims = True
        graph.graph._operators[-1].builtinOptionsType = schema.BuiltinOptions.ReducerOptions
        graph.scaled(300, -20).add("RELU")
        yield numbers(name, graph.bytes(), color, unit, options)
    graph = Graph((1, 5, 7, 3)).add("STRIDED_SLICE", np.array([0, 0, 0, 1], np.int32), np.array([1, 5, 7, 2], np.int32),
                                    np.ones(4, np.int32), shape=(1, 5, 7, 1))
    graph.graph._operators[-1].builtinOptions = schema.StridedSliceOptionsT()
    graph.graph._operators[-1].builtinOptionsType = schema.BuiltinOptions.StridedSliceOptions
    yield numbers("disparity from 0 to 1", graph.scaled(4).add("LOGISTIC").bytes(), color, unit)
    graph = Graph((1, 5, 7, 1)).scaled(7).reshape(1, 5, 7)
    gray = picture(1)
    yield numbers("numbers without a channel", graph.bytes(), gray, normalized(gray, UNIT)[None, ..., None])


def numbers(name, model, pixels, values, options=None):
    answer = litert(model, values).astype(np.float32).reshape(HEIGHT, WIDTH, 1)
    if options and options.get("fitsOutput"):
        answer = task_rules.enlarged(answer.astype(np.float64), (pixels.shape[1], pixels.shape[0])).astype(np.float32)
    low, high = float(answer.min()), float(answer.max())
    steps = np.floor((answer.astype(np.float64) - low) / (high - low) * 65535 + 0.5).astype(np.uint16)
    return record(name, "transformer", model, pixels, options=options, values=text(answer), size=[WIDTH, HEIGHT],
                  steps=text(steps))


def refused_outputs():
    color, gray = picture(3), picture(1)
    size = np.array((10, 14), np.int32)
    for name, graph, pixels in (
            ("an enlarged picture", Graph((1, 5, 7, 3)).add("RESIZE_NEAREST_NEIGHBOR", size, shape=(1, 10, 14, 3)), color),
            ("an enlarged gray picture", Graph((1, 5, 7, 1)).add("RESIZE_NEAREST_NEIGHBOR", size, shape=(1, 10, 14, 1)), gray),
            ("a picture by TANH", Graph((1, 5, 7, 3)).add("TANH"), color),
            ("a picture of the same size", Graph((1, 5, 7, 3)).scaled(0.9), color),
            ("a gray picture by TANH", Graph((1, 5, 7, 1)).add("TANH"), gray),
            ("depth by RELU", Graph((1, 5, 7, 1)).scaled(300).add("RELU"), gray),
            ("depth up to 6", Graph((1, 5, 7, 1)).scaled(30).add("RELU6"), gray)):
        yield record(f"{name} is no mask", "segmenter", graph.bytes(), pixels, error="apus transform")
    yield record("scores are no picture", "transformer",
                 Graph((1, 5, 7, 3)).scaled(2).add("SOFTMAX", options={"beta": 1.0}).bytes(), color, error="apus segment")
    yield record("a row is no picture", "transformer", Graph((1, 5, 7, 3)).reshape(1, 105).bytes(), color,
                 error="are not pictures")
    yield record("eight channels are no picture", "transformer",
                 models.constant_model([np.zeros((1, 5, 7, 8), np.float32)], (WIDTH, HEIGHT)), color, error="are not pictures")
