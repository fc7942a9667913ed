# SPDX-License-Identifier: Apache-2.0
"""LiteRT's reference kernels on whole graphs, in a process that lives long and may crash."""

import multiprocessing
import os

import numpy as np

from reference import Rejected

# Programs are small: what takes longer is a loop that grows.
PROGRAM_TIMEOUT = 12


class GraphReference:
    """Runs graphs with `BUILTIN_REF`, one thread and a place of its own for each tensor.

    Without that, LiteRT writes an elementwise operator's output over the memory of a RESHAPE whose input is read later.
    Fresh memory of the process is filled with a pattern made of `filling`.
    """

    def __init__(self, timeout=60, filling=0x55):
        self._timeout = timeout
        self._filling = filling
        self._process = None

    def run(self, model, sets, is_mixed=False, has_state=False):
        """For each set of data the outputs, or why there are none; a third run with the first set where there is state."""
        return self._ask(("run", model, sets, is_mixed, has_state))

    def tensors(self, model, values, is_mixed=False):
        """What every tensor of the main subgraph holds after a run; None where it cannot be read."""
        return self._ask(("tensors", model, [values], is_mixed, False))

    def moved(self, model, sets, is_mixed, has_state, times, seed):
        """So many times the outputs of the last set, after runs with those before, where floats of the inputs are
        moved by a millionth of the largest."""
        return self._ask(("moved", model, sets, is_mixed, (times, seed, has_state)))

    def sequence(self, model, runs, is_mixed=False, has_state=False):
        """The outputs of each run (a signature's key or None, and arrays), or why there are none.

        Each has an interpreter of its own, unless there is state: then one has all, up to the first that fails.
        """
        return self._ask(("sequence", model, runs, is_mixed, has_state))

    def close(self):
        if self._process:
            self._process.kill()
            self._process.join()
            self._process = None

    def _ask(self, request):
        if self._process is None:
            self._start()
        try:
            self._pipe.send(request)
            if not self._pipe.poll(PROGRAM_TIMEOUT if request[0] == "sequence" else self._timeout):
                self.close()
                raise Rejected("no answer in time")
            answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            status = self._process.exitcode
            self._process = None
            raise Rejected(f"crashed with status {status}") from None
        if isinstance(answer, str):
            raise Rejected(answer)
        return answer

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(end,), daemon=True)
        os.environ["MALLOC_PERTURB_"] = str(self._filling)
        self._process.start()
        del os.environ["MALLOC_PERTURB_"]
        end.close()


def _serve(pipe):
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    while True:
        try:
            request = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = _answer(*request)
        except KeyboardInterrupt:
            return
        except Exception as error:  # LiteRT raises ValueError, RuntimeError and others
            lines = [line for line in str(error).strip().splitlines() if line]
            answer = (lines[-1] if lines else "") or type(error).__name__
        pipe.send(answer)


def _sequence(model, runs, is_mixed, has_state):
    answers, interpreter = [], None
    for key, values in runs:
        try:
            if interpreter is None or not has_state:
                interpreter = _made(model, is_mixed)
            answers.append(_run_entry(interpreter, key, values))
        except (ValueError, RuntimeError) as error:
            lines = [line for line in str(error).strip().splitlines() if line]
            answers.append((lines[-1] if lines else "") or type(error).__name__)
            if has_state:
                break
    return answers


def _run_entry(interpreter, key, values):
    if key is not None:
        return _run_signature(interpreter.get_signature_runner(key), values)
    details = interpreter.get_input_details()
    for detail, array in zip(details, values):
        if tuple(detail["shape"]) != array.shape:
            interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    return _run(interpreter, [(detail["index"], None) for detail in details], values)


def _run_signature(runner, values):
    """As the runner does, which can neither pass nor fetch a tensor without elements."""
    inner, subgraph = runner._interpreter_wrapper, runner._subgraph_index
    names = [f"i{place:02}" for place in range(len(values))]
    inputs = [(runner._inputs[name], array) for name, array in zip(names, values)]
    details = runner.get_input_details()
    for name, (index, array) in zip(names, inputs):
        # A resize to the same shape prepares all operators again if the tensor has no elements: random numbers begin anew.
        if tuple(details[name]["shape"]) != array.shape:
            inner.ResizeInputTensor(index, np.array(array.shape, np.int32), False, subgraph)
    inner.AllocateTensors(subgraph)
    for index, array in inputs:
        if array.size:
            inner.SetTensor(index, array, subgraph)
    inner.Invoke(subgraph)
    details = runner.get_output_details()
    return [
        np.zeros(details[name]["shape"], details[name]["dtype"]) if 0 in details[name]["shape"]
        else np.array(inner.GetTensor(index, subgraph)) for name, index in sorted(runner._outputs)]


def _answer(kind, model, sets, is_mixed, more):
    if kind == "sequence":
        return _sequence(model, sets, is_mixed, more)
    interpreter, inputs = _prepared(model, is_mixed)
    if kind == "tensors":
        _run(interpreter, inputs, sets[0])
        return [_value(interpreter, detail) for detail in interpreter.get_tensor_details()]
    if kind == "moved":
        times, seed, has_state = more
        numbers = np.random.default_rng(seed)
        answers = []
        for _ in range(times):
            if has_state:
                interpreter, inputs = _prepared(model, is_mixed)
            for values in sets:
                moved = [_moved(array, numbers) for array in values]
                if _resized(interpreter, inputs, moved):
                    inputs = [(index, array.shape) for (index, _), array in zip(inputs, moved)]
                answer = _run(interpreter, inputs, moved)
            answers.append(answer)
        return answers
    answers = []
    for number in [*range(len(sets))][:2] + ([0] if more else []):
        answers.append(_run(interpreter, inputs, sets[number]))
    if len(sets) > 2:
        try:
            _resized(interpreter, inputs, sets[2])
            answers.append(_run(interpreter, inputs, sets[2]))
        except (ValueError, RuntimeError) as error:
            answers.append(str(error).strip().splitlines()[-1])
    return answers


def _made(model, is_mixed):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if is_mixed else OpResolverType.BUILTIN_REF
    return Interpreter(model_content=model, experimental_op_resolver_type=resolver, num_threads=1,
                       experimental_preserve_all_tensors=True)


def _prepared(model, is_mixed):
    interpreter = _made(model, is_mixed)
    interpreter.allocate_tensors()
    return interpreter, [(detail["index"], tuple(detail["shape"])) for detail in interpreter.get_input_details()]


def _moved(values, numbers):
    if values.dtype.name != "float32" or not values.size:
        return values
    step = np.abs(values[np.isfinite(values)]).max(initial=0) * np.float32(1e-6)
    return (values + numbers.uniform(-step, step, values.shape)).astype(np.float32)


def _resized(interpreter, inputs, values):
    changed = False
    for (index, shape), array in zip(inputs, values):
        if shape != array.shape:
            interpreter.resize_tensor_input(index, array.shape)
            changed = True
    if changed:
        interpreter.allocate_tensors()
    return changed


def _run(interpreter, inputs, values):
    for (index, _), array in zip(inputs, values):
        if array.size:
            interpreter.set_tensor(index, array)
    interpreter.invoke()
    return [_read(interpreter, detail) for detail in interpreter.get_output_details()]


def _read(interpreter, detail):
    if 0 in detail["shape"]:
        return np.zeros(detail["shape"], detail["dtype"])
    return np.array(interpreter.get_tensor(detail["index"]))


def _value(interpreter, detail):
    try:
        return _read(interpreter, detail)
    except (ValueError, RuntimeError):
        return None
