# SPDX-License-Identifier: Apache-2.0
"""Whether Apus and the reference agree on a graph, and Apus with itself."""

import re
from dataclasses import dataclass, field

import numpy as np

from comparison import TOLERANCE, difference, relative_error
from random_graphs.answers import GraphReference
from random_graphs.disturbing import STATE_TOLERANCE, disturbed, quantizes_state
from random_graphs.engine import ALL_WAYS, Died, Refused
from random_graphs.model import Graph, Operator, Subgraph, Tensor
from random_graphs.programs.drawing import unshared
from random_graphs.weaver import MIXED
from random_graphs.writer import write
from reference import Rejected

# An error of an operator that calls nothing, in a subgraph.
UNTAKEN = re.compile(r"subgraph \d+, operator #\d+, (?!IF|WHILE|STABLEHLO_C)\w+:")
# How often inputs are moved by a millionth to see what the reference itself makes of it.
MOVES = 6


@dataclass
class Verdict:
    """What came of a graph: "passed", "sensitive" (no answer is better than another), "rejected" or "failed"."""

    result: str
    reason: str = ""
    # What a smaller graph has to have in common, to fail in the same way.
    key: str = ""
    outputs: list = field(default_factory=list)


class Judge:
    def __init__(self, reference, engine, kernels):
        self._reference = reference
        self._engine = engine
        self._kernels = kernels
        self._other = None

    def ways_of(self, index):
        """The kernel sets, ways and thread counts of graph number `index`.

        Always: the fastest kernels and the portable ones, `preservesAllTensors`, and the fastest with several threads;
        the other kernel sets and ways take turns.
        """
        fastest, portable, others = self._kernels[0], "portable", self._kernels[1:-1]
        kernels = [fastest] + ([portable] if portable != fastest else [])
        if others:
            kernels.append(others[index % len(others)])
        ways = ["preserves", "threads"]
        rotating = ["again", "simultaneous", "resizes", "cancels", "profiles"]
        ways += [rotating[index % 5], rotating[(index + 1 + index // 5 % 4) % 5]]
        if index % 16 == 0:
            ways.append("limit")
        return kernels, ways, [2, 5] if index % 4 == 0 else [2 if index % 2 else 5]

    def every_way(self):
        return self._kernels, list(ALL_WAYS), [2, 5]

    def judge(self, graph, ways):
        if graph.is_program:
            return self._judge_program(graph, ways)
        contents, tensors = write(graph)
        sets = graph.sets()
        try:
            answers = self._reference.run(contents, sets, graph.is_mixed, graph.has_state)
        except Rejected as rejection:
            return Verdict("rejected", str(rejection))
        if graph.resized and len(sets) > 2 and isinstance(answers[-1], str):
            sets = sets[:2]
            answers = answers[:-1]
        kernels, names, threads = ways
        try:
            runs, disagreements = self._engine.run(contents, sets, graph.has_state, kernels, names, threads)
        except Died as death:
            return Verdict("failed", str(death), str(death), answers)
        except Refused as refusal:
            return Verdict("failed", f"refused: {refusal}", "refused: " + _without_numbers(str(refusal)), answers)
        if disagreements and absorbs_padding(graph) and (graph.is_special or all(map(is_last_bit, disagreements))):
            return Verdict("sensitive", disagreements[0], outputs=answers)
        if disagreements:
            key = "way: " + _without_numbers(disagreements[0].split(":")[0])
            return Verdict("failed", "; ".join(disagreements[:4]), key, answers)
        return self._compared(graph, contents, tensors, sets, answers, runs)

    def _judge_program(self, graph, ways):
        """Runs a program's sets in their order. The reference gets a subgraph of its own for each call: it has errors with shared ones."""
        contents, _ = write(graph)
        runs = graph.runs()
        separate = unshared(graph)
        try:
            answers = self._reference.sequence(write(separate or graph)[0], runs, graph.is_mixed, graph.has_state)
        except Rejected as rejection:
            # Apus has to survive, and to agree with itself.
            answers = [str(rejection)] * (1 if graph.has_state else len(runs))
        # Behind a run that fails, states are open.
        if graph.has_state and isinstance(answers[-1], str) and len(answers) > 1:
            answers = answers[:-1]
        runs = runs[:len(answers)]
        kernels, names, threads = ways
        # Kernels matter little here.
        kernels, threads = [kernels[0], *kernels[-1:]] if len(kernels) > 1 else kernels, threads[:1]
        try:
            found, disagreements = self._engine.sequence(contents, runs, graph.has_state, kernels, names, threads)
        except Died as death:
            return Verdict("failed", str(death), str(death), answers)
        except Refused as refusal:
            return Verdict("failed", f"refused: {refusal}", "refused: " + _without_numbers(str(refusal)), answers)
        if disagreements:
            key = "way: " + _without_numbers(disagreements[0].split(":")[0])
            return Verdict("failed", "; ".join(disagreements[:4]), key, answers)
        ended = set()
        for name, position, outcome in found:
            wanted = answers[position]
            # Refused by the reference: Apus may do without a restriction. Behind a run that only Apus refused, states are open.
            if isinstance(wanted, str) or name in ended:
                continue
            # Of an empty tensor, the reference reads what lies behind it.
            if isinstance(outcome, str) and "STRIDED_SLICE: index" in outcome and "is outside axis" in outcome:
                if graph.has_state:
                    ended.add(name)
                continue
            # Apus prepares a branch before it knows whether it runs. What it refuses then, the reference may never meet.
            if isinstance(outcome, str) and UNTAKEN.match(outcome):
                return Verdict("rejected", "Apus refuses a branch that may not run")
            if isinstance(outcome, str):
                verdict = Verdict("failed", f"{name}, run {position}: fails with {outcome}", "fails: " + _without_numbers(outcome), answers)
            else:
                problem = first_difference(wanted, outcome)
                if not problem:
                    continue
                verdict = Verdict("failed", f"{name}, run {position}, output {problem[0]}: {problem[1]}", "differs", answers)
            if self._sequence_varies(graph, separate, runs, answers):
                return Verdict("rejected", "the answer varies")
            # LiteRT resizes no tensor whose bytes stay none: behind a loop, 0×1 may still be the 1×0 for which it was prepared.
            if any(array.size == 0 for array in runs[position][1]):
                return Verdict("rejected", "an input is empty")
            return verdict
        if all(isinstance(answer, str) for answer in answers):
            return Verdict("rejected", answers[0])
        return Verdict("passed", outputs=[answer for answer in answers if not isinstance(answer, str)])

    def _sequence_varies(self, graph, separate, runs, answers):
        if self._other is None:
            self._other = GraphReference(filling=0xC6)
        try:
            others = self._other.sequence(write(separate or graph)[0], runs, graph.is_mixed, graph.has_state)
        except Rejected:
            return True
        return any(
            isinstance(other, str) != isinstance(answer, str) or not isinstance(answer, str) and any(
                a.tobytes() != b.tobytes() for a, b in zip(answer, other))
            for answer, other in zip(answers, others))

    def _compared(self, graph, contents, tensors, sets, answers, runs):
        expected = {0: [answers[0]], 1: [answers[1]]} if len(sets) > 1 else {0: answers[:2]}
        if len(sets) > 1 and graph.has_state:
            expected[0].append(answers[2])
        if len(sets) > 2:
            expected[2] = [answers[-1]]
        counts = {}
        sensitive = ""
        for name, number, outcome in runs:
            turn = counts.get((name, number), 0)
            counts[name, number] = turn + 1
            wanted = expected[number][min(turn, len(expected[number]) - 1)]
            if isinstance(outcome, str):
                # In a smaller shape, an index may lie outside. The reference reads what lies behind the tensor then.
                if number == 2 and "STRIDED_SLICE: index" in outcome and "is outside axis" in outcome:
                    continue
                return Verdict("failed", f"{name}, set {number}: fails with {outcome}", "fails: " + _without_numbers(outcome), answers)
            problem = first_difference(wanted, outcome)
            if not problem:
                continue
            where, text = problem
            if self._is_sensitive(graph, contents, tensors, sets, name, number, turn, wanted, outcome):
                sensitive = text
                continue
            if self._varies(graph, contents, sets, answers):
                return Verdict("rejected", "the answer varies")
            kind = "float" if where >= 0 and wanted[where].dtype.kind in "fc" else "integer"
            return Verdict("failed", f"{name}, set {number}, output {where}: {text}", f"differs: {kind}", answers)
        return Verdict("sensitive" if sensitive else "passed", sensitive, outputs=answers)

    def _is_sensitive(self, graph, contents, tensors, sets, kernels, number, turn, wanted, found):
        """Whether the reference's answer moves as much by itself, or each operator is right."""
        if any(w.shape != f.shape or w.dtype != f.dtype for w, f in zip(wanted, found)) and not any(
                t.loose for t in graph.main.outputs):
            return False
        if is_strict(graph) and any(differs_in_kind(w, f) for w, f in zip(wanted, found)):
            return False
        if self._has_specials(graph, contents, sets[number]):
            return True
        if any(map(quantizes_state, graph.main.operators)) and all(
                w.shape == f.shape and w.dtype.kind == "f" and relative_error(w, f) <= STATE_TOLERANCE or not difference(w, f)
                for w, f in zip(wanted, found)):
            return True
        before = [sets[0], sets[1 % len(sets)]][:number + 2 * turn] if graph.has_state and number < 2 else []
        try:
            answers = self._moved(graph, contents, [*before, sets[number]])
            if all(not _differs_more(wanted, found, answers, place) for place in range(len(wanted))):
                return True
        except Rejected:
            pass
        return self._each_operator_agrees(graph, contents, tensors, sets[number], kernels)

    def _moved(self, graph, contents, sets):
        """What the reference answers when inputs, random numbers and states that it quantizes move a little."""
        numbers = np.random.default_rng(1)
        answers = []
        for turn in range(MOVES):
            moved = disturbed(graph, numbers)
            if moved is None:
                return self._reference.moved(contents, sets, graph.is_mixed, graph.has_state, MOVES, 1)
            answers += self._reference.moved(write(moved)[0], sets, graph.is_mixed, graph.has_state, 1, turn)
        return answers

    def _varies(self, graph, contents, sets, answers):
        """Whether the reference answers something else in a process whose fresh memory has other contents."""
        if self._other is None:
            self._other = GraphReference(filling=0xC6)
        try:
            others = self._other.run(contents, sets, graph.is_mixed, graph.has_state)
        except Rejected:
            return True
        return any(
            isinstance(other, str) or any(a.tobytes() != b.tobytes() for a, b in zip(answer, other))
            for answer, other in zip(answers, others))

    def close(self):
        if self._other:
            self._other.close()

    def _has_specials(self, graph, contents, values):
        """Whether some tensor has infinities or NaN, of which integers are made as it happens."""
        try:
            held = self._reference.tensors(contents, values, graph.is_mixed)
        except Rejected:
            return False
        return any(array is not None and array.dtype.kind in "fc" and not np.isfinite(array).all() for array in held)

    def _each_operator_agrees(self, graph, contents, tensors, values, kernels):
        """Whether the reference makes the same of what Apus gives to each operator: then only errors before it differ.

        An operator may differ by as much as its answer moves when its floats move by a millionth. One with a state must
        make the same of the state that it begins with.
        """
        try:
            held = self._engine.tensors(contents, [values], kernels)
            whole = self._reference.tensors(contents, values, graph.is_mixed) if graph.has_state else []
        except (Died, Refused, Rejected):
            return False
        main = tensors[0]
        places = {id(tensor): index for index, tensor in enumerate(main)}
        for operator in graph.main.operators:
            if has_state(operator):
                at = [places[id(t)] for t in operator.outputs if places[id(t)] in held]
                if any(place >= len(whole) or whole[place] is None for place in at) or first_difference(
                        [whole[place] for place in at], [held[place] for place in at]):
                    return False
                continue
            single = Graph()
            # Optimized kernels run graphs with operators that have no reference kernel. Others may round otherwise there.
            single.is_mixed = graph.is_mixed and (operator.name in MIXED or bool(operator.subgraphs))
            single.main = Subgraph()
            names = []
            for tensor in operator.inputs:
                if tensor is not None and not tensor.is_constant:
                    if places[id(tensor)] not in held:
                        # Constants that operators have made, which kernels have packed, are not there: nor is an error.
                        names = None
                        break
                    array = held[places[id(tensor)]]
                    copy = Tensor(tensor.type, array.shape, tensor.quantization)
                    copy.blob, copy.sets = tensor.blob, [array]
                    known = next((t for t, o in names if o is tensor), None)
                    if known is None:
                        single.main.inputs.append(copy)
                        names.append((copy, tensor))
                    else:
                        names.append((known, tensor))
                else:
                    names.append((tensor, tensor))
            if names is None:
                continue
            outputs = [t for t in operator.outputs if places[id(t)] in held]
            if not outputs:
                continue
            single.main.operators = [Operator(
                operator.name, [copy for copy, _ in names], operator.outputs, operator.options, operator.version,
                operator.custom, operator.intermediates, operator.subgraphs)]
            single.main.outputs = outputs
            found = [held[places[id(t)]] for t in outputs]
            try:
                model = write(single)[0]
                wanted = self._reference.run(model, single.sets(), single.is_mixed)[0]
                if first_difference(wanted, found) is None:
                    continue
                moved = self._reference.moved(model, single.sets()[:1], single.is_mixed, False, MOVES, 1)
            except Rejected:
                return False
            if any(_differs_more(wanted, found, moved, place) for place in range(len(wanted))):
                return False
        return True


def has_state(operator):
    """Whether what an operator makes depends on more than its inputs, or it calls what may."""
    return operator.state or bool(operator.subgraphs) or any(
        t is not None and (t.is_variable or t.type == "resource") for t in operator.inputs)


# Operators of floats whose results change little with their operands, and of infinities and NaN are what they are.
STRICT = frozenset((
    "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LOGISTIC", "TANH", "HARD_SWISH", "GELU", "LEAKY_RELU", "ABS", "NEG", "SQUARE", "EXP",
    "ELU", "ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS",
    "CONCATENATION", "DEQUANTIZE",
))


def is_strict(graph):
    """Whether even special floats have one answer."""
    return graph.is_special and all(
        operator.name in STRICT for subgraph in graph.subgraphs() for operator in subgraph.operators)


def differs_in_kind(wanted, found):
    """Whether a float is finite where another should be infinite or NaN, or the other way round."""
    if wanted.shape != found.shape or wanted.dtype.kind != "f":
        return False
    same = np.isfinite(wanted) & np.isfinite(found) | np.isnan(wanted) & np.isnan(found) | (wanted == found)
    return not same.all()


def absorbs_padding(graph):
    """Whether a convolution of floats may pad by itself: a PAD that it alone reads.

    With `preservesAllTensors` it does not, and sums then have other terms, zeros among them, in another order.
    """
    for subgraph in graph.subgraphs():
        for operator in subgraph.operators:
            if operator.name not in ("PAD", "PADV2") or operator.outputs[0].type != "float32":
                continue
            readers = [o for o in subgraph.operators if any(t is operator.outputs[0] for t in o.inputs)]
            if len(readers) == 1 and readers[0].name in ("CONV_2D", "DEPTHWISE_CONV_2D"):
                return True
    return False


def is_last_bit(disagreement):
    """Whether floats alone differ with `preservesAllTensors`, and by little."""
    found = re.search(r"by up to ([-+.e0-9]+) of the largest$", disagreement)
    return disagreement.startswith("preservesAllTensors") and found is not None and float(found[1]) <= TOLERANCE


def first_difference(expected, actual):
    """The place and the description of the first output that differs; None if all agree."""
    if len(expected) != len(actual):
        return -1, f"{len(actual)} outputs instead of {len(expected)}"
    for index, (want, have) in enumerate(zip(expected, actual)):
        if want.dtype == have.dtype and want.shape == have.shape and want.tobytes() == have.tobytes():
            continue
        problem = difference(want, have)
        if problem:
            return index, problem
    return None


def _differs_more(wanted, found, answers, place):
    """Whether an output differs by more than the tolerance and by more than twice what it moves by itself."""
    want, have = wanted[place], found[place]
    if difference(want, have) is None:
        return False
    shapes = {tuple(answer[place].shape) for answer in answers}
    if want.shape != have.shape:
        return len(shapes | {want.shape}) == 1
    if want.dtype.kind in "fc":
        largest = max((relative_error(want, answer[place]) for answer in answers if answer[place].shape == want.shape), default=0)
        return relative_error(want, have) > max(TOLERANCE, 2 * largest)
    wide = want.astype(np.float64)
    largest = max((float(np.abs(wide - answer[place]).max(initial=0)) for answer in answers if answer[place].shape == want.shape), default=0)
    return float(np.abs(wide - have).max(initial=0)) > 2 * largest


def _without_numbers(text):
    return "".join("#" if c.isdigit() else c for c in text).replace("##", "#").replace("##", "#")[:120]
