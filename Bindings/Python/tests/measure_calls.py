# SPDX-License-Identifier: Apache-2.0
"""Times set_tensor, invoke and get_tensor of a model with one ADD of four floats, here and in LiteRT: measure_calls.py [ROUNDS]

The model does next to nothing, so this is what calls from Python take. Rounds of both engines alternate. The times are medians of rounds: processor
time of the calling thread, which does all the work, so that other programs disturb them little. Needs ai_edge_litert and flatbuffers.
"""

import statistics
import sys
import time
import warnings

import ai_edge_litert.interpreter as litert
import numpy as np
import test_interpreter

import apus_tflite.interpreter as apus

CALLS = 2000


def prepared(module):
    interpreter = module.Interpreter(model_content=test_interpreter.model(), num_threads=1)
    interpreter.allocate_tensors()
    source = interpreter.get_input_details()[0]["index"]
    result = interpreter.get_output_details()[0]["index"]
    value = np.array([[1, 2, 3, 4]], np.float32)
    interpreter.set_tensor(source, value)
    interpreter.invoke()
    assert (interpreter.get_tensor(result) == 2 * value).all()
    return interpreter, source, result, value


def whole(interpreter, source, result, value):
    for _ in range(CALLS):
        interpreter.set_tensor(source, value)
        interpreter.invoke()
        interpreter.get_tensor(result)


def setting(interpreter, source, result, value):
    for _ in range(CALLS):
        interpreter.set_tensor(source, value)


def running(interpreter, source, result, value):
    for _ in range(CALLS):
        interpreter.invoke()


def getting(interpreter, source, result, value):
    for _ in range(CALLS):
        interpreter.get_tensor(result)


def main(rounds=200):
    engines = {"Apus": prepared(apus), "LiteRT": prepared(litert)}
    times = {}
    for _ in range(int(rounds)):
        for what in (whole, setting, running, getting):
            for name, arguments in engines.items():
                start = time.thread_time_ns()
                what(*arguments)
                times.setdefault((what, name), []).append((time.thread_time_ns() - start) / CALLS / 1000)
    print("%-12s %8s %8s" % ("µs a call", *engines))
    for what, title in ((setting, "set_tensor"), (running, "invoke"), (getting, "get_tensor"), (whole, "all three")):
        print("%-12s %8.2f %8.2f" % (title, *[statistics.median(times[what, name]) for name in engines]))
    ratios = [a / b for a, b in zip(times[whole, "Apus"], times[whole, "LiteRT"])]
    print("%-12s %8.2f" % ("ratio", statistics.median(ratios)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
