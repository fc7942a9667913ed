# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators: LSTM, RNN and SVDF, on floats, with weights of bytes, and on bytes."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from model_builder import ABSENT, Quantization

TANH = 4


def weights(draw, model, shape, mode, spread=None):
    """A matrix of floats, or of bytes with a scale."""
    if mode == "float":
        return model.constant(draw.values(shape, "float32", spread or draw.real(0.1, 0.6)))
    scale = draw.real(0.002, 0.01)
    # The reference's vector code is wrong for -128, which converters do not write.
    return model.constant(draw.values(shape, "int8", 127), Quantization.per_tensor(scale, 0))


def floats(draw, model, shape, spread=0.3):
    return model.constant(draw.values(shape, "float32", spread))


def mode_of(draw):
    mode = draw.pick("mode", ["float", "hybrid", "float", "asymmetric"])
    draw.tag("" if mode == "float" else mode)
    return mode


class Cell:
    """The sizes and choices of a layer of long short-term memory."""

    def __init__(self, draw, prefix, inputs, mode):
        self.cifg = draw.flag(prefix + "cifg", 3)
        self.peephole = draw.flag(prefix + "peephole", 3)
        self.projection = draw.flag(prefix + "projection", 3)
        self.mode = mode
        self.inputs = inputs
        self.cells = draw.choice([1, 2, 3, 5, 8, 17])
        self.outputs = draw.choice([1, 2, 4, 7]) if self.projection else self.cells

    def widen(self, cells):
        self.cells = cells
        self.outputs = self.outputs if self.projection else cells

    def tensors(self, draw, model):
        """Input weights, recurrent weights, peepholes, biases, the projection and its bias."""
        first = [not self.cifg, True, True, True]
        result = [weights(draw, model, (self.cells, self.inputs), self.mode) if there else ABSENT for there in first]
        result += [weights(draw, model, (self.cells, self.outputs), self.mode) if there else ABSENT for there in first]
        for there in (not self.cifg, True, True):
            there = there and self.peephole
            result.append(weights(draw, model, (self.cells,), self.mode) if there else ABSENT)
        result += [floats(draw, model, (self.cells,)) if there else ABSENT for there in first]
        if self.projection:
            result.append(weights(draw, model, (self.outputs, self.cells), self.mode))
            result.append(floats(draw, model, (self.outputs,)) if draw.chance(0.5) else ABSENT)
        else:
            result += [ABSENT, ABSENT]
        return result

    def auxiliary(self, draw, model, inputs):
        return [
            weights(draw, model, (self.cells, inputs), self.mode) if there else ABSENT
            for there in (not self.cifg, True, True, True)
        ]


def clips(draw, options):
    options.cellClip = draw.pick("cell clip", [0.0, 0.3, 10.0])
    options.projClip = draw.pick("projection clip", [0.0, 0.2, 0.0])
    options.fusedActivationFunction = draw.pick("activation", [TANH, TANH, 1, 3])


def sequence(draw, time_major, depth, batch=None, long=False):
    """Time, batch, and the shape of sequences."""
    batch = batch or draw.choice([1, 1, 2, 3])
    time = draw.choice([1, 2, 3, 6])
    if long:
        batch, time = 3, 80
    return batch, time, ((time, batch, depth) if time_major else (batch, time, depth))


def is_long(draw, mode):
    """Whether the case has so many cells and steps that inputs are not multiplied all at once."""
    return mode == "float" and draw.flag("long", 4)


def float_lstm(draw, name):
    model = GraphBuilder()
    mode = mode_of(draw)
    cell = Cell(draw, "", draw.choice([1, 3, 8, 19]), mode)
    long = is_long(draw, mode)
    if long:
        cell.widen(40)
    normalized = draw.flag("normalized", 3)
    one_step = name == "LSTM"
    options = schema.LSTMOptionsT() if one_step else schema.UnidirectionalSequenceLSTMOptionsT()
    clips(draw, options)
    options.asymmetricQuantizeInputs = mode == "asymmetric"
    batch, _, shape = sequence(draw, True, cell.inputs)
    if one_step:
        shape = (batch, cell.inputs)
    else:
        options.timeMajor = draw.flag("time_major", 2)
        batch, _, shape = sequence(draw, options.timeMajor, cell.inputs, long=long)
    values = draw.values(shape, "float32", 0.8)
    if draw.flag("zeros", 8):
        values[...] = 0
    inputs = [model.input(values), *cell.tensors(draw, model)]
    inputs.append(model.variable("float32", (batch, cell.outputs)))
    inputs.append(model.variable("float32", (batch, cell.cells)))
    if normalized:
        there = [not cell.cifg, True, True, True]
        inputs += [floats(draw, model, (cell.cells,), 1) if t else ABSENT for t in there]
    elif draw.flag("short_list", 3):
        pass
    else:
        inputs += [ABSENT] * 4
    output = model.output("float32")
    return model.add(name, inputs, [output], options, main=True)


