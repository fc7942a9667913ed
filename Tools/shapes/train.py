# SPDX-License-Identifier: Apache-2.0
"""Trains the detector: first in floats with batch normalisation, then folded and with quantised arithmetic.

    python train.py --data work/train --validation work/val --work work \\
        --float-steps 12000 --quantized-steps 3000

Writes `checkpoint.npz` (weights and batch normalisation), `float.npz` (folded weights) and `quantized.npz` (weights and activation ranges) to the work folder.
`--float-steps 0` starts from an existing `float.npz`.
"""

import argparse
import os
import pathlib
import queue
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

from network import ANCHORS, ANCHORS_PER_CELL, BOX_SCALES, COLUMNS, assign, network
from pictures import INPUT_SIZE, LABELS
from measure import average_precisions, suppressed

v1 = tf.compat.v1


# ---------------------------------------------------------------------------------------------------------------------
# Layers


def convolve(kind, x, weights, stride):
    if kind == "depthwise":
        return tf.nn.depthwise_conv2d(x, weights, [1, stride, stride, 1], "SAME")
    return tf.nn.conv2d(x, weights, [1, stride, stride, 1], "SAME")


def weight_shape(kind, x, kernel, channels):
    inputs = int(x.shape[-1])
    return (kernel, kernel, inputs, 1) if kind == "depthwise" else (kernel, kernel, inputs, channels)


class FloatLayers:
    """Layers with batch normalisation; heads have a bias instead."""

    def __init__(self):
        self.updates = []
        self.kinds = {}

    def __call__(self, kind, name, x, kernel, stride, channels, activation, training):
        shape = weight_shape(kind, x, kernel, channels)
        channels = int(channels)
        self.kinds[name] = (kind, activation)
        with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
            fan = kernel * kernel * (1 if kind == "depthwise" else shape[2])
            weights = v1.get_variable("weights", shape, initializer=v1.random_normal_initializer(
                stddev=(2 / fan) ** 0.5 if activation else 0.01))
            x = convolve(kind, x, weights, stride)
            if not activation:
                start = np.zeros(channels, np.float32)
                if name.startswith("scores"):
                    start = np.tile(np.array([3.0] + [-3.0] * (COLUMNS - 1), np.float32), ANCHORS_PER_CELL)
                return x + v1.get_variable("bias", initializer=start)
            gamma = v1.get_variable("gamma", initializer=np.ones(channels, np.float32))
            beta = v1.get_variable("beta", initializer=np.zeros(channels, np.float32))
            mean = v1.get_variable("mean", initializer=np.zeros(channels, np.float32), trainable=False)
            variance = v1.get_variable("variance", initializer=np.ones(channels, np.float32), trainable=False)
            if training:
                x, now_mean, now_variance = v1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3, is_training=True)
                self.updates += [v1.assign_sub(mean, 0.02 * (mean - now_mean)),
                                 v1.assign_sub(variance, 0.02 * (variance - now_variance))]
            else:
                x, _, _ = v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, epsilon=1e-3, is_training=False)
            return tf.nn.relu6(x)


def folded(values, kinds):
    """Weights and biases with batch normalisation multiplied in."""
    result = {}
    for name, (kind, activation) in kinds.items():
        weights = values[name + "/weights"]
        if activation:
            scale = values[name + "/gamma"] / np.sqrt(values[name + "/variance"] + 1e-3)
            bias = values[name + "/beta"] - values[name + "/mean"] * scale
            weights = weights * (scale[:, None] if kind == "depthwise" else scale)
        else:
            bias = values[name + "/bias"]
        result[name + "/weights"], result[name + "/bias"] = weights, bias
    return result


