# SPDX-License-Identifier: Apache-2.0
"""Tests of apus_tflite with a model of one ADD, which is written here: x + x, float32 [1, 4] and open in front.

APUS_TEST_DATA names a folder with more models; without it their test is skipped.
"""

import ctypes
import gc
import copy
import inspect
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import unittest
import weakref

import flatbuffers
import numpy as np

from apus_tflite._library import LIBRARY, Reporter
from apus_tflite.interpreter import Interpreter, InterpreterWithCustomOps, OpResolverType, load_delegate


GOLDENS = pathlib.Path(__file__).resolve().parents[3] / "Tests/Goldens/clients"

# Numbers of the schema.
INT64, BFLOAT16, INT8, CUSTOM, NEG, WHERE = 4, 18, 9, 32, 59, 109
CAST, INT4, INT2, UINT4 = 53, 17, 19, 20


class ModelBuilder(flatbuffers.Builder):
    """Writes the tables of a model."""

    def ints(self, values):
        return self._vector(values, self.PrependInt32)

    def offsets(self, values):
        return self._vector(values, self.PrependUOffsetTRelative)

    def _vector(self, values, prepend):
        self.StartVector(4, len(values), 4)
        for value in reversed(values):
            prepend(value)
        return self.EndVector()

    def table(self, *fields):
        """A table of fields: each a number, a kind and a value; those without a value are left out."""
        self.StartObject(max((slot for slot, _, _ in fields), default=0) + 1)
        for slot, kind, value in fields:
            if value is not None:
                getattr(self, "Prepend%sSlot" % kind)(slot, value, 0)
        return self.EndObject()

    def tensor(self, name, type_number=0, is_variable=False):
        text, shape, signature = self.CreateString(name), self.ints([1, 4]), self.ints([-1, 4])
        return self.table(
            (0, "UOffsetTRelative", shape), (1, "Int8", type_number), (3, "UOffsetTRelative", text),
            (5, "Bool", is_variable), (7, "UOffsetTRelative", signature))

    def operator(self, inputs, code=0, options_type=None, custom_options=None):
        inputs, results = self.ints(inputs), self.ints([1])
        options = self.table() if options_type else None
        custom = self.CreateByteVector(custom_options) if custom_options else None
        return self.table(
            (0, "Uint32", code), (1, "UOffsetTRelative", inputs), (2, "UOffsetTRelative", results),
            (3, "Uint8", options_type), (4, "UOffsetTRelative", options), (5, "UOffsetTRelative", custom))

    def code(self, number, name=None, version=1):
        text = self.CreateString(name) if name else None
        return self.table(
            (0, "Int8", min(number, 127)), (1, "UOffsetTRelative", text), (2, "Int32", version), (3, "Int32", number))

    def subgraph(self, tensors, operator):
        """A function of the first tensor whose result is the second."""
        tensors, operators = self.offsets(tensors), self.offsets([operator])
        inputs, outputs = self.ints([0]), self.ints([1])
        return self.table(*((slot, "UOffsetTRelative", value) for slot, value in enumerate(
            (tensors, inputs, outputs, operators))))

    def signature(self, key, subgraph):
        key, x, y = (self.CreateString(text) for text in (key, "x", "y"))
        maps = [self.offsets([self.table((0, "UOffsetTRelative", name), (1, "Uint32", index))])
                for name, index in ((x, 0), (y, 1))]
        return self.table(
            (0, "UOffsetTRelative", maps[0]), (1, "UOffsetTRelative", maps[1]), (2, "UOffsetTRelative", key),
            (4, "Uint32", subgraph))

    def model(self, codes, subgraphs, signatures=()):
        codes, subgraphs, signatures = (self.offsets(list(values)) for values in (codes, subgraphs, signatures))
        buffers = self.offsets([self.table()])
        self.Finish(
            self.table(
                (0, "Uint32", 3), (1, "UOffsetTRelative", codes), (2, "UOffsetTRelative", subgraphs),
                (4, "UOffsetTRelative", buffers), (7, "UOffsetTRelative", signatures)),
            b"TFL3")
        return bytes(self.Output())


def model(custom_operator=None, more=(), code=0, types=(0, 0), variables=()):
    """A model that adds its input to itself, or gives it to a custom operator or to a builtin one of one input without options, with the
    names of more tensors."""
    builder = ModelBuilder(256)
    tensors = [builder.tensor("x", types[0]), builder.tensor("sum", types[1])]
    tensors += [builder.tensor(name) for name in more]
    tensors += [builder.tensor(name, is_variable=True) for name in variables]
    is_unary = custom_operator or code
    operator = builder.operator([0]) if is_unary else builder.operator([0, 0], options_type=11)
    codes = [builder.code(CUSTOM if custom_operator else code, custom_operator)]
    return builder.model(codes, [builder.subgraph(tensors, operator)])


def functions(name, operators):
    """A model whose functions `f0`, `f1` … each give their input to a custom operator of one name: its versions and the bytes of its
    options. The tensors have the same names in all of them."""
    builder = ModelBuilder(256)
    codes = [builder.code(CUSTOM, name, version) for version, _ in operators]
    subgraphs = [
        builder.subgraph(
            [builder.tensor("x"), builder.tensor("y")], builder.operator([0], index, custom_options=options))
        for index, (_, options) in enumerate(operators)]
    return builder.model(
        codes, subgraphs, [builder.signature("f%d" % index, index) for index in range(len(operators))])


