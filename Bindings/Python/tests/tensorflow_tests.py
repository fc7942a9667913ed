# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow Lite's own interpreter_test.py, unedited, on apus_tflite: tensorflow_tests.py DIR SCHEMA

DIR has the file and its test data: tensorflow/lite/python or tflite/python. SCHEMA is the tree's schema.fbs. TensorFlow itself is not
needed: what the tests take from it is a base class, a path and a counter. The models that its converter would make are written here and
compiled with flatc.
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

from apus_tflite import interpreter

# The tests that cannot pass.
SKIPPED = {
    "testRegistererByName": "a C++ function that registers operators in TensorFlow Lite's class",
    "testRegistererByFunc": "a C++ function that registers operators in TensorFlow Lite's class",
    "testSparseTensorAccess": "a C++ function that registers operators in TensorFlow Lite's class",
    "testDelegate": "delegates",
    "testMultipleInterpreters": "delegates",
    "testDestructionOrder": "delegates",
    "testOptions": "delegates",
    "testFail": "delegates",
    "testString": "strings",
    "testStringZeroDim": "strings",
    "testEmptyInputTensor": "the converter of TensorFlow",
    "testCreationCounter": "a counter of TensorFlow's",
}


def tensor(name, shape, kind="FLOAT32", buffer=0, **more):
    return {"name": name, "shape": shape, "type": kind, "buffer": buffer, **more}


def permutation(kind, quantization):
    """A layer that turns four elements around."""
    matrix = np.eye(4, dtype=kind)[::-1]
    more = {"quantization": quantization} if quantization else {}
    name = np.dtype(kind).name.upper()
    return {
        "version": 3,
        "operator_codes": [{"builtin_code": "FULLY_CONNECTED"}],
        "subgraphs": [{
            "tensors": [
                tensor("input", [1, 4], name, **more),
                tensor("Const", [4, 4], name, 1, **more),
                tensor("output", [1, 4], name, **more),
            ],
            "inputs": [0],
            "outputs": [2],
            "operators": [{
                "inputs": [0, 1, -1],
                "outputs": [2],
                "builtin_options_type": "FullyConnectedOptions",
                "builtin_options": {},
            }],
        }],
        "buffers": [{}, {"data": list(matrix.tobytes())}],
    }


def two_signatures():
    """x + 2 and x * 2, each in a subgraph of its own."""
    names = ["add", "multiply"]
    return {
        "version": 3,
        "operator_codes": [{"builtin_code": "ADD"}, {"builtin_code": "MUL"}],
        "subgraphs": [{
            "tensors": [tensor(name + "_x:0", [1]), tensor(name + "/y", [1], buffer=1), tensor(name, [1])],
            "inputs": [0],
            "outputs": [2],
            "operators": [{
                "opcode_index": index,
                "inputs": [0, 1],
                "outputs": [2],
                "builtin_options_type": ["AddOptions", "MulOptions"][index],
                "builtin_options": {},
            }],
        } for index, name in enumerate(names)],
        "buffers": [{}, {"data": list(np.float32(2).tobytes())}],
        "signature_defs": [{
            "signature_key": name,
            "subgraph_index": index,
            "inputs": [{"name": "x", "tensor_index": 0}],
            "outputs": [{"name": "output_0", "tensor_index": 2}],
        } for index, name in enumerate(names)],
    }


MODELS = {
    "permute_float": permutation("float32", None),
    "permute_uint8": permutation("uint8", {"scale": [1.0], "zero_point": [0]}),
    "two_signatures": two_signatures(),
}


class TestCase(unittest.TestCase):
    """TensorFlow's base class of tests, as far as these use it."""

    def setUp(self):
        super().setUp()
        reason = SKIPPED.get(self._testMethodName)
        if reason:
            self.skipTest(reason)

    def assertAllEqual(self, first, second):
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second))

    def assertLen(self, container, count):
        self.assertEqual(len(container), count)


def stand_in(name, **contents):
    """A module of a name, which is a part of its parent."""
    module = types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(contents)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


def main(folder, schema):
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as work:
        # Older compilers do not know deprecated values of enumerations.
        rules = pathlib.Path(work, "schema.fbs")
        rules.write_text(re.sub(r"(?m)^(  \w+(?: = \d+)?) \(deprecated\)", r"\1", pathlib.Path(schema).read_text()))
        for name, model in MODELS.items():
            text = pathlib.Path(work, name + ".json")
            text.write_text(json.dumps(model))
            subprocess.run(["flatc", "--binary", "-o", work, rules, text], check=True)

        def data_file(path):
            written = pathlib.Path(work, pathlib.Path(path).name)
            return str(written if written.exists() else folder / path)

        for name in ("tensorflow", "tensorflow.python", "tensorflow.python.framework", "tensorflow.python.platform"):
            stand_in(name, float32=np.float32)
        stand_in("tensorflow.python.framework.test_util", TensorFlowTestCase=TestCase)
        stand_in("tensorflow.python.platform.resource_loader", get_path_to_datafile=data_file)
        stand_in("tensorflow.python.platform.test", main=unittest.main)
        for root in ("tflite", "tensorflow.lite"):
            for name in ("", ".python", ".python.testdata", ".python.metrics"):
                stand_in(root + name)
            sys.modules[root + ".python"].interpreter = interpreter
            stand_in(root + ".python.lite")
            counter = type("TFLiteMetrics", (), {"increase_counter_interpreter_creation": None})
            stand_in(root + ".python.metrics.metrics", TFLiteMetrics=counter)
            stand_in(root + ".python.testdata._pywrap_test_registerer")

        spec = importlib.util.spec_from_file_location("interpreter_test", folder / "interpreter_test.py")
        tests = importlib.util.module_from_spec(spec)
        sys.modules["interpreter_test"] = tests
        spec.loader.exec_module(tests)
        result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(tests))
    passed = result.testsRun - len(result.skipped)
    if not result.wasSuccessful() or passed < 28:
        sys.exit("interpreter_test.py: %d passed, 28 must" % passed)
    print("interpreter_test.py: %d passed, skipped:" % passed)
    for test, reason in result.skipped:
        print("  %s: %s" % (test.id().rpartition(".")[2], reason))


if __name__ == "__main__":
    main(*sys.argv[1:])
