# SPDX-License-Identifier: Apache-2.0
"""Makes the vision models and pictures of Examples: small models with weights chosen by hand, nothing is trained.

They have the inputs and outputs of real ones, so that a program written for them runs with yours. Expected results are
checked with LiteRT's reference kernels before anything is written.
"""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from graph_builder import GraphBuilder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vision"))
from models import metadata_json, with_files  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "Examples/Models"
PICTURES = ROOT / "Examples/Pictures"
NONE, RELU = schema.ActivationFunctionType.NONE, schema.ActivationFunctionType.RELU


class Network(GraphBuilder):
    """Float operators on NHWC tensors, each returning its output."""

    def picture(self, height, width):
        self._shapes = {}
        return self._sized(self.argument("float32", (1, height, width, 3)), (1, height, width, 3))

    def _sized(self, tensor, shape):
        self._shapes[tensor] = tuple(shape)
        return tensor

    def _new(self, shape):
        return self._sized(self.tensor("float32", shape), shape)

    def conv(self, source, weights, bias, activation=NONE):
        """`weights` are output channels × height × width × input channels; padding is SAME."""
        options = schema.Conv2DOptionsT()
        options.strideW = options.strideH = options.dilationWFactor = options.dilationHFactor = 1
        options.fusedActivationFunction = activation
        output = self._new(self._shapes[source][:3] + (weights.shape[0],))
        weights, bias = np.asarray(weights, np.float32), np.asarray(bias, np.float32)
        self.add("CONV_2D", [source, self.constant(weights), self.constant(bias)], [output], options)
        return output

    def mean(self, source, side):
        """The means of squares, `side` pixels apart."""
        options = schema.Pool2DOptionsT()
        options.strideW = options.strideH = options.filterWidth = options.filterHeight = side
        options.padding = schema.Padding.VALID
        batch, height, width, channels = self._shapes[source]
        output = self._new((batch, height // side, width // side, channels))
        self.add("AVERAGE_POOL_2D", [source], [output], options)
        return output

    def logistic(self, source):
        output = self._new(self._shapes[source])
        self.add("LOGISTIC", [source], [output])
        return output

    def reshape(self, source, shape):
        output = self._new(shape)
        self.add("RESHAPE", [source, self.constant(np.array(shape, np.int32))], [output], schema.ReshapeOptionsT())
        return output

    def joined(self, sources, axis):
        options = schema.ConcatenationOptionsT()
        options.axis = axis
        shape = list(self._shapes[sources[0]])
        shape[axis] = sum(self._shapes[source][axis] for source in sources)
        output = self._new(shape)
        self.add("CONCATENATION", sources, [output], options)
        return output

    def transposed(self, source, order):
        output = self._new([self._shapes[source][axis] for axis in order])
        options = schema.TransposeOptionsT()
        self.add("TRANSPOSE", [source, self.constant(np.array(order, np.int32))], [output], options)
        return output

    def softmax(self, source, beta=1.0):
        options = schema.SoftmaxOptionsT()
        options.beta = beta
        output = self._new(self._shapes[source])
        self.add("SOFTMAX", [source], [output], options)
        return output

    def paired(self, name, one, other, options=None):
        """A sum, product or quotient, value by value."""
        output = self._new(np.broadcast_shapes(self._shapes[one], self._shapes[other]))
        self.add(name, [one, other], [output], options)
        return output

    def given(self, values):
        return self._sized(self.constant(np.asarray(values, np.float32)), np.shape(values))


def centers(side, stride):
    """The centers of a grid's cells, row by row: x and y in pixels."""
    steps = np.arange(side // stride) * stride + stride / 2
    return np.array([(x, y) for y in steps for x in steps], np.float32)


def squares(side=160, strides=(8, 16, 32)):
    """A detector with the head of YOLO v8, for squares of pure red, green and blue that fill a cell of a grid.

    A cell scores where its own mean is of the color and that of its neighbors is not.
    """
    net = Network()
    picture = net.picture(side, side)  # 0 to 1
    purity = net.conv(picture, (np.eye(3) * 1.5 - 0.5).reshape(3, 1, 1, 3), np.zeros(3), RELU)
    scores, boxes = [], []
    for stride in strides:
        contrast = np.zeros((3, 3, 3, 3), np.float32)
        for channel in range(3):
            contrast[channel, :, :, channel] = -20 / 8
            contrast[channel, 1, 1, channel] = 20
        cells = net.logistic(net.conv(net.mean(purity, stride), contrast, np.full(3, -16)))
        count = (side // stride) ** 2
        scores.append(net.reshape(cells, (1, count, 3)))
        boxes.append(np.concatenate([centers(side, stride), np.full((count, 2), stride)], axis=1))
    rows = net.joined([net.given(np.concatenate(boxes)[None]), net.joined(scores, 1)], 2)
    net.result(net.transposed(rows, (0, 2, 1)))
    return with_files(net.bytes(), metadata_json(["red", "green", "blue"], task="detect", imgsz=[side, side]))


def faces(side=128):
    """A detector with the outputs of BlazeFace for short range, for drawn faces: discs whose red is far above their blue."""
    net = Network()
    picture = net.picture(side, side)  # −1 to 1
    skin = net.mean(net.logistic(net.conv(picture, np.array([[20, 0, -20]]).reshape(1, 1, 1, 3), [-8])), 16)
    # A face fills more than half of the 3×3 cells around its center. Of six anchors a cell, the first alone is used.
    weights = np.zeros((6, 3, 3, 1))
    weights[0] = 60 / 9
    logits = net.conv(skin, weights, [-33] + [-100] * 5)
    nothing = net.conv(net.mean(picture, 8), np.zeros((2, 1, 1, 3)), [-100] * 2)
    net.result(net.joined([net.reshape(nothing, (1, 512, 1)), net.reshape(logits, (1, 384, 1))], 1))
    # From the cell's center, in pixels: box, eyes, nose, mouth, ears.
    prediction = [0, 0, 44, 44, -8, -5, 8, -5, 0, 2, 0, 10, -20, -2, 20, -2]
    eights = net.conv(net.mean(picture, 8), np.zeros((32, 1, 1, 3)), prediction * 2)
    sixteens = net.conv(skin, np.zeros((96, 1, 1, 1)), prediction * 6)
    net.result(net.joined([net.reshape(eights, (1, 512, 16)), net.reshape(sixteens, (1, 384, 16))], 1))
    return net.bytes()


def embedder(side=112):
    """The means of 7×7 squares: alike for pictures whose colors are alike."""
    net = Network()
    net.result(net.reshape(net.mean(net.picture(side, side), 16), (1, 147)))
    return net.bytes()


# How grey, warm, cool and green a pixel is.
COLORS = np.array([[0, 0, 0], [1.5, 0.5, -2], [-2, 0, 1.6], [-1, 2, -1]], np.float32).reshape(4, 1, 1, 3)


def colors():
    """A segmenter that tells warm, cool and grey pixels apart by one convolution."""
    net = Network()
    picture = net.picture(120, 160)  # −1 to 1
    net.result(net.conv(picture, COLORS, [0.85, 0, 0, 0]))
    return with_files(net.bytes(), {"labels.txt": "grey\nwarm\ncool\ngreen\n"})


def color_classifier(side=64):
    """The shares of grey, warm, cool and green pixels: the segmenter's convolution, softened and averaged."""
    net = Network()
    scores = net.conv(net.picture(side, side), COLORS, [0.85, 0, 0, 0])  # of −1 to 1
    net.result(net.reshape(net.mean(net.softmax(scores, beta=8), side), (1, 4)))
    return with_files(net.bytes(), {"labels.txt": "grey\nwarm\ncool\ngreen\n"})


# The old look of photographs: each row makes a color.
SEPIA = np.array([[0.39, 0.77, 0.19], [0.35, 0.69, 0.17], [0.27, 0.53, 0.13]], np.float32)


def sepia():
    """A picture of a picture: warm grey, from −1 to 1, which RELU_N1_TO_1 limits."""
    net = Network()
    picture = net.picture(120, 160)  # −1 to 1
    gray = SEPIA.sum(1) - 1
    net.result(net.conv(picture, SEPIA.reshape(3, 1, 1, 3), gray, schema.ActivationFunctionType.RELU_N1_TO_1))
    return net.bytes()


def ear(count=4_000):
    """What is heard in a window: the mean of the samples' magnitudes, and what is left of 1."""
    net = Network()
    net._shapes = {}
    sound = net._sized(net.argument("float32", (1, count)), (1, count))
    magnitudes, mean = net._new((1, count)), net._new((1, 1))
    net.add("ABS", [sound], [magnitudes])
    options = schema.ReducerOptionsT()
    options.keepDims = True
    net.add("MEAN", [magnitudes, net.constant(np.array([1], np.int32))], [mean], options)
    scaled = net.paired("MUL", mean, net.given([[1, -1]]), schema.MulOptionsT())
    net.result(net.paired("ADD", scaled, net.given([[0, 1]]), schema.AddOptionsT()))
    return with_files(net.bytes(), {"labels.txt": "loud\nquiet\n"})


# One color for each of COCO's seventeen joints: no two are alike, and limbs have none of them.
JOINTS = np.array([(r, g, b) for r in (0, 128, 255) for g in (0, 128, 255) for b in (0, 128, 255)
                   if max(r, g, b) - min(r, g, b) >= 128][:17], np.float32)


def marked_joints(side=192):
    """A detector with the output of MoveNet, for drawn figures whose joints are discs of the colors `JOINTS`.

    A pixel counts for a joint as far as it has the joint's color; the joint is where these pixels are in the mean.
    """
    net = Network()
    picture = net.picture(side, side)  # 0 to 255
    # How far a pixel is above and below each color, channel by channel.
    above = np.tile(np.eye(3), (17, 1)).reshape(51, 1, 1, 3)
    apart = net.joined([net.conv(picture, above, -JOINTS.reshape(-1), RELU),
                        net.conv(picture, -above, JOINTS.reshape(-1), RELU)], 3)
    sums = np.kron(np.eye(17), np.ones(3))
    heat = net.conv(apart, -np.tile(sums, 2).reshape(17, 1, 1, 102) / 48, np.ones(17), RELU)
    places = ((np.arange(side) + 0.5) / side).astype(np.float32)
    mass = net.mean(heat, side)
    some = net.paired("ADD", mass, net.given([1e-9]), schema.AddOptionsT())
    columns = []
    for shape in ((1, side, 1, 1), (1, 1, side, 1)):
        moment = net.mean(net.paired("MUL", heat, net.given(places.reshape(shape)), schema.MulOptionsT()), side)
        columns.append(net.paired("DIV", moment, some, schema.DivOptionsT()))
    # Sure from ten pixels on.
    columns.append(net.paired("MINIMUM", net.paired("MUL", mass, net.given([side * side / 10]), schema.MulOptionsT()),
                              net.given([1.0])))
    rows = net.joined([net.reshape(column, (1, 1, 17, 1)) for column in columns], 3)
    net.result(rows)
    return net.bytes()


FIGURE = [(240, 92), (252, 80), (228, 80), (268, 88), (212, 88), (296, 156), (184, 156), (356, 120), (128, 196), (400, 60),
          (96, 256), (280, 276), (204, 276), (312, 356), (180, 364), (328, 440), (140, 436)]
LIMBS = [(5, 6), (5, 7), (7, 9), (6, 8), (8, 10), (5, 11), (6, 12), (11, 12), (11, 13), (13, 15), (12, 14), (14, 16)]


def figure_picture(width=480, height=480):
    """A drawn figure: limbs, a head, and a disc of its own color for each joint."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    picture = np.full((height, width, 3), (238, 236, 228), np.uint8)
    picture[(x - 240) ** 2 + (y - 84) ** 2 < 52 ** 2] = (196, 190, 184)
    for first, second in LIMBS:
        (x0, y0), (x1, y1) = FIGURE[first], FIGURE[second]
        along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2), 0, 1)
        picture[(x - x0 - along * (x1 - x0)) ** 2 + (y - y0 - along * (y1 - y0)) ** 2 < 121] = (84, 84, 92)
    for (cx, cy), color in zip(FIGURE, JOINTS):
        # Those of a face are close together.
        radius = 5 if cy < 100 and 200 < cx < 280 else 9
        picture[(x - cx) ** 2 + (y - cy) ** 2 < radius ** 2] = color
    return picture


def sunset_picture(width=480, height=320):
    """A warm sky, a sun, and a sea."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    picture = np.stack([250 - y / 10, 190 - y / 2, 70 - y / 6], axis=2)
    picture[(x - 300) ** 2 + (y - 180) ** 2 < 48 ** 2] = (255, 220, 120)
    sea = y > 220
    glitter = (np.abs(x - 300) < 30 + (y - 220) / 2) & (y.astype(int) // 6 % 2 == 0)
    picture[sea] = (48, 66, 104)
    picture[sea & glitter] = (235, 160, 70)
    return picture.astype(np.uint8)


def squares_picture():
    """480 × 480: squares of three sizes on the grids of `squares`, and what is none."""
    y, x = np.mgrid[0:480, 0:480]
    picture = np.stack([90 + x // 12, 90 + y // 12, 110 + (x + y) // 24], axis=2).astype(np.uint8)
    red, green, blue = np.eye(3, dtype=np.uint8) * 255
    for left, top, side, color in [(96, 96, 96, red), (288, 192, 96, blue), (48, 336, 48, green), (384, 48, 48, red),
                                   (240, 384, 48, blue), (216, 48, 24, green), (408, 360, 24, red)]:
        picture[top:top + side, left:left + side] = color
    picture[(x - 380) ** 2 + (y - 420) ** 2 < 900] = (230, 230, 40)
    return picture


def faces_picture(people, side=384, radius=66):
    """Drawn faces: a disc, eyes, a mouth and hair; each is a center, a skin and a color of hair."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32)
    picture = np.full((side, side, 3), (150, 165, 180), np.uint8)
    for (cx, cy), skin, hair in people:
        inside = (x - cx) ** 2 + (y - cy) ** 2 < radius ** 2
        picture[(x - cx) ** 2 + (y - cy + 12) ** 2 < (radius + 10) ** 2] = hair
        picture[inside] = skin
        for dx in (-24, 24):
            picture[(x - cx - dx) ** 2 + (y - cy + 15) ** 2 < 36] = (30, 30, 30)
        picture[(abs(x - cx) < 20) & (abs(y - cy - 30) < 4)] = (120, 30, 40)
    return picture


def png(picture):
    height, width = picture.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def run(data, values):
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values[None].astype(np.float32))
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def main():
    ada, bo = ((252, 206, 140), (60, 30, 20)), ((230, 150, 80), (30, 30, 30))
    pictures = {
        "squares": squares_picture(),
        "ada": faces_picture([((168, 216), *ada)]),
        "bo": faces_picture([((216, 168), *bo)]),
        "group": faces_picture([((120, 120), *bo), ((264, 264), *ada)]),
        "figure": figure_picture(),
        "sunset": sunset_picture(),
    }
    models = {"squares-yolo": squares(), "faces": faces(), "embedder": embedder(), "colors": colors(),
              "color-classifier": color_classifier(), "marked-joints": marked_joints(),
              "sepia": sepia(), "ear": ear()}

    # The pictures at the models' sizes are whole pixels of the large ones.
    answer = run(models["squares-yolo"], pictures["squares"][1::3, 1::3] / 255)[0]
    assert answer.shape == (1, 7, 525), answer.shape
    found = int((answer[0, 4:].max(axis=0) > 0.25).sum())
    assert found == 7, f"{found} squares instead of 7"
    for name, count in (("ada", 1), ("bo", 1), ("group", 2)):
        scores, predictions = run(models["faces"], pictures[name][1::3, 1::3] / 127.5 - 1)
        assert scores.shape == (1, 896, 1) and predictions.shape == (1, 896, 16), (scores.shape, predictions.shape)
        assert (scores > 0).sum() == count, f"{name}: {(scores > 0).sum()} faces, not {count}"

    for name, best in (("figure", 0), ("sunset", 1)):
        side = 64
        picture = pictures[name]
        rows, columns = (np.arange(side) * length // side for length in picture.shape[:2])
        shares = run(models["color-classifier"], picture[rows][:, columns] / 127.5 - 1)[0]
        assert shares.shape == (1, 4) and abs(shares.sum() - 1) < 1e-3 and shares.argmax() == best, shares
    # 2.5 pixels of the picture are one of the input.
    whole = pictures["figure"][np.arange(192) * 5 // 2 + 1][:, np.arange(192) * 5 // 2 + 1]
    points = run(models["marked-joints"], whole)[0].reshape(17, 3)
    away = np.abs(points[:, 1::-1] * 480 - FIGURE).max()
    assert away < 3 and points[:, 2].min() > 0.3, (away, points[:, 2])

    MODELS.mkdir(exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    for name, data in models.items():
        (MODELS / f"{name}.tflite").write_bytes(data)
        print(f"{name}.tflite: {len(data)} bytes")
    for name, picture in pictures.items():
        data = png(picture)
        (PICTURES / f"{name}.png").write_bytes(data)
        print(f"{name}.png: {len(data)} bytes")


if __name__ == "__main__":
    main()