class TypesTest(unittest.TestCase):
    def answer(self, content, values):
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, values)
        interpreter.invoke()
        result = interpreter.get_tensor(1)
        self.assertEqual(result.dtype, interpreter.get_output_details()[0]["dtype"])
        return result

    def test_a_result_has_the_type_of_its_operator(self):
        values = np.array([[1, -2, 3, -4]], np.float32)
        result = self.answer(model(code=NEG, types=(0, INT8)), values)
        self.assertEqual(result.dtype, np.float32)
        np.testing.assert_array_equal(result, -values)

    def test_bits_of_bfloat16(self):
        values = np.array([[1, -2, 3, -4]], np.float32)
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        result = self.answer(model(code=NEG, types=(BFLOAT16, BFLOAT16)), bits)
        np.testing.assert_array_equal(result.view(np.uint16), bits ^ 0x8000)
        with self.assertRaisesRegex(ValueError, "Got value of type FLOAT32 but expected type BFLOAT16"):
            self.answer(model(code=NEG, types=(BFLOAT16, BFLOAT16)), values)

    def test_arrays_of_bfloat16(self):
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        values = np.array([[1, -2, 3, -4]], bfloat16)
        content = model(code=NEG, types=(BFLOAT16, BFLOAT16))
        result = self.answer(content, values)
        self.assertEqual(result.dtype, bfloat16)
        np.testing.assert_array_equal(result, -values)
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
        interpreter.tensor(0)()[...] = values
        self.assertEqual(interpreter.tensor(0)().dtype, bfloat16)


    def test_packed_numbers_must_fit(self):
        """Messages are LiteRT's, which has them for four bits; it has no numpy type for two."""
        for number, name, dtype, least, greatest in (
            (INT4, "INT4", np.int8, -8, 7), (UINT4, "UINT4", np.uint8, 0, 15), (INT2, "INT2", np.int8, -2, 1),
        ):
            interpreter = Interpreter(model_content=model(code=CAST, types=(number, 0)))
            interpreter.allocate_tensors()
            fitting = np.array([[least, greatest, 0, 1]], dtype)
            interpreter.set_tensor(0, fitting)
            for outside in (greatest + 1, least - 1, 100):
                if not np.iinfo(dtype).min <= outside <= np.iinfo(dtype).max:
                    continue
                message = "Cannot set tensor: Values for %s input must be between %d and %d." % (name, least, greatest)
                with self.assertRaisesRegex(ValueError, message):
                    interpreter.set_tensor(0, np.array([[0, outside, 0, 0]], dtype))
            np.testing.assert_array_equal(fitting, interpreter.get_tensor(0))
            interpreter.invoke()
            np.testing.assert_array_equal(fitting.astype(np.float32), interpreter.get_tensor(1))

    def test_tensors_without_dimensions_are_numbers(self):
        for number, dtype in ((0, np.float32), (INT4, np.int8)):
            interpreter = Interpreter(model_content=model(code=CAST, types=(number, 0)))
            interpreter.resize_tensor_input(0, [])
            interpreter.allocate_tensors()
            for value in (3, 4, 5):
                interpreter.set_tensor(0, np.array(value, dtype))
                interpreter.invoke()
                for index, expected in ((0, dtype), (1, np.float32)):
                    result = interpreter.get_tensor(index)
                    self.assertIs(expected, type(result))
                    self.assertEqual(value, result)


class RunnerTest(unittest.TestCase):
    def setUp(self):
        builder = ModelBuilder(256)
        tensors = [builder.tensor("x"), builder.tensor("sum")]
        subgraph = builder.subgraph(tensors, builder.operator([0, 0], options_type=11))
        content = builder.model([builder.code(0)], [subgraph], [builder.signature("f", 0)])
        self.interpreter = Interpreter(model_content=content)
        self.interpreter.allocate_tensors()
        self.runner = self.interpreter.get_signature_runner()

    def test_memory_that_is_shown_stays(self):
        """A runner of the main subgraph shares its tensors, so it obeys the rule of invoke()."""
        self.interpreter.resize_tensor_input(0, [1000, 4])
        self.interpreter.allocate_tensors()
        view = self.interpreter.tensor(0)()
        view[...] = 7
        with self.assertRaisesRegex(RuntimeError, "There is at least 1 reference"):
            self.runner(x=np.ones((1, 4), np.float32))
        np.testing.assert_array_equal(view, np.full((1000, 4), 7, np.float32))
        del view
        np.testing.assert_array_equal(self.runner(x=np.ones((1, 4), np.float32))["y"], np.full((1, 4), 2))

    def test_runners_of_other_subgraphs_run_beside_arrays(self):
        interpreter = Interpreter(model_path=str(GOLDENS / "counter.tflite"))
        interpreter.allocate_tensors()
        view = interpreter.tensor(interpreter.get_input_details()[0]["index"])()
        runners = [interpreter.get_signature_runner(key) for key in interpreter.get_signature_list()]
        main = [runner._runner.is_main for runner in runners]
        self.assertEqual({True, False}, set(main))
        for runner, is_main in zip(runners, main):
            values = {name: np.ones(1, np.float32) for name in runner.get_input_details()}
            if is_main:
                with self.assertRaisesRegex(RuntimeError, "There is at least 1 reference"):
                    runner(**values)
            else:
                self.assertEqual(1, len(runner(**values)))
        del view

    def test_results_without_dimensions_are_numbers(self):
        self.assertIs(np.float32, type(self.runner(x=np.float32(2))["y"]))

    def test_cannot_be_pickled(self):
        """TypeError, as joblib and others expect of objects that cannot be."""
        for thing in (self.interpreter, self.runner):
            for function in (pickle.dumps, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, "cannot pickle"):
                    function(thing)
        self.assertIs(copy.copy(self.interpreter)._interpreter, self.interpreter._interpreter)