class QuantizedLayers:
    """Folded layers whose weights and activations pass through fake quantisation: one range per tensor, 8 bits."""

    def __init__(self, start):
        self.start = start
        self.updates = []

    def variable(self, name, trainable=True):
        return v1.get_variable(name, initializer=np.asarray(self.start[name], np.float32), trainable=trainable)

    def activations(self, name, x, training):
        """Fake quantisation by a moving range. A head's range is shared by all levels, as their outputs are joined."""
        with v1.variable_scope("", reuse=v1.AUTO_REUSE):
            low, high = self.variable(name + "/min", False), self.variable(name + "/max", False)
        if training:
            self.updates += [v1.assign_sub(low, 0.01 * (low - tf.minimum(tf.reduce_min(x), 0))),
                             v1.assign_sub(high, 0.01 * (high - tf.maximum(tf.reduce_max(x), 0)))]
        return tf.quantization.fake_quant_with_min_max_vars(x, low, high, num_bits=8)

    def __call__(self, kind, name, x, kernel, stride, channels, activation, training):
        with v1.variable_scope("", reuse=v1.AUTO_REUSE):
            weights, bias = self.variable(name + "/weights"), self.variable(name + "/bias")
        low, high = tf.stop_gradient(tf.reduce_min(weights)), tf.stop_gradient(tf.reduce_max(weights))
        weights = tf.quantization.fake_quant_with_min_max_vars(
            weights, tf.minimum(low, 0.0), tf.maximum(high, 0.0), num_bits=8)
        x = convolve(kind, x, weights, stride) + bias
        if not activation:
            return x
        return self.activations(name, tf.nn.relu6(x), training)


def joined(outputs, columns):
    return tf.concat([tf.reshape(x, [-1, x.shape[1] * x.shape[2] * ANCHORS_PER_CELL, columns]) for x in outputs], 1)


# ---------------------------------------------------------------------------------------------------------------------
# Loss


def corners(codes):
    """Boxes (y0, x0, y1, x1) of encodings."""
    codes = codes / BOX_SCALES
    centers = codes[..., :2] * ANCHORS[:, 2:] + ANCHORS[:, :2]
    halves = 0.5 * tf.exp(tf.minimum(codes[..., 2:], 3.0)) * ANCHORS[:, 2:]
    return centers - halves, centers + halves


def quality(codes, wanted_codes):
    """Intersection over union of the boxes of two sets of encodings."""
    low, high = corners(codes)
    wanted_low, wanted_high = corners(wanted_codes)
    both = tf.reduce_prod(tf.maximum(tf.minimum(high, wanted_high) - tf.maximum(low, wanted_low), 0.0), -1)
    area = tf.reduce_prod(high - low, -1) + tf.reduce_prod(wanted_high - wanted_low, -1)
    return both / tf.maximum(area - both, 1e-9)


def detection_loss(codes, logits, wanted_codes, wanted_classes, by_quality):
    """Box distance and class entropy of the positives, and the entropy of the background.

    By quality, a positive anchor's score should tell how well its box fits, and all of the background counts, in
    proportion to its squared error (the quality focal loss). That makes scores honest, but starts slowly: at first,
    scores should be 0 or 1, and of the background only the four hardest anchors for each positive count.
    """
    positive = tf.cast(wanted_classes > 0, tf.float32)
    count = tf.maximum(tf.reduce_sum(positive), 1.0)
    distance = tf.abs(codes - wanted_codes)
    box = tf.reduce_sum(tf.where(distance < 1, 0.5 * distance ** 2, distance - 0.5), 2)
    box = tf.reduce_sum(box * positive) / count

    target = tf.one_hot(tf.maximum(wanted_classes, 0), COLUMNS)
    if by_quality:
        fit = tf.stop_gradient(quality(codes, wanted_codes))
        # A good fit is a full score: nothing is gained from telling 0.9 from 0.95.
        fit = tf.clip_by_value((fit - 0.35) / 0.45, 0.0, 1.0)
        target = tf.where(tf.equal(wanted_classes, 0)[..., None], target, target * fit[..., None])
        error = tf.abs(target - tf.sigmoid(logits)) ** 2
        entropy = error * tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
        counted = tf.cast(wanted_classes >= 0, tf.float32)
        return box * 0.4 + 2.0 * tf.reduce_sum(tf.reduce_sum(entropy, 2) * counted) / count
    entropy = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits), 2)
    negative = tf.reshape(tf.where(tf.equal(wanted_classes, 0), entropy, tf.zeros_like(entropy)), [-1])
    hardest = tf.math.top_k(negative, tf.cast(4 * count, tf.int32), sorted=False).values
    return box * 0.5 + (tf.reduce_sum(entropy * positive) + tf.reduce_sum(hardest)) / count