def integer_lstm(draw, name):
    model = GraphBuilder()
    cifg = draw.flag("cifg", 3)
    peephole = draw.flag("peephole", 3)
    projection = draw.flag("projection", 3)
    normalized = draw.flag("normalized", 3)
    one_step = name == "LSTM"
    options = schema.LSTMOptionsT() if one_step else schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = TANH
    options.cellClip = draw.pick("cell clip", [0.0, 0.5, 10.0])
    options.projClip = draw.pick("projection clip", [0.0, 0.3])
    depth = draw.choice([1, 3, 8, 19])
    cells = draw.choice([2, 4, 8, 16])
    outputs = draw.choice([1, 2, cells]) if projection else cells
    time_major = True if one_step else draw.flag("time_major", 2)
    if not one_step:
        options.timeMajor = time_major
    batch, _, shape = sequence(draw, time_major, depth)
    if one_step:
        shape = (batch, depth)

    def bytes_of(shape):
        return model.constant(draw.values(shape, "int8"), Quantization.per_tensor(draw.real(0.002, 0.012), 0))

    def words_of(shape, scale):
        return model.constant(draw.values(shape, "int16"), Quantization.per_tensor(scale, 0))

    def bias_of(count):
        return model.constant(draw.values((count,), "int32", 5000), Quantization.per_tensor(1e-4, 0))

    there = [not cifg, True, True, True]
    input_quantization = Quantization.per_tensor(draw.real(0.004, 0.02), draw.integer(-128, 127))
    inputs = [model.input(draw.values(shape, "int8"), input_quantization)]
    inputs += [bytes_of((cells, depth)) if t else ABSENT for t in there]
    inputs += [bytes_of((cells, outputs)) if t else ABSENT for t in there]
    for t in (not cifg, True, True):
        inputs.append(words_of((cells,), draw.real(1e-5, 1e-4)) if t and peephole else ABSENT)
    inputs += [bias_of(cells) if t else ABSENT for t in there]
    if projection:
        inputs += [bytes_of((outputs, cells)), bias_of(outputs) if draw.chance(0.6) else ABSENT]
    else:
        inputs += [ABSENT, ABSENT]
    state = Quantization.per_tensor(draw.real(0.005, 0.01), draw.integer(-20, 20))
    inputs.append(model.variable("int8", (batch, outputs), state))
    exponent = draw.pick("cell exponent", [-11, -12, -10, -15, -9])
    inputs.append(model.variable("int16", (batch, cells), Quantization.per_tensor(2.0**exponent, 0)))
    if normalized:
        inputs += [words_of((cells,), draw.real(1e-5, 1e-4)) if t else ABSENT for t in there]
    else:
        inputs += [ABSENT] * 4
    intermediates = [
        model.tensor("int16", (), Quantization.per_tensor(draw.real(0.0005, 0.003), 0)) for _ in range(4)
    ]
    intermediates.append(
        model.tensor("int8", (), Quantization.per_tensor(draw.real(0.005, 0.01), draw.integer(-10, 10)))
    )
    output = model.output("int8", state)
    return model.add(name, inputs, [output], options, intermediates=intermediates, main=True)


def basic_lstm(draw):
    """The oldest form of LSTM."""
    model = GraphBuilder()
    draw.tag("basic")
    batch, depth, units = draw.choice([1, 2, 3]), draw.choice([1, 3, 8]), draw.choice([1, 2, 5])
    options = schema.LSTMOptionsT()
    options.fusedActivationFunction = TANH
    options.kernelType = 1
    inputs = [
        model.input(draw.values((batch, depth), "float32", 0.8)),
        model.input(draw.values((batch, units), "float32", 0.5)),
        floats(draw, model, (4 * units, depth + units), 0.4),
        floats(draw, model, (4 * units,)),
        model.input(draw.values((batch, units), "float32", 0.8)),
    ]
    outputs = [model.output("float32") for _ in range(4)]
    return model.add("LSTM", inputs, outputs, options, main=True)