class ThreadsTest(unittest.TestCase):
    """Threads on one interpreter: their calls take turns, where LiteRT's keep Python's lock."""

    SECONDS = 0.5

    def play(self, *functions):
        """Calls functions again and again, each in a thread, and returns the errors but those of another shape or of missing data."""
        errors, counts, end = set(), [0] * len(functions), time.monotonic() + self.SECONDS

        def work(number):
            while time.monotonic() < end:
                try:
                    functions[number](counts[number])
                except ValueError as error:
                    if "Dimension mismatch" not in str(error) and "data is null" not in str(error):
                        errors.add(str(error))
                except Exception as error:
                    errors.add("%s: %s" % (type(error).__name__, error))
                counts[number] += 1

        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(functions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for count in counts:
            self.assertGreater(count, 5)
        return errors

    def test_reads_while_memory_moves(self):
        interpreter = Interpreter(model_content=model())
        interpreter.allocate_tensors()

        def move(step):
            interpreter.resize_tensor_input(0, [1 + step % 50 * 400, 4])
            interpreter.allocate_tensors()

        def read(_):
            for index in (0, 1):
                array = interpreter.get_tensor(index)
                self.assertEqual(4, array.shape[1])
            self.assertEqual(4, interpreter.get_input_details()[0]["shape"][1])

        def write(_):
            shape = interpreter.get_input_details()[0]["shape"]
            interpreter.set_tensor(0, np.ones(shape, np.float32))

        self.assertEqual(set(), self.play(move, read, write))

    def test_reads_while_results_change_their_size(self):
        interpreter = Interpreter(model_content=model(code=WHERE, types=(0, INT64)))
        interpreter.resize_tensor_input(0, [2000, 4])
        interpreter.allocate_tensors()

        def run(step):
            values = np.zeros((2000, 4), np.float32)
            values[: step % 2000] = 1
            interpreter.set_tensor(0, values)
            interpreter.invoke()

        def read(_):
            self.assertEqual(2, interpreter.get_tensor(1).shape[1])

        self.assertEqual(set(), self.play(run, read, read))

    def test_runners_and_reads(self):
        test = RunnerTest("test_memory_that_is_shown_stays")
        test.setUp()

        def run(step):
            value = np.ones((1 + step % 50 * 100, 4), np.float32)
            np.testing.assert_array_equal(2 * value, test.runner(x=value)["y"])

        def read(_):
            test.interpreter.get_tensor(1)
            test.runner.get_output_details()

        self.assertEqual(set(), self.play(run, read))

    def test_descriptions_during_a_run(self):
        interpreter = Interpreter(model_content=model(more=["between"]))
        interpreter.allocate_tensors()

        def describe(_):
            self.assertEqual("x", interpreter.get_input_details()[0]["name"])
            self.assertEqual(1, interpreter.num_subgraphs())
            self.assertEqual(3, len(interpreter.get_tensor_details()))
            self.assertEqual(1, len(interpreter._get_ops_details()))
            self.assertEqual({}, interpreter.get_signature_list())

        self.assertEqual(set(), self.play(lambda _: interpreter.invoke(), describe, describe))
        self.assertEqual({}, interpreter._interpreter.messages._messages)

    def test_runs_take_turns(self):
        interpreter = Interpreter(model_content=model())
        interpreter.allocate_tensors()
        self.assertEqual(set(), self.play(*[lambda _: interpreter.invoke()] * 3))
        self.assertEqual(set(), interpreter._interpreter.turns.callers)

    def test_a_failure_is_no_number(self):
        """A function of the library that fails returns 0 or NULL, as one does that finds nothing; only the failure has a message."""
        native = Interpreter(model_content=model())._interpreter
        with self.assertRaisesRegex(RuntimeError, "refused"):
            native._ask(lambda handle: native.messages._note("refused"))
        self.assertEqual(0, native._ask(lambda handle: 0))


class InterpreterTest(unittest.TestCase):
    def setUp(self):
        self.interpreter = Interpreter(model_content=model())
        self.interpreter.allocate_tensors()
        self.x = self.interpreter.get_input_details()[0]["index"]
        self.sum = self.interpreter.get_output_details()[0]["index"]

    def test_runs_a_model(self):
        value = np.array([[1, 2, 3, 4]], np.float32)
        self.interpreter.set_tensor(self.x, value)
        self.interpreter.invoke()
        np.testing.assert_array_equal(self.interpreter.get_tensor(self.sum), value + value)

    def test_memory_of_a_client(self):
        """Of any tensor, from the next allocation on."""
        library = ctypes.CDLL(LIBRARY._name)
        for function in (library.TfLiteModelCreate, library.TfLiteInterpreterCreate):
            function.restype = ctypes.c_void_p
        content = model(more=["between"])
        made = ctypes.c_void_p(library.TfLiteModelCreate(content, ctypes.c_size_t(len(content))))
        interpreter = ctypes.c_void_p(library.TfLiteInterpreterCreate(made, None))
        self.assertEqual(0, library.TfLiteInterpreterAllocateTensors(interpreter))
        memory = ctypes.create_string_buffer(256)
        allocation = (ctypes.c_size_t * 2)(-(-ctypes.addressof(memory) // 64) * 64, 64)
        statuses = [
            library.TfLiteInterpreterSetCustomAllocationForTensor(interpreter, index, allocation, ctypes.c_int64(0))
            for index in range(3)]
        self.assertEqual([0, 0, 0], statuses)
        self.assertEqual(1, library.TfLiteInterpreterInvoke(interpreter))
        self.assertEqual(0, library.TfLiteInterpreterAllocateTensors(interpreter))
        self.assertEqual(0, library.TfLiteInterpreterInvoke(interpreter))
        library.TfLiteInterpreterDelete(interpreter)
        library.TfLiteModelDelete(made)

    def test_memory_of_a_client_between_the_operators(self):
        library = ctypes.CDLL(LIBRARY._name)
        for function in (library.TfLiteModelCreate, library.TfLiteInterpreterCreate, library.TfLiteInterpreterGetInputTensor):
            function.restype = ctypes.c_void_p
        content = (GOLDENS / "add.tflite").read_bytes()
        made = ctypes.c_void_p(library.TfLiteModelCreate(content, ctypes.c_size_t(len(content))))
        interpreter = ctypes.c_void_p(library.TfLiteInterpreterCreate(made, None))
        count = 4 * 8 * 8 * 3
        memory = ctypes.create_string_buffer(count + 64)
        start = -(-ctypes.addressof(memory) // 64) * 64
        allocation = (ctypes.c_size_t * 2)(start, count)
        self.assertEqual(
            0, library.TfLiteInterpreterSetCustomAllocationForTensor(interpreter, 1, allocation, ctypes.c_int64(0)))
        self.assertEqual(0, library.TfLiteInterpreterAllocateTensors(interpreter))
        tensor = ctypes.c_void_p(library.TfLiteInterpreterGetInputTensor(interpreter, 0))
        for factor in (1, 2):
            value = np.full((1, 8, 8, 3), factor, np.float32)
            self.assertEqual(0, library.TfLiteTensorCopyFromBuffer(tensor, value.tobytes(), ctypes.c_size_t(count)))
            self.assertEqual(0, library.TfLiteInterpreterInvoke(interpreter))
            np.testing.assert_array_equal(2 * value, np.frombuffer(ctypes.string_at(start, count), np.float32).reshape(value.shape))
        library.TfLiteInterpreterDelete(interpreter)
        library.TfLiteModelDelete(made)

    def test_describes_tensors(self):
        detail = self.interpreter.get_input_details()[0]
        self.assertEqual(("x", 0, np.float32, (0.0, 0)),
                         (detail["name"], detail["index"], detail["dtype"], detail["quantization"]))
        self.assertEqual([1, 4], list(detail["shape"]))
        self.assertEqual([-1, 4], list(detail["shape_signature"]))
        self.assertEqual(2, len(self.interpreter.get_tensor_details()))

    def test_describes_operators(self):
        (operator,) = self.interpreter._get_ops_details()
        self.assertEqual((0, "ADD"), (operator["index"], operator["op_name"]))
        self.assertEqual(([0, 0], [1]), (list(operator["inputs"]), list(operator["outputs"])))
        self.assertEqual(([np.float32] * 2, [np.float32]), (operator["operand_types"], operator["result_types"]))
        for index in (-1, 1):
            with self.assertRaisesRegex(ValueError, "Invalid node index"):
                self.interpreter._get_op_details(index)
        custom = Interpreter(model_content=model("TFLite_Detection_PostProcess"))
        self.assertEqual("TFLite_Detection_PostProcess", custom._get_op_details(0)["op_name"])

    def test_describes_subgraphs(self):
        self.assertEqual(1, self.interpreter.num_subgraphs())
        for index in (-1, 1):
            for function in (self.interpreter.get_tensor_details, lambda index: self.interpreter.get_tensor(0, index)):
                with self.assertRaisesRegex(ValueError, "subgraph_index is out of range"):
                    function(index)
        with self.assertRaisesRegex(ValueError, "Invalid tensor index 2 exceeds max tensor index 2"):
            self.interpreter._get_tensor_details(2, 0)

    def test_refuses_registerers(self):
        InterpreterWithCustomOps(model_content=model()).allocate_tensors()
        for registerer, message in (
            ("NoSuchFunction", "Looking up symbol 'NoSuchFunction' failed"),
            ("no_such_library.Register", "Loading library 'no_such_library.so' failed"),
            ("malloc", "the C API"),
            (print, "the C API"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                InterpreterWithCustomOps(custom_op_registerers=[registerer], model_content=model())

    def test_resizes_inputs(self):
        self.interpreter.resize_tensor_input(self.x, [3, 4], strict=True)
        with self.assertRaisesRegex(RuntimeError, "Invoke called on model that is not ready"):
            self.interpreter.invoke()
        self.interpreter.allocate_tensors()
        value = np.arange(12, dtype=np.float32).reshape(3, 4)
        self.interpreter.set_tensor(self.x, value)
        self.interpreter.invoke()
        np.testing.assert_array_equal(self.interpreter.get_tensor(self.sum), 2 * value)
        # Errors and the sentence are LiteRT's.
        sentence = "does not fit.*ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1\\."
        with self.assertRaisesRegex(RuntimeError, sentence):
            self.interpreter.resize_tensor_input(self.x, [3, 5], strict=True)
        for index, shape in ((self.x, [3, -1]), (self.sum, [3, 4]), (9, [3, 4])):
            with self.assertRaises(RuntimeError):
                self.interpreter.resize_tensor_input(index, shape)
        for shape in ([[3, 4]], 3):
            with self.assertRaisesRegex(ValueError, "Shape should be 1D instead of"):
                self.interpreter.resize_tensor_input(self.x, shape)

    def test_shows_memory(self):
        function = self.interpreter.tensor(self.x)
        function()[...] = 7
        self.assertTrue(self.interpreter._safe_to_run())
        np.testing.assert_array_equal(self.interpreter.get_tensor(self.x), np.full((1, 4), 7, np.float32))
        held = function()
        self.assertFalse(self.interpreter._safe_to_run())
        for call in (self.interpreter.invoke, self.interpreter.allocate_tensors):
            with self.assertRaisesRegex(RuntimeError, "There is at least 1 reference"):
                call()
        part = held[0]
        del held
        self.assertFalse(self.interpreter._safe_to_run())
        del part
        self.interpreter.invoke()

    def test_shows_memory_of_each_moment(self):
        """A function of tensor() may be kept for ever; what it shows of a result in between cannot be written."""
        interpreter = Interpreter(model_path=str(GOLDENS / "add.tflite"), experimental_preserve_all_tensors=True)
        function, missing = interpreter.tensor(1), interpreter.tensor(3)
        with self.assertRaisesRegex(ValueError, "Tensor data is null"):
            function()
        interpreter.allocate_tensors()
        for factor in (1, 2):
            value = np.full((1, 8, 8, 3), factor, np.float32)
            interpreter.set_tensor(0, value)
            interpreter.invoke()
            np.testing.assert_array_equal(2 * value, function())
            with self.assertRaisesRegex(ValueError, "read-only"):
                function()[...] = 0
        interpreter.tensor(2)()[...] = 7
        self.assertEqual(7 * value.size, interpreter.get_tensor(2).sum())
        with self.assertRaisesRegex(ValueError, "Invalid tensor index 3"):
            missing()

    def test_shows_constants_before_allocation(self):
        interpreter = Interpreter(model_path=str(GOLDENS / "lookup.tflite"))
        np.testing.assert_array_equal([1, 2, 3], interpreter.get_tensor(0))
        np.testing.assert_array_equal([1, 2, 3], interpreter.tensor(0)())
        with self.assertRaisesRegex(ValueError, "Tensor data is null"):
            interpreter.get_tensor(1)

    def test_a_reset_keeps_resource_variables(self):
        """As in LiteRT, it concerns variable tensors alone; a fresh interpreter counts from 10."""
        interpreter = Interpreter(model_path=str(GOLDENS / "counter.tflite"))
        add, read = interpreter.get_signature_runner("add"), interpreter.get_signature_runner("read")
        self.assertEqual(15, add(amount=np.array([5], np.float32))["total"])
        interpreter.reset_all_variables()
        self.assertEqual(15, read()["count"])
        self.assertEqual(16, add(amount=np.array([1], np.float32))["total"])

    def test_results_have_the_size_of_their_run(self):
        """Also where a shape was changed and changed back, so that nothing was planned anew."""
        interpreter = Interpreter(model_content=model(code=WHERE, types=(0, INT64)))
        interpreter.allocate_tensors()
        for _ in range(3):
            for count in (2, 4, 0, 3, 1):
                interpreter.set_tensor(0, np.array([[float(i < count) for i in range(4)]], np.float32))
                interpreter.invoke()
                np.testing.assert_array_equal([[0, i] for i in range(count)] or np.zeros((0, 2)), interpreter.get_tensor(1))
                if count == 1:
                    interpreter.resize_tensor_input(0, [2, 4])
                    interpreter.resize_tensor_input(0, [1, 4])
                    interpreter.allocate_tensors()

    def test_arrays_follow_each_shape(self):
        """Also where the numbers of another shape are at the address of a former one, as here."""
        tensor = self.interpreter._interpreter.ends[self.x]
        sizes = (ctypes.c_int32 * 2).from_address(tensor._tensor.dims + 4)
        for shape in ((1, 4), (2, 2), (4, 1)):
            sizes[:] = shape
            value = np.arange(4, dtype=np.float32).reshape(shape)
            tensor.set(value, self.x)
            np.testing.assert_array_equal(value, tensor.get())
        sizes[:] = (1, 4)

    def test_variables_keep_their_values_across_runs(self):
        """TfLiteOpaqueTensorGetDataStability: kTfLiteAllocationStable… is 3 for them, as for constants, and 2 for results."""
        library = ctypes.PyDLL(LIBRARY._name)
        library.TfLiteOpaqueTensorGetDataStability.argtypes = [ctypes.c_void_p]
        native = Interpreter(model_content=model(variables=["state"]))._interpreter
        self.assertEqual([2, 2, 3], [
            library.TfLiteOpaqueTensorGetDataStability(LIBRARY.TfLiteInterpreterGetTensor(native.handle, index))
            for index in range(3)])

    def test_signatures_name_their_tensors(self):
        interpreter = Interpreter(model_path=str(GOLDENS / "difference.tflite"))
        self.assertEqual(
            {"serving_default": {"inputs": {"b": 1, "é": 0}, "outputs": {"minus": 2, "plus": 3}}},
            interpreter._get_full_signature_list())
        self.assertEqual(
            {"serving_default": {"inputs": ["b", "é"], "outputs": ["minus", "plus"]}}, interpreter.get_signature_list())
        details = interpreter.get_signature_runner().get_input_details()
        self.assertEqual({"b": 1, "é": 0}, {name: detail["index"] for name, detail in details.items()})

    def test_runners_take_any_shape(self):
        """As LiteRT's in Python do; its function of C changes open dimensions alone."""
        runner = Interpreter(model_path=str(GOLDENS / "difference.tflite")).get_signature_runner()
        three = np.array([1, 2, 3], np.float32)
        np.testing.assert_array_equal(2 * three, runner(**{"b": three, "é": three})["plus"])
        with self.assertRaises(RuntimeError):
            runner(**{"b": three, "é": three[:2]})

    def test_indices_are_integers_of_32_bits(self):
        """As LiteRT's are: whatever has __index__ is one, and numpy's floats of 32 bits are."""

        class Index:
            def __index__(self):
                return 0

        value = np.array([[1, 2, 3, 4]], np.float32)
        functions = (
            self.interpreter.get_tensor,
            lambda index: self.interpreter.set_tensor(index, value),
            lambda index: self.interpreter.tensor(index)().copy(),
            lambda index: self.interpreter.resize_tensor_input(index, [1, 4]),
            lambda index: self.interpreter.get_tensor(0, index),
            self.interpreter._get_op_details,
        )
        for function in functions:
            for index in (0, False, np.int64(0), np.array(0), np.float32(0), Index()):
                function(index)
            for index in ("0", b"0", None, 0.0, [0], 2**31, 2**32, -(2**32), 2**63, 2**70):
                with self.assertRaises(TypeError, msg=repr(index)):
                    function(index)
        for index in (2**31, 2**32, -(2**32), 2**63, 2**70):
            with self.assertRaises(TypeError):
                self.interpreter._get_tensor_details(index, 0)
            with self.assertRaisesRegex(ValueError, "subgraph_index is out of range"):
                self.interpreter.get_tensor_details(index)
        for index in ("0", None, 0.0, [0]):
            with self.assertRaises(TypeError):
                self.interpreter.get_tensor_details(index)

    def test_paths_may_be_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.fsencode(folder) + b"/l\xe9"
            os.mkdir(path)
            path += b"/m\xfc.tflite"
            with self.assertRaisesRegex(ValueError, "Could not open"):
                Interpreter(model_path=path)
            # Large enough to be read in parts.
            content = (GOLDENS / "add.tflite").read_bytes()
            for text in (content, content + bytes(1 << 20)):
                with open(path, "wb") as file:
                    file.write(text)
                for name in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
                    interpreter = Interpreter(model_path=name)
                    interpreter.allocate_tensors()
                    interpreter.invoke()

    def test_tensors_of_deleted_interpreters_are_refused(self):
        """Also where new ones have been made since, whose memory could be at the same addresses."""
        library = ctypes.PyDLL(LIBRARY._name)
        for function in (library.TfLiteModelCreate, library.TfLiteInterpreterCreate, library.TfLiteInterpreterGetInputTensor):
            function.restype = ctypes.c_void_p
        content = model()
        made = ctypes.c_void_p(library.TfLiteModelCreate(content, ctypes.c_size_t(len(content))))
        reports = []
        reporter = Reporter(lambda _, text, arguments: reports.append(text))
        options = ctypes.c_void_p(LIBRARY.TfLiteInterpreterOptionsCreate())
        LIBRARY.TfLiteInterpreterOptionsSetErrorReporter(options, reporter, None)
        data = np.ones((1, 4), np.float32).tobytes()
        standard = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            stale = []
            for _ in range(2000):
                interpreter = ctypes.c_void_p(library.TfLiteInterpreterCreate(made, options))
                self.assertEqual(0, library.TfLiteInterpreterAllocateTensors(interpreter))
                tensor = ctypes.c_void_p(library.TfLiteInterpreterGetInputTensor(interpreter, 0))
                self.assertNotIn(tensor.value, stale)
                self.assertEqual(0, library.TfLiteTensorCopyFromBuffer(tensor, data, ctypes.c_size_t(16)))
                for old in stale[-2:]:
                    self.assertEqual(1, library.TfLiteTensorCopyFromBuffer(ctypes.c_void_p(old), data, ctypes.c_size_t(16)))
                stale.append(tensor.value)
                library.TfLiteInterpreterDelete(interpreter)
        finally:
            os.dup2(standard, 2)
            os.close(standard)
            LIBRARY.TfLiteInterpreterOptionsDelete(options)
            library.TfLiteModelDelete(made)

    def test_says_what_is_not_kept(self):
        interpreter = Interpreter(model_path=str(GOLDENS / "add.tflite"))
        with self.assertRaisesRegex(ValueError, "Run allocate_tensors"):
            interpreter.get_tensor(1)
        interpreter.allocate_tensors()
        interpreter.invoke()
        for function in (lambda: interpreter.get_tensor(1), interpreter.tensor(1)):
            with self.assertRaisesRegex(ValueError, "experimental_preserve_all_tensors=True"):
                function()

    def test_memory_outlives_its_interpreter(self):
        array = self.interpreter.tensor(self.x)()
        array[...] = 3
        del self.interpreter
        gc.collect()
        np.testing.assert_array_equal(array, np.full((1, 4), 3, np.float32))

    def test_copies_are_copies(self):
        self.interpreter.set_tensor(self.x, np.ones((1, 4), np.float32))
        copy = self.interpreter.get_tensor(self.x)
        self.interpreter.set_tensor(self.x, np.zeros((1, 4), np.float32))
        self.assertEqual(4, copy.sum())

    def test_the_library_makes_the_methods(self):
        is_usual = sys.implementation.name == "cpython" and os.environ.get("APUS_TFLITE_METHODS") != "python"
        for name in ("set_tensor", "get_tensor", "invoke"):
            self.assertEqual(is_usual, inspect.ismethoddescriptor(getattr(Interpreter, name)), name)
        self.assertEqual(["self", "tensor_index", "value"], list(inspect.signature(Interpreter.set_tensor).parameters))

    def test_takes_arguments_as_functions_do(self):
        value = np.array([[1, 2, 3, 4]], np.float32)
        for _ in range(3):
            self.interpreter.set_tensor(tensor_index=self.x, value=value)
            self.interpreter.set_tensor(self.x, value=value)
            self.interpreter.set_tensor(np.int64(self.x), value)
            self.interpreter.invoke()
            for result in (
                self.interpreter.get_tensor(tensor_index=self.sum),
                self.interpreter.get_tensor(self.sum, 0),
                self.interpreter.get_tensor(self.sum, subgraph_index=0),
                self.interpreter.get_tensor(np.int32(self.sum)),
            ):
                np.testing.assert_array_equal(2 * value, result)
        for call in (
            lambda: self.interpreter.set_tensor(self.x),
            lambda: self.interpreter.set_tensor(self.x, value, 1),
            lambda: self.interpreter.set_tensor(self.x, other=value),
            lambda: self.interpreter.get_tensor(),
            lambda: self.interpreter.get_tensor("x"),
            lambda: self.interpreter.invoke(1),
            lambda: Interpreter.invoke(None),
        ):
            with self.assertRaises((TypeError, ValueError, AttributeError, ctypes.ArgumentError)):
                call()
        with self.assertRaisesRegex(ValueError, "subgraph_index is out of range"):
            self.interpreter.get_tensor(self.sum, 1)

    def test_takes_arrays_of_every_kind(self):
        class Other(np.ndarray):
            pass

        class Disguise:
            __class__ = np.ndarray

            def __array__(self, dtype=None, copy=None):
                return np.array([[1, 2, 3, 4]], np.float32)

        plain = np.array([[1, 2, 3, 4]], np.float32)
        spread = np.zeros((1, 8), np.float32)
        spread[:, ::2] = plain
        frozen = plain.copy()
        frozen.flags.writeable = False
        unaligned = np.frombuffer(b"-" + plain.tobytes(), np.uint8)[1:].view(np.float32).reshape(1, 4)
        for value in (
            plain, spread[:, ::2], np.asfortranarray(plain), frozen, unaligned, plain.view(Other),
            pickle.loads(pickle.dumps(plain)), Disguise(), np.broadcast_to(np.float32(3), (1, 4)),
        ):
            for _ in range(3):
                self.interpreter.set_tensor(self.x, np.zeros((1, 4), np.float32))
                self.interpreter.set_tensor(self.x, value)
                self.interpreter.invoke()
                np.testing.assert_array_equal(2 * np.asarray(value), self.interpreter.get_tensor(self.sum))
        for value in (plain.astype(">f4"), plain.astype(np.float64), plain.tobytes(), plain.tolist(), None, 1):
            with self.assertRaises(ValueError):
                self.interpreter.set_tensor(self.x, value)
        np.testing.assert_array_equal(np.full((1, 4), 3), self.interpreter.get_tensor(self.x))

    def test_takes_arrays_after_each_change_of_shape(self):
        for rows in (2, 50, 1, 3):
            self.interpreter.resize_tensor_input(self.x, [rows, 4])
            with self.assertRaises((RuntimeError, ValueError)):
                self.interpreter.invoke()
            self.interpreter.allocate_tensors()
            for step in range(4):
                value = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4) + step
                self.interpreter.set_tensor(self.x, value)
                self.interpreter.invoke()
                np.testing.assert_array_equal(2 * value, self.interpreter.get_tensor(self.sum))
                with self.assertRaisesRegex(ValueError, "Dimension mismatch"):
                    self.interpreter.set_tensor(self.x, np.zeros((rows + 1, 4), np.float32))

    def test_methods_of_subclasses_run(self):
        class Counting(Interpreter):
            count = 0

            def invoke(self):
                self.count += 1
                super().invoke()

        interpreter = Counting(model_content=model())
        interpreter.allocate_tensors()
        interpreter.invoke()
        self.assertEqual(1, interpreter.count)

    def test_keeps_no_references(self):
        value = np.ones((1, 4), np.float32)
        results = []
        before = sys.getrefcount(value), sys.getrefcount(None)
        for _ in range(1000):
            self.interpreter.set_tensor(self.x, value)
            self.interpreter.set_tensor(self.x, value=value)
            self.interpreter.invoke()
            results.append(self.interpreter.get_tensor(self.sum))
        self.assertEqual(before[0], sys.getrefcount(value))
        self.assertLess(abs(sys.getrefcount(None) - before[1]), 100)
        self.assertLessEqual(sys.getrefcount(results[0]), 2)
        # The interpreter goes when its last reference does, not with the next collection of cycles.
        gc.disable()
        try:
            native = weakref.ref(self.interpreter._interpreter)
            del self.interpreter
            self.assertIsNone(native())
        finally:
            gc.enable()

    def test_refuses_other_types_and_shapes(self):
        for value, text in (
            (np.zeros((1, 4), np.uint8), "Got value of type UINT8 but expected type FLOAT32"),
            (np.zeros((1, 5), np.float32), "Got 5 but expected 4 for dimension 1"),
            (np.zeros(4, np.float32), "Got 1 but expected 2"),
            (np.zeros((1, 4), ">f4"), "Got value of type FLOAT32 with swapped bytes but expected type FLOAT32"),
            ("text", "Got value of type STRING but expected type FLOAT32"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                self.interpreter.set_tensor(self.x, value)
        with self.assertRaisesRegex(ValueError, "not an input"):
            self.interpreter.set_tensor(self.sum, np.zeros((1, 4), np.float32))
        with self.assertRaisesRegex(ValueError, "Invalid tensor index 4 exceeds max tensor index 2"):
            self.interpreter.get_tensor(4)

    def test_refuses_bad_arguments(self):
        content = model()
        for arguments, text in (
            ({}, "must be specified"),
            ({"model_path": "a", "model_content": content}, "both"),
            ({"model_content": b"short"}, "not a valid Flatbuffer buffer"),
            ({"model_content": b"wrong_identifier"}, "not a valid Flatbuffer buffer"),
            ({"model_path": "no such file"}, "Could not open 'no such file'"),
            ({"model_path": "no %s such %d file"}, "Could not open 'no %s such %d file'"),
            ({"model_content": content, "num_threads": 0}, "num_threads should >= 1"),
            ({"model_content": content, "num_threads": 4.2}, "type of num_threads should be int"),
            ({"model_content": content, "experimental_op_resolver_type": "test"}, "Unrecognized"),
            ({"model_content": content, "experimental_delegates": [1]}, "no delegates"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                Interpreter(**arguments)
        for other in (100, 10**10, True, 3.5, "text", [1, 2]):
            with self.assertRaises(TypeError):
                Interpreter(model_content=other)
        for same in (bytearray(content), memoryview(content)):
            Interpreter(model_content=same)
        with self.assertRaisesRegex(ValueError, "Failed to load delegate from libedgetpu.so.1"):
            load_delegate("libedgetpu.so.1")
        for kind in OpResolverType:
            Interpreter(model_content=content, experimental_op_resolver_type=kind)
        for compresses in (False, True):
            interpreter = Interpreter(model_content=content, experimental_compress_quantization_zero_points=compresses)
            self.assertIs(compresses, interpreter.experimental_compress_quantization_zero_points)

    def test_every_truncation_is_an_error(self):
        content = model()
        for count in range(1, len(content)):
            try:
                Interpreter(model_content=content[:count]).allocate_tensors()
            except (ValueError, RuntimeError) as error:
                self.assertNotEqual("", str(error))

    def test_one_interpreter_for_each_thread(self):
        errors = []

        def work(number):
            interpreter = Interpreter(model_content=model(), num_threads=2)
            interpreter.allocate_tensors()
            for step in range(200):
                value = np.full((1, 4), number * 1000 + step, np.float32)
                interpreter.set_tensor(0, value)
                interpreter.invoke()
                if not np.array_equal(interpreter.get_tensor(1), value + value):
                    errors.append((number, step))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], errors)

    def test_a_second_thread_waits(self):
        results = []

        def work():
            for _ in range(500):
                try:
                    self.interpreter.invoke()
                except RuntimeError as error:
                    results.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], results)


@unittest.skipUnless(os.environ.get("APUS_TEST_DATA"), "APUS_TEST_DATA is not set")
class ModelsTest(unittest.TestCase):
    def test_signatures_by_name(self):
        path = os.path.join(os.environ["APUS_TEST_DATA"], "models", "tf2_mobilenet_v2_1.0_224_ptq.tflite")
        interpreter = Interpreter(model_path=path)
        for key, names in interpreter.get_signature_list().items():
            runner = interpreter.get_signature_runner(key)
            values = {
                name: np.zeros(detail["shape"], detail["dtype"])
                for name, detail in runner.get_input_details().items()
            }
            self.assertEqual(set(names["outputs"]), set(runner(**values)))
            with self.assertRaisesRegex(ValueError, "Invalid number of inputs"):
                runner()
        with self.assertRaisesRegex(ValueError, "Invalid signature_key"):
            interpreter.get_signature_runner("no such signature")

    def test_all_tensors_are_preserved_on_request(self):
        path = os.path.join(os.environ["APUS_TEST_DATA"], "models", "mobilenet_v1_0.25_128_quant.tflite")
        interpreter = Interpreter(model_path=path, experimental_preserve_all_tensors=True)
        interpreter.allocate_tensors()
        interpreter.invoke()
        for detail in interpreter.get_tensor_details():
            self.assertEqual(list(detail["shape"]), list(interpreter.get_tensor(detail["index"]).shape))


if __name__ == "__main__":
    unittest.main()
