# SPDX-License-Identifier: Apache-2.0
"""LiteRT's reference kernels on whole graphs, in a process that lives long and may crash."""

import multiprocessing
import os

import numpy as np

from reference import Rejected


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
            if not self._pipe.poll(self._timeout):
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


def _answer(kind, model, sets, is_mixed, more):
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


def _prepared(model, is_mixed):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if is_mixed else OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver, num_threads=1,
                              experimental_preserve_all_tensors=True)
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