def byte_lstm(draw):
    """The oldest form of LSTM, on bytes: inputs around 128 in units of 1/128, cells in units of 1/2048."""
    model = GraphBuilder()
    draw.tag("basic")
    batch, depth, units = draw.choice([1, 2, 3]), draw.choice([1, 3, 8, 19]), draw.choice([1, 2, 5, 8])
    options = schema.LSTMOptionsT()
    options.fusedActivationFunction = TANH
    options.kernelType = 1
    values = Quantization.per_tensor(1 / 128, 128)
    cells = Quantization.per_tensor(2.0**-11, 0)
    weight = Quantization.per_tensor(draw.power(-9, -5), draw.integer(0, 255))
    bias = Quantization.per_tensor(weight.scale / 128, 0)
    inputs = [
        model.input(draw.values((batch, depth), "uint8"), values),
        model.input(draw.values((batch, units), "uint8"), values),
        model.constant(draw.values((4 * units, depth + units), "uint8"), weight),
        model.constant(draw.values((4 * units,), "int32", 20000), bias),
        model.input(draw.values((batch, units), "int16"), cells),
    ]
    gates = Quantization.per_tensor(2.0**-12, 0)
    outputs = [model.output(*kind) for kind in
               (("uint8", values), ("int16", cells), ("uint8", values), ("int16", gates))]
    return model.add("LSTM", inputs, outputs, options, main=True)


@operator("UNIDIRECTIONAL_SEQUENCE_LSTM", ("float32", "int8"), cases=24, keeps_state=True)
def unidirectional_sequence_lstm(draw):
    make = float_lstm if draw.type == "float32" else integer_lstm
    return make(draw, "UNIDIRECTIONAL_SEQUENCE_LSTM")


@operator("LSTM", ("float32", "int8", "uint8"), cases=18, keeps_state=True)
def lstm(draw):
    if draw.type == "uint8":
        return byte_lstm(draw)
    if draw.type == "int8":
        return integer_lstm(draw, "LSTM")
    if draw.pick("kernel", [False, False, True]):
        return basic_lstm(draw)
    return float_lstm(draw, "LSTM")


