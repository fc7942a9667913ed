# SPDX-License-Identifier: Apache-2.0
"""Plays random calls of the C API with wrong pointers, indices, sizes and models: hostile.py LIBRARY MODEL [CALLS] [SEED] [THREADS]

Handles are live, deleted, of another kind, NULL or random numbers. Memory of the caller's is always as large as it says, as C cannot
check that. Several threads share their handles, and each other's deletions. The process must end by itself.
"""

import contextlib
import ctypes
import os
import random
import sys
import threading

P, I, L, S, B = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t, ctypes.c_bool
REPORTER = ctypes.CFUNCTYPE(None, P, ctypes.c_char_p, P)
COUNT = [0]
# Memory that interpreters may have been given: it lives until the last thread has ended, as other threads run them, too.
KEPT = []


@REPORTER
def report(user, text, arguments):
    COUNT[0] += 1


# Kinds of arguments: a handle by its kind, or h for any of them; i an index, n a name, d dimensions with their count, b a buffer with its
# size, m bytes of a model with their count, r a reporter with its pointer, 1 a flag, v four bytes for a result, a an allocation.
FUNCTIONS = {
    "TfLiteVersion": (P, ""), "TfLiteExtensionApisVersion": (P, ""), "TfLiteSchemaVersion": (I, ""),
    "TfLiteModelCreate": ("model", "m"), "TfLiteModelCreateFromFile": ("model", "f"),
    "TfLiteModelCreateWithErrorReporter": ("model", "mr"), "TfLiteModelDelete": (None, "M"),
    "TfLiteModelCreateFromFileWithErrorReporter": ("model", "fr"),
    "TfLiteInterpreterOptionsCreate": ("options", ""), "TfLiteInterpreterOptionsCopy": ("options", "O"),
    "TfLiteInterpreterOptionsDelete": (None, "O"), "TfLiteInterpreterOptionsSetNumThreads": (None, "Oi"),
    "TfLiteInterpreterOptionsSetErrorReporter": (None, "Or"), "TfLiteInterpreterOptionsEnableCancellation": (I, "O1"),
    "TfLiteInterpreterOptionsAddDelegate": (None, "0h"), "TfLiteInterpreterOptionsAddOpaqueDelegate": (None, "0h"),
    "TfLiteInterpreterOptionsAddOperator": (None, "OR"), "TfLiteInterpreterOptionsSetUseNNAPI": (None, "O1"),
    "TfLiteInterpreterOptionsSetEnableDelegateFallback": (None, "O1"),
    "ApusInterpreterOptionsSetPreserveAllTensors": (None, "O1"),
    "ApusInterpreterGetSubgraphCount": (I, "I"), "ApusInterpreterGetSubgraphTensor": ("tensor", "Iii"),
    "ApusInterpreterGetOperatorCount": (I, "I"), "ApusPythonInterpreterGetUser": (I, "I"), "ApusInterpreterGetOperator": (P, "Iivv"),
    "TfLiteInterpreterCreate": ("interpreter", "MO"), "TfLiteInterpreterCreateWithSelectedOps": ("interpreter", "MO"),
    "TfLiteInterpreterDelete": (None, "I"), "TfLiteInterpreterGetInputTensorCount": (I, "I"),
    "TfLiteInterpreterGetOutputTensorCount": (I, "I"), "TfLiteInterpreterInputTensorIndices": (P, "I"),
    "TfLiteInterpreterOutputTensorIndices": (P, "I"), "TfLiteInterpreterGetInputTensorIndex": (I, "Ii"),
    "TfLiteInterpreterGetOutputTensorIndex": (I, "Ii"), "TfLiteInterpreterGetInputTensor": ("tensor", "Ii"),
    "TfLiteInterpreterGetOutputTensor": ("tensor", "Ii"), "TfLiteInterpreterGetTensor": ("tensor", "Ii"),
    "TfLiteInterpreterResizeInputTensor": (I, "Iid"), "TfLiteInterpreterResizeInputTensorStrict": (I, "Iid"),
    "TfLiteInterpreterAllocateTensors": (I, "I"), "TfLiteInterpreterInvoke": (I, "I"), "TfLiteInterpreterCancel": (I, "I"),
    "TfLiteInterpreterResetVariableTensors": (I, "I"), "TfLiteInterpreterGetVariableTensorCount": (I, "I"),
    "TfLiteInterpreterGetVariableTensor": ("tensor", "Ii"), "TfLiteInterpreterEnsureTensorDataIsReadable": (I, "Ii"),
    "TfLiteInterpreterSetCustomAllocationForTensor": (I, "Iial"), "TfLiteInterpreterModifyGraphWithDelegate": (I, "Ih"),
    "TfLiteInterpreterSetBufferHandle": (I, "ITih"), "TfLiteInterpreterGetBufferHandle": (I, "Iivv"),
    "TfLiteSetAllowBufferHandleOutput": (None, "I1"), "TfLiteInterpreterGetSignatureCount": (I, "I"),
    "TfLiteInterpreterGetSignatureKey": (P, "Ii"), "TfLiteInterpreterGetSignatureRunner": ("runner", "In"),
    "TfLiteSignatureRunnerDelete": (None, "S"), "TfLiteSignatureRunnerGetInputCount": (S, "S"),
    "TfLiteSignatureRunnerGetInputName": (P, "Si"), "TfLiteSignatureRunnerGetOutputCount": (S, "S"),
    "TfLiteSignatureRunnerGetOutputName": (P, "Si"), "TfLiteSignatureRunnerResizeInputTensor": (I, "Snd"),
    "ApusSignatureRunnerResizeInputTensor": (I, "Snd"), "ApusTensorGetIndex": (I, "T"),
    "TfLiteSignatureRunnerAllocateTensors": (I, "S"), "TfLiteSignatureRunnerGetInputTensor": ("tensor", "Sn"),
    "TfLiteSignatureRunnerGetOutputTensor": ("tensor", "Sn"), "TfLiteSignatureRunnerInvoke": (I, "S"),
    "TfLiteSignatureRunnerCancel": (I, "S"), "TfLiteTensorType": (I, "T"), "TfLiteTensorNumDims": (I, "T"),
    "TfLiteTensorDim": (I, "Ti"), "TfLiteTensorByteSize": (S, "T"), "TfLiteTensorData": (P, "T"), "TfLiteTensorName": (P, "T"),
    "TfLiteTensorQuantizationParams": (L, "T"), "TfLiteTensorCopyFromBuffer": (I, "Tb"), "TfLiteTensorCopyToBuffer": (I, "Tb"),
    "TfLiteOpaqueTensorGetDimSignature": (I, "Tiv"), "TfLiteOpaqueTensorGetNumDimsSignature": (I, "Tv"),
    "TfLiteOpaqueTensorGetAllocationType": (I, "T"), "TfLiteOpaqueTensorGetStringCount": (I, "T"),
    "TfLiteOpaqueTensorIsVariable": (I, "T"), "TfLiteOpaqueTensorGetDataStability": (I, "T"),
    "TfLiteOperatorCreate": ("operator", "inih"), "TfLiteOperatorDelete": (None, "R"), "TfLiteOperatorGetVersion": (I, "R"),
    "TfLiteOperatorGetBuiltInCode": (I, "R"), "TfLiteOperatorGetUserData": (P, "R"),
    "TfLiteOpaqueNodeGetInput": (P, "hhi"), "TfLiteOpaqueNodeNumberOfInputs": (I, "h"), "TfLiteOpaqueNodeGetUserData": (P, "h"),
    "TfLiteOpaqueNodeInputs": (I, "hvv"), "TfLiteOpaqueNodeSetTemporaries": (I, "hd"),
    "TfLiteOpaqueContextGetOpaqueTensor": (P, "hi"), "TfLiteOpaqueContextGetNumTensors": (S, "h"),
    "TfLiteOpaqueContextAddTensor": (I, "hhv"), "TfLiteOpaqueContextGetExecutionPlan": (I, "hv"),
    "TfLiteOpaqueTensorBuilderCreate": ("builder", ""), "TfLiteOpaqueTensorBuilderDelete": (None, "B"),
    "TfLiteOpaqueTensorBuilderSetType": (P, "Bi"), "TfLiteOpaqueDelegateCreate": ("delegate", "v"),
    "TfLiteOpaqueDelegateDelete": (None, "D"), "TfLiteOpaqueDelegateGetData": (P, "D"), "TfLiteTypeGetName": (P, "i"),
}
KINDS = {"M": "model", "O": "options", "I": "interpreter", "T": "tensor", "S": "runner", "R": "operator", "B": "builder", "D": "delegate"}