# ---------------------------------------------------------------------------------------------------------------------
# Pictures


class Batches:
    """Random batches, turned, mirrored and recolored."""

    def __init__(self, folder, seed):
        self.pictures = np.load(folder / "pictures.npy", mmap_mode="r")
        self.boxes, self.kinds = np.load(folder / "boxes.npy"), np.load(folder / "kinds.npy")
        self.rng = np.random.default_rng(seed)
        self.order = np.array([], np.int64)

    def next(self, size):
        rng = self.rng
        if len(self.order) < size:
            self.order = rng.permutation(len(self.pictures))
        chosen, self.order = self.order[:size], self.order[size:]
        pictures = np.empty((size, INPUT_SIZE, INPUT_SIZE, 3), np.float32)
        boxes, kinds = self.boxes[chosen].copy(), self.kinds[chosen]
        for i, index in enumerate(chosen):
            picture = self.pictures[index][..., rng.permutation(3)]
            box = boxes[i]
            if rng.random() < 0.5:
                picture, box = picture[:, ::-1], box[:, [0, 3, 2, 1]] * [1, -1, 1, -1] + [0, 1, 0, 1]
            if rng.random() < 0.5:
                picture, box = picture[::-1], box[:, [2, 1, 0, 3]] * [-1, 1, -1, 1] + [1, 0, 1, 0]
            if rng.random() < 0.5:
                picture, box = picture.transpose(1, 0, 2), box[:, [1, 0, 3, 2]]
            boxes[i] = box
            gain = rng.uniform(0.75, 1.2) / 127.5 * (-1 if rng.random() < 0.3 else 1)
            pictures[i] = picture
            pictures[i] = np.clip((pictures[i] - 127.5) * gain + rng.uniform(-0.12, 0.12), -1, 1)
        return (pictures, *assign(boxes, kinds))

    def prefetched(self, size, count):
        """The next `count` batches, made by one thread ahead of their use."""
        ready = queue.Queue(4)
        threading.Thread(target=lambda: [ready.put(self.next(size)) for _ in range(count)], daemon=True).start()
        for _ in range(count):
            yield ready.get()


def validate(run, folder, count):
    """mAP@0.5 of a float function from pictures to (encodings, scores), the detection operator done in numpy."""
    pictures = np.load(folder / "pictures.npy", mmap_mode="r")[:count]
    boxes, kinds = np.load(folder / "boxes.npy")[:count], np.load(folder / "kinds.npy")[:count]
    found = []
    for start in range(0, count, 50):
        codes, scores = run(pictures[start:start + 50].astype(np.float32) / 127.5 - 1)
        for code, score in zip(codes, scores):
            code = code / BOX_SCALES
            center = code[:, :2] * ANCHORS[:, 2:] + ANCHORS[:, :2]
            half = 0.5 * np.exp(code[:, 2:]) * ANCHORS[:, 2:]
            found.append(suppressed(np.concatenate([center - half, center + half], 1), score[:, 1:], 0.55, 30))
    truth = [(b[k >= 0], k[k >= 0]) for b, k in zip(boxes, kinds)]
    return average_precisions(found, truth, len(LABELS))


# ---------------------------------------------------------------------------------------------------------------------
# Training


def session():
    return v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))