@operator("BIDIRECTIONAL_SEQUENCE_LSTM", ("float32",), cases=24, keeps_state=True)
def bidirectional_sequence_lstm(draw):
    model = GraphBuilder()
    mode = mode_of(draw)
    depth = draw.choice([1, 3, 8])
    extra = draw.pick("second input", ["", "second_input", "", "cross_linked"])
    draw.tag(extra)
    forward, backward = Cell(draw, "", depth, mode), Cell(draw, "backward_", depth, mode)
    # The reference refuses directions of different sizes.
    backward.projection = forward.projection
    long = is_long(draw, mode)
    if long:
        forward.widen(40)
    backward.cells, backward.outputs = forward.cells, forward.outputs
    options = schema.BidirectionalSequenceLSTMOptionsT()
    clips(draw, options)
    options.asymmetricQuantizeInputs = mode == "asymmetric"
    options.mergeOutputs = draw.flag("merged", 2)
    options.timeMajor = draw.flag("time_major", 2)
    batch, time, shape = sequence(draw, options.timeMajor, depth, long=long)
    if options.mergeOutputs and batch > 1:
        # Batch by batch the reference then looks for states at multiples of the merged width, beyond their end.
        options.timeMajor = True
        shape = (time, batch, depth)
    inputs = [model.input(draw.values(shape, "float32", 0.8))]
    inputs += forward.tensors(draw, model) + backward.tensors(draw, model)
    for cell in (forward, backward):
        inputs.append(model.variable("float32", (batch, cell.outputs)))
        inputs.append(model.variable("float32", (batch, cell.cells)))
    width = depth if extra == "cross_linked" else draw.choice([1, 4])
    inputs.append(model.input(draw.values((*shape[:2], width), "float32", 0.8)) if extra else ABSENT)
    if extra == "second_input":
        inputs += forward.auxiliary(draw, model, width) + backward.auxiliary(draw, model, width)
    else:
        inputs += [ABSENT] * 8
    outputs = [model.output("float32") for _ in range(1 if options.mergeOutputs else 2)]
    return model.add("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, options, main=True)


def rnn_tensors(draw, model, mode, units, depth, batch):
    return [
        weights(draw, model, (units, depth), mode),
        weights(draw, model, (units, units), mode),
        floats(draw, model, (units,)),
        model.variable("float32", (batch, units)),
    ]


def rnn(name):
    def case(draw):
        model = GraphBuilder()
        mode = mode_of(draw)
        depth, units = draw.choice([1, 3, 8, 19]), draw.choice([1, 2, 5, 16])
        options = schema.RNNOptionsT() if name == "RNN" else schema.SequenceRNNOptionsT()
        options.fusedActivationFunction = draw.pick("activation", [TANH, 0, 1, 3])
        options.asymmetricQuantizeInputs = mode == "asymmetric"
        if name == "RNN":
            batch = draw.choice([1, 2, 3])
            shape = (batch, depth)
        else:
            options.timeMajor = draw.flag("time_major", 2)
            long = is_long(draw, mode)
            units = 150 if long else units
            batch, _, shape = sequence(draw, options.timeMajor, depth, long=long)
        inputs = [model.input(draw.values(shape, "float32", 0.8))]
        inputs += rnn_tensors(draw, model, mode, units, depth, batch)
        return model.add(name, inputs, [model.output("float32")], options, main=True)

    return operator(name, ("float32",), cases=14, keeps_state=True)(case)


rnn("RNN")
rnn("UNIDIRECTIONAL_SEQUENCE_RNN")


@operator("BIDIRECTIONAL_SEQUENCE_RNN", ("float32",), cases=20, keeps_state=True)
def bidirectional_sequence_rnn(draw):
    model = GraphBuilder()
    mode = mode_of(draw)
    depth = draw.choice([1, 3, 8])
    units = draw.choice([1, 2, 5]), draw.choice([1, 3, 4])
    extra = draw.pick("second input", ["", "second_input", ""])
    draw.tag(extra)
    options = schema.BidirectionalSequenceRNNOptionsT()
    options.fusedActivationFunction = draw.pick("activation", [TANH, 0, 1, 3])
    options.asymmetricQuantizeInputs = mode == "asymmetric"
    options.mergeOutputs = draw.flag("merged", 2)
    options.timeMajor = draw.flag("time_major", 2)
    batch, _, shape = sequence(draw, options.timeMajor, depth)
    inputs = [model.input(draw.values(shape, "float32", 0.8))]
    for count in units:
        inputs += rnn_tensors(draw, model, mode, count, depth, batch)
    if extra:
        inputs.append(model.input(draw.values(shape, "float32", 0.8)))
        inputs += [weights(draw, model, (count, depth), mode) for count in units]
    else:
        inputs += [ABSENT] * 3
    outputs = [model.output("float32") for _ in range(1 if options.mergeOutputs else 2)]
    return model.add("BIDIRECTIONAL_SEQUENCE_RNN", inputs, outputs, options, main=True)


@operator("SVDF", ("float32", "int8"), cases=16, keeps_state=True)
def svdf(draw):
    model = GraphBuilder()
    rank = draw.choice([1, 1, 2, 3])
    units, memory = draw.choice([1, 3, 4, 8]), draw.choice([1, 2, 5, 10])
    batch, depth = draw.choice([1, 2, 3]), draw.choice([1, 3, 8, 19])
    filters = rank * units
    options = schema.SVDFOptionsT()
    options.rank = rank
    if draw.type == "int8":
        options.fusedActivationFunction = 1

        def bytes_of(shape, kind):
            return model.constant(draw.values(shape, kind), Quantization.per_tensor(draw.real(0.002, 0.02), 0))

        state = Quantization.per_tensor(draw.real(0.001, 0.01), 0)
        inputs = [
            model.input(
                draw.values((batch, depth), "int8"),
                Quantization.per_tensor(draw.real(0.004, 0.05), draw.integer(-128, 127)),
            ),
            bytes_of((filters, depth), "int8"),
            model.constant(draw.values((filters, memory), "int16"), Quantization.per_tensor(1e-5, 0)),
            model.constant(draw.values((units,), "int32", 30000)) if draw.chance(0.7) else ABSENT,
            model.variable("int16", (batch, memory * filters), state),
        ]
        output = model.output("int8", Quantization.per_tensor(draw.real(0.002, 0.05), draw.integer(-128, 127)))
        return model.add("SVDF", inputs, [output], options, main=True)
    mode = mode_of(draw)
    options.asymmetricQuantizeInputs = mode == "asymmetric"
    options.fusedActivationFunction = draw.pick("activation", [0, 1, TANH, 3])
    values = draw.values((batch, depth), "float32", 0.8)
    if draw.flag("halves", 3):
        # Between two bytes, where these have a zero point.
        values = np.round(values * 2) / 2
        values.flat[: min(depth, 3)] = [-1, 2, 0.5][: min(depth, 3)]
    inputs = [
        model.input(values.astype(np.float32)),
        weights(draw, model, (filters, depth), mode),
        weights(draw, model, (filters, memory), mode),
        floats(draw, model, (units,)) if draw.chance(0.7) else ABSENT,
        model.variable("float32", (batch, memory * filters)),
    ]
    return model.add("SVDF", inputs, [model.output("float32")], options, main=True)
