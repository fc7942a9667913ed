# SPDX-License-Identifier: Apache-2.0
"""Plays the broken models of Tests/Corpus through the C API: corpus.py LIBRARY [MODEL…]

Each is opened, prepared, run and read. Where the Swift API has an error that no limit of its own causes, a function must return its error value
and tell the reporter the same text, or TensorFlow Lite's own of files that are none; models that run must run. Further models may do either.
A run that takes longer than three seconds is cancelled, and must then end within ten more.
"""

import ctypes
import sys
import threading
import time
import zipfile
from pathlib import Path

P, I, S = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t
CORPUS = Path(__file__).resolve().parents[3] / "Tests/Corpus"
BOOL = 6
MESSAGES = []
SECONDS = 3
NO_MODEL = "The model is not a valid Flatbuffer buffer"


def main(path, *models):
    library = ctypes.CDLL(path)

    def function(name, result, *types):
        found = getattr(library, name)
        found.restype, found.argtypes = result, types
        return found

    create = function("TfLiteModelCreateWithErrorReporter", P, ctypes.c_char_p, S, P, P)
    delete_model = function("TfLiteModelDelete", None, P)
    options = function("TfLiteInterpreterOptionsCreate", P)()
    report = function("TfLiteInterpreterOptionsSetErrorReporter", None, P, P, P)
    interpret = function("TfLiteInterpreterCreate", P, P, P)
    delete = function("TfLiteInterpreterDelete", None, P)
    allocate = function("TfLiteInterpreterAllocateTensors", I, P)
    invoke, cancel = (function(f"TfLiteInterpreter{name}", I, P) for name in ("Invoke", "Cancel"))
    function("TfLiteInterpreterOptionsEnableCancellation", I, P, ctypes.c_bool)(options, True)
    input_count, output_count = (function(f"TfLiteInterpreterGet{kind}TensorCount", I, P) for kind in ("Input", "Output"))
    input_tensor, output_tensor = (function(f"TfLiteInterpreterGet{kind}Tensor", P, P, I) for kind in ("Input", "Output"))
    kind, data, size = function("TfLiteTensorType", I, P), function("TfLiteTensorData", P, P), function("TfLiteTensorByteSize", S, P)

    format_text = ctypes.CDLL(None).vsnprintf
    format_text.argtypes = [ctypes.c_char_p, S, ctypes.c_char_p, P]

    @ctypes.CFUNCTYPE(None, P, ctypes.c_char_p, P)
    def reporter(_, text, arguments):
        buffer = ctypes.create_string_buffer(1 << 14)
        format_text(buffer, len(buffer), text, arguments)
        MESSAGES.append(buffer.value.decode())

    report(options, ctypes.cast(reporter, P), None)

    def play(content):
        """Whether a model runs."""
        MESSAGES.clear()
        model = create(content, len(content), ctypes.cast(reporter, P), None)
        interpreter = interpret(model, options) if model else None
        runs = bool(interpreter) and allocate(interpreter) == 0
        if runs:
            for index in range(input_count(interpreter)):
                tensor = input_tensor(interpreter, index)
                # Conditions are true for ever.
                ctypes.memset(data(tensor), int(kind(tensor) == BOOL), size(tensor))
            timer, began = threading.Timer(SECONDS, cancel, [interpreter]), time.monotonic()
            timer.start()
            runs = invoke(interpreter) == 0
            timer.cancel()
            timer.join()
            slowest.append(time.monotonic() - began)
        if runs:
            for index in range(output_count(interpreter)):
                tensor = output_tensor(interpreter, index)
                ctypes.string_at(data(tensor), min(size(tensor), 1 << 20))
        delete(interpreter)
        delete_model(model)
        return runs

    archive = zipfile.ZipFile(CORPUS / "corpus.zip")
    problems, errors, slowest = [], 0, [0.0]
    for line in (CORPUS / "errors.tsv").read_text().splitlines():
        name, code, text = line.split("\t")
        runs = play(archive.read(f"{name}.tflite"))
        errors += not runs
        if not runs and not MESSAGES:
            problems.append(f"{name}: an error without a message")
        elif code == "runs" and not runs:
            problems.append(f"{name}: {MESSAGES}")
        elif code not in ("runs", "resourceLimit") and (runs or not any(text in message or message == NO_MODEL for message in MESSAGES)):
            problems.append(f"{name}: {'runs' if runs else MESSAGES}, not {code}: {text}")
    for path in models:
        runs = play(Path(path).read_bytes())
        errors += not runs
        if not runs and not MESSAGES:
            problems.append(f"{path}: an error without a message")
    if max(slowest) > SECONDS + 10:
        problems.append(f"a run took {max(slowest):.1f} s, though it was cancelled after {SECONDS}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(archive.namelist()) + len(models)} broken models, {errors} errors with a message, the longest run {max(slowest):.1f} s, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