def train(layers, outputs, arguments, steps, rate, warm, decay, by_quality, resume=None):
    """Trains in the current graph; returns the values of all its variables."""
    size = arguments.batch
    picture = v1.placeholder(tf.float32, [size, INPUT_SIZE, INPUT_SIZE, 3])
    wanted_codes = v1.placeholder(tf.float32, [size, len(ANCHORS), 4])
    wanted_classes = v1.placeholder(tf.int32, [size, len(ANCHORS)])
    loss = detection_loss(*outputs(picture, True), wanted_codes, wanted_classes, by_quality)
    trainable = v1.trainable_variables()
    weights = [v for v in trainable if "weights" in v.name and "depthwise" not in v.name]
    learning_rate = v1.placeholder(tf.float32, [])
    total = loss + decay * tf.add_n([tf.nn.l2_loss(v) for v in weights])
    gradients = tf.gradients(total, trainable)
    gradients, _ = tf.clip_by_global_norm(gradients, 10.0)
    step = v1.train.AdamOptimizer(learning_rate).apply_gradients(list(zip(gradients, trainable)))
    update = tf.group(step, *layers.updates)

    test_picture = v1.placeholder(tf.float32, [None, INPUT_SIZE, INPUT_SIZE, 3])
    test_codes, test_logits = outputs(test_picture, False)
    test = [test_codes, tf.sigmoid(test_logits)]

    batches = Batches(arguments.data, arguments.seed)
    with session() as run:
        run.run(v1.global_variables_initializer())
        for variable in v1.global_variables() if resume else []:
            if variable.op.name in resume:
                variable.load(resume[variable.op.name], run)

        def values():
            return {v.op.name: run.run(v) for v in v1.global_variables() if "Adam" not in v.name}

        def report(count):
            aps = validate(lambda x: run.run(test, {test_picture: x}), arguments.validation, count)
            print(f"  mAP@0.5 {np.mean(aps):.4f}  " + "  ".join(f"{n} {a:.3f}" for n, a in zip(LABELS, aps)), flush=True)

        average, started = None, time.time()
        for index, (x, codes, classes) in enumerate(batches.prefetched(size, steps)):
            now = rate * min(1, (index + 1) / warm) * (0.5 + 0.5 * np.cos(np.pi * index / steps)) + 1e-6
            _, value = run.run([update, loss], {
                picture: x, wanted_codes: codes, wanted_classes: classes, learning_rate: now})
            average = value if average is None else 0.98 * average + 0.02 * value
            if (index + 1) % 100 == 0:
                print(f"{index + 1}/{steps} loss {average:.3f} {time.time() - started:.0f} s", flush=True)
            if (index + 1) % 1000 == 0:
                report(200)
                yield values()
        report(1000)
        yield values()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--validation", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--float-steps", type=int, default=12000)
    parser.add_argument("--resume", action="store_true", help="go on from the work folder's checkpoint.npz")
    parser.add_argument("--quantized-steps", type=int, default=3000)
    parser.add_argument("--float-rate", type=float, default=3e-3)
    parser.add_argument("--quantized-rate", type=float, default=3e-4)
    parser.add_argument("--by-quality", action="store_true", help="scores tell how well a box fits; see detection_loss")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)

    if arguments.float_steps:
        with tf.Graph().as_default():
            v1.set_random_seed(arguments.seed)
            layers = FloatLayers()

            def outputs(picture, training):
                boxes, scores = network(lambda *a: layers(*a, training), picture)
                return joined(boxes, 4), joined(scores, COLUMNS)

            resume = dict(np.load(arguments.work / "checkpoint.npz")) if arguments.resume else None
            for values in train(
                    layers, outputs, arguments, arguments.float_steps, arguments.float_rate, 300, 4e-5,
                    arguments.by_quality, resume):
                np.savez(arguments.work / "checkpoint.npz", **values)
                np.savez(arguments.work / "float.npz", **folded(values, layers.kinds))

    start = dict(np.load(arguments.work / "float.npz"))
    for name in [n[:-len("/weights")] for n in list(start) if n.endswith("/weights")]:
        start[name + "/min"], start[name + "/max"] = 0.0, 6.0
    for name, limit in (("boxes", 8.0), ("scores", 8.0)):
        start[name + "/min"], start[name + "/max"] = -limit, limit
    with tf.Graph().as_default():
        v1.set_random_seed(arguments.seed + 1)
        layers = QuantizedLayers(start)

        def outputs(picture, training):
            picture = tf.quantization.fake_quant_with_min_max_args(picture, -1, 1, num_bits=8)
            boxes, scores = network(lambda *a: layers(*a, training), picture)
            codes, logits = joined(boxes, 4), joined(scores, COLUMNS)
            return layers.activations("boxes", codes, training), layers.activations("scores", logits, training)

        for values in train(layers, outputs, arguments, arguments.quantized_steps, arguments.quantized_rate, 100, 1e-5,
                            arguments.by_quality):
            np.savez(arguments.work / "quantized.npz", **values)


if __name__ == "__main__":
    main()