def play(library, path, calls, seed, live, dead, statuses):
    # Types of arguments are set for each call, so each thread has functions of its own.
    library = ctypes.CDLL(library._name)
    pick = random.Random(seed)
    content = open(path, "rb").read()
    names = [b"", b"x", b"input", b"add", b"serving_default", b"\xff\xfe", b"a" * 300]
    buffers = [ctypes.create_string_buffer(1 << 16) for _ in range(4)]
    allocations = [(P * 2)(ctypes.addressof(buffer), 1 << 16) for buffer in buffers]
    KEPT.append(buffers)
    kept = []
    weights = [(40 if name in ("TfLiteInterpreterCreate", "TfLiteModelCreateFromFile") else 1 if "Delete" in name else 8) for name in FUNCTIONS]

    def handle(kind):
        chance = pick.random()
        known = list(live.get(kind, ()))
        if chance < 0.8 and known:
            return pick.choice(known)
        if chance < 0.9:
            return pick.choice(dead[-200:] + dead[:5])
        return pick.choice(list(live[pick.choice(list(live))]) or [0])

    for call in range(calls):
        name = pick.choices(list(FUNCTIONS), weights)[0]
        result, kinds = FUNCTIONS[name]
        values, types = [], []
        for kind in kinds:
            if kind in KINDS:
                values, types = values + [handle(KINDS[kind])], types + [P]
            elif kind == "0":  # a fresh handle of options, so that few interpreters are refused for their delegate
                values, types = values + [pick.choice(dead)], types + [P]
            elif kind == "h":
                values, types = values + [handle(pick.choice(list(live)))], types + [P]
            elif kind == "i":
                values, types = values + [pick.choice([0, 0, 0, 1, 2, 3, -1, 64, 10**6, 2**31 - 1, -(2**31)])], types + [I]
            elif kind == "l":
                values, types = values + [pick.choice([0, 1])], types + [L]
            elif kind == "1":
                values, types = values + [pick.random() < 0.5], types + [B]
            elif kind == "n":
                values, types = values + [pick.choice(names + [None])], types + [ctypes.c_char_p]
            elif kind == "f":
                values, types = values + [pick.choice([path.encode(), path.encode(), b"/", b"no such file", None])], types + [ctypes.c_char_p]
            elif kind == "d":
                rank = pick.choice([0, 1, 2, 4, 4, 9])
                array = (I * max(rank, 1))(*[pick.choice([0, 1, 1, 2, 3, 8, 31, -1, 2**31 - 1]) for _ in range(rank)])
                kept.append(array)
                values, types = values + [pick.choice([array, array, array, None]), pick.choice([rank, rank, rank, -1])], types + [P, I]
            elif kind == "b":
                values = values + [pick.choice(buffers + [None]), pick.choice([0, 1, 4, 16, 768, 65536])]
                types = types + [P, S]
            elif kind == "m":
                bytes_ = bytearray(content[: pick.choice([0, 7, 8, 40, len(content), len(content)])])
                for _ in range(pick.choice([0, 1, 3])):
                    if bytes_:
                        bytes_[pick.randrange(len(bytes_))] = pick.randrange(256)
                values, types = values + [bytes(bytes_), len(bytes_)], types + [ctypes.c_char_p, S]
            elif kind == "r":
                values, types = values + [pick.choice([report, report, REPORTER()]), None], types + [REPORTER, P]
            elif kind == "v":
                values, types = values + [pick.choice(buffers + [None])], types + [P]
            elif kind == "a":
                values, types = values + [pick.choice(allocations + [None])], types + [P]
        function = getattr(library, name)
        function.restype = P if isinstance(result, str) else result
        function.argtypes = types
        returned = function(*values)
        statuses[name] = statuses.get(name, 0) + 1
        if isinstance(result, str) and returned:
            if returned not in live[result]:
                live[result].append(returned)
            if len(live[result]) > 24:
                victim = live[result].pop(0)
                if result != "tensor":
                    delete = {"model": "TfLiteModelDelete", "options": "TfLiteInterpreterOptionsDelete",
                              "interpreter": "TfLiteInterpreterDelete", "runner": "TfLiteSignatureRunnerDelete",
                              "operator": "TfLiteOperatorDelete", "builder": "TfLiteOpaqueTensorBuilderDelete",
                              "delegate": "TfLiteOpaqueDelegateDelete"}[result]
                    function = getattr(library, delete)
                    function.restype, function.argtypes = None, [P]
                    function(victim)
                dead.append(victim)
        if "Delete" in name and values[0] in live.get(KINDS[kinds[0]], []):
            with contextlib.suppress(ValueError):
                live[KINDS[kinds[0]]].remove(values[0])
            dead.append(values[0])
        if len(kept) > 1000:
            del kept[:500]


def main(path, model, calls=100000, seed=1, threads=1):
    library = ctypes.CDLL(path)
    live = {kind: [] for kind in KINDS.values()}
    dead = [0, 1, 16, 0xDEADBEEF, 2**63]
    statuses = {}
    count = int(threads)
    players = [
        threading.Thread(target=play, args=(library, model, int(calls) // count, int(seed) * count + i, live, dead, statuses))
        for i in range(count)
    ]
    for player in players:
        player.start()
    for player in players:
        player.join()
    print("%d calls of %d functions, %d messages, no signal" % (sum(statuses.values()), len(statuses), COUNT[0]))


if __name__ == "__main__":
    # Messages of calls without a reporter would fill the screen.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    main(*sys.argv[1:])
