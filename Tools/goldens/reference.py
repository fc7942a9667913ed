# SPDX-License-Identifier: Apache-2.0
"""LiteRT's reference kernels, in a process that is allowed to crash."""

import multiprocessing
import os
import threading

import numpy as np


class Rejected(Exception):
    """The reference refused the model, crashed on it, or has no definite answer."""


_starting = threading.Lock()


class Reference:
    """Runs models with `BUILTIN_REF` on one thread; a crash costs the model, not the caller.

    Fresh memory of its process is filled with a pattern derived from `filling` (1 to 255).
    """

    def __init__(self, timeout=120, filling=0x55):
        self._timeout = timeout
        self._filling = filling
        self._process = None
        self._pipe = None

    def run(self, model, inputs, optimized=False):
        """The outputs of a model, given its bytes or path, on `inputs`; `optimized` asks LiteRT's other kernels."""
        return self._ask((model, inputs, optimized))

    def describe_inputs(self, model):
        """Shape (with -1 where unknown), dtype name and name of each input."""
        return self._ask((model, None, False))

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
        with _starting:
            os.environ["MALLOC_PERTURB_"] = str(self._filling)
            self._process.start()
        end.close()


class ReferencePair:
    """Two references that differ in what their fresh memory holds."""

    def __init__(self):
        self.first = Reference()
        self.second = Reference(filling=0xC6)

    def close(self):
        self.first.close()
        self.second.close()


def _serve(pipe):
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    while True:
        try:
            model, inputs, optimized = pipe.recv()
        except EOFError:
            return
        try:
            answer = _run(model, inputs, optimized)
        except Exception as error:  # LiteRT raises ValueError, RuntimeError and others
            answer = f"{error}" or type(error).__name__
        pipe.send(answer)


def _run(model, inputs, optimized):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    source = {"model_content": model} if isinstance(model, bytes) else {"model_path": str(model)}

    def make(resolver):
        return Interpreter(**source, experimental_op_resolver_type=resolver, num_threads=1)

    try:
        interpreter = make(
            OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if optimized else OpResolverType.BUILTIN_REF
        )
    except ValueError as error:
        # The reference set lacks CEIL, ROUND, ELU and others, of which there is one implementation.
        if "Didn't find op" not in str(error):
            raise
        interpreter = make(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    details = interpreter.get_input_details()
    if inputs is None:
        return [(_signature(d), np.dtype(d["dtype"]).name, d["name"]) for d in details]
    for detail, values in zip(details, inputs):
        if tuple(detail["shape"]) != values.shape:
            interpreter.resize_tensor_input(detail["index"], values.shape)
    interpreter.allocate_tensors()
    for detail, values in zip(interpreter.get_input_details(), inputs):
        if values.size:
            interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    return [_read(interpreter, detail) for detail in interpreter.get_output_details()]


def _signature(detail):
    known, declared = detail["shape"], detail["shape_signature"]
    return tuple(map(int, declared if len(declared) == len(known) else known))


def _read(interpreter, detail):
    # A tensor without elements has no memory to read.
    if 0 in detail["shape"]:
        return np.zeros(detail["shape"], detail["dtype"])
    return np.array(interpreter.get_tensor(detail["index"]))
