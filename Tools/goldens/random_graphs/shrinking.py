# SPDX-License-Identifier: Apache-2.0
"""Makes a graph that fails as small as it can be, as long as it fails in the same way."""

from random_graphs.model import QUANTIZED, Graph, Operator, Subgraph, Tensor
from random_graphs.writer import write
from reference import Rejected


class Shrinker:
    """`fails` says of a graph whether it fails in the way that counts."""

    def __init__(self, reference, fails, attempts=600):
        self._reference = reference
        self._fails = fails
        self._left = attempts

    def shrink(self, graph):
        before = None
        while self._left > 0 and before != size(graph):
            before = size(graph)
            steps = (self._fewer_outputs, self._shorter_front, self._bypassed, self._without_resizing)
            if graph.is_program:
                steps = (self._fewer_runs, self._fewer_outputs, self._bypassed)
            for step in steps:
                graph = step(graph)
        return graph

    def _fewer_runs(self, graph):
        """Less of the order in which a program's sets run."""
        for position in reversed(range(len(graph.order))):
            if len(graph.order) > 1 and position < len(graph.order):
                smaller = copied(graph)
                del smaller.order[position]
                graph = self._tried(smaller) or graph
        return graph

    def _tried(self, graph):
        """The graph without what nobody needs, if it still fails."""
        if self._left <= 0:
            return None
        self._left -= 1
        pruned(graph)
        if not graph.main.outputs or not graph.main.operators:
            return None
        return graph if self._fails(graph) else None

    def _fewer_outputs(self, graph):
        if len(graph.main.outputs) > 1:
            for tensor in graph.main.outputs:
                smaller = copied(graph)
                smaller.main.outputs = [tensor]
                found = self._tried(smaller)
                if found:
                    return found
            for index in reversed(range(len(graph.main.outputs))):
                smaller = copied(graph)
                if len(smaller.main.outputs) > 1 and index < len(smaller.main.outputs):
                    del smaller.main.outputs[index]
                    graph = self._tried(smaller) or graph
        # An output in the middle instead of one at the end.
        produced = [t for o in graph.main.operators for t in o.outputs]
        for tensor in produced[:-1]:
            if any(tensor is known for known in graph.main.outputs) or tensor.type == "resource":
                continue
            smaller = copied(graph)
            smaller.main.outputs = [tensor]
            found = self._tried(smaller)
            if found and size(found) < size(graph):
                return found
        return graph

    def _values(self, graph):
        """What tensors hold with each set of data, by the reference."""
        contents, tensors = write(graph)
        held = []
        try:
            for values in graph.sets()[:2]:
                held.append(self._reference.tensors(contents, values, graph.is_mixed))
        except Rejected:
            return {}
        return {id(t): [each[i] for each in held] for i, t in enumerate(tensors[0]) if all(i < len(e) and e[i] is not None for e in held)}

    def _shorter_front(self, graph):
        """Tensors become inputs: operators before them go. The largest steps first."""
        if graph.has_state:
            return graph
        operators = graph.main.operators
        count = len(operators)
        chunk = max(count // 2, 1)
        while chunk >= 1:
            start = 0
            while start < len(graph.main.operators):
                values = self._values(graph)
                smaller = copied(graph)
                gone = smaller.main.operators[start:start + chunk]
                kept = smaller.main.operators[:start] + smaller.main.operators[start + chunk:]
                outputs = [t for o in gone for t in o.outputs]
                needed = [t for t in outputs if any(t is x for o in kept for x in o.inputs)]
                if any(id(t) not in values or t.loose for t in needed) or not kept:
                    start += chunk
                    continue
                smaller.main.operators = kept
                replacements = {}
                for t in needed:
                    made = Tensor(t.type, values[id(t)][0].shape, t.quantization)
                    made.blob, made.sets, made.value = t.blob, values[id(t)], t.value
                    replacements[id(t)] = made
                    smaller.main.inputs.append(made)
                for o in kept:
                    o.inputs = [replacements.get(id(t), t) if t is not None else None for t in o.inputs]
                smaller.main.outputs = [
                    replacements.get(id(t), t) for t in smaller.main.outputs
                    if id(t) in replacements or not any(t is x for x in outputs)]
                smaller.resized = False
                for t in smaller.main.inputs:
                    t.sets = t.sets[:2]
                found = self._tried(smaller)
                if found:
                    graph = found
                else:
                    start += chunk
            chunk //= 2
        return graph

    def _bypassed(self, graph):
        """Operators are left out whose output could be one of their inputs; in all subgraphs."""
        for number in range(len(graph.subgraphs())):
            index = 0
            while number < len(graph.subgraphs()) and index < len(graph.subgraphs()[number].operators):
                found = None
                operator = graph.subgraphs()[number].operators[index]
                for output in operator.outputs[:1] if len(operator.outputs) == 1 else []:
                    for x in operator.inputs:
                        if x is None or not alike(x, output):
                            continue
                        smaller = copied(graph)
                        subgraph = smaller.subgraphs()[number]
                        del subgraph.operators[index]
                        for each in subgraph.operators:
                            each.inputs = [x if t is output else t for t in each.inputs]
                        subgraph.outputs = [x if t is output else t for t in subgraph.outputs]
                        found = self._tried(smaller)
                        if found:
                            break
                    if found:
                        break
                if found:
                    graph = found
                else:
                    index += 1
        return graph

    def _without_resizing(self, graph):
        if not graph.resized:
            return graph
        smaller = copied(graph)
        smaller.resized = False
        kept = [t.sets for t in graph.main.inputs]
        for t in smaller.main.inputs:
            t.sets = t.sets[:2]
        found = self._tried(smaller)
        if found:
            return found
        for t, sets in zip(graph.main.inputs, kept):
            t.sets = sets
        return graph


def alike(a, b):
    return a.type == b.type and a.shape == b.shape and (a.type not in QUANTIZED or a.quantization == b.quantization) and (
        not a.is_variable and not a.is_constant)


def size(graph):
    return graph.operator_count(), len(graph.main.outputs), len(graph.main.inputs), graph.resized, len(graph.order)


def copied(graph):
    """The same graph, whose lists can be changed; tensors are shared."""
    made = {}

    def copy_of(subgraph):
        if id(subgraph) not in made:
            new = made[id(subgraph)] = Subgraph()
            new.inputs, new.outputs = list(subgraph.inputs), list(subgraph.outputs)
            for o in subgraph.operators:
                new.operators.append(Operator(
                    o.name, o.inputs, list(o.outputs), o.options, o.version, o.custom, o.intermediates,
                    [copy_of(child) for child in o.subgraphs], o.state))
        return made[id(subgraph)]

    new = Graph(graph.kind)
    new.main = copy_of(graph.main)
    new.signatures = [(key, copy_of(subgraph)) for key, subgraph in graph.signatures]
    new.order = list(graph.order)
    for flag in ("has_state", "has_random", "is_mixed", "is_special", "resized", "is_program"):
        setattr(new, flag, getattr(graph, flag))
    return new


def pruned(graph):
    """Takes out operators whose outputs nobody reads, and inputs of the main subgraph that nobody needs."""
    for number, subgraph in enumerate(graph.subgraphs()):
        while True:
            read = {id(t) for o in subgraph.operators for t in o.inputs} | {id(t) for t in subgraph.outputs}
            kept = [o for o in subgraph.operators if not o.outputs or any(id(t) in read for t in o.outputs)]
            if len(kept) == len(subgraph.operators):
                break
            subgraph.operators = kept
        if number == 0:
            read = {id(t) for o in subgraph.operators for t in o.inputs} | {id(t) for t in subgraph.outputs}
            subgraph.inputs = [t for t in subgraph.inputs if id(t) in read]



