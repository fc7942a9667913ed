# SPDX-License-Identifier: Apache-2.0
"""Tests of apus_tflite with a model of one ADD, which is written here: x + x, float32 [1, 4] and open in front.

APUS_TEST_DATA names a folder with more models; without it their test is skipped.
"""

import ctypes
import gc
import inspect
import os
import pickle
import sys
import threading
import unittest
import weakref

import flatbuffers
import numpy as np

from apus_tflite._library import LIBRARY
from apus_tflite.interpreter import Interpreter, InterpreterWithCustomOps, OpResolverType, load_delegate


# Numbers of the schema.
BFLOAT16, INT8, NEG = 18, 9, 59


def model(custom_operator=None, more=(), code=0, types=(0, 0)):
    """A model that adds its input to itself, or gives it to a custom operator or to a builtin one of one input without options, with the
    names of more tensors."""
    is_unary = custom_operator or code
    builder = flatbuffers.Builder(256)

    def ints(values):
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            builder.PrependInt32(value)
        return builder.EndVector()

    def offsets(values):
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            builder.PrependUOffsetTRelative(value)
        return builder.EndVector()

    def tensor(name, type_number):
        text, shape, signature = builder.CreateString(name), ints([1, 4]), ints([-1, 4])
        builder.StartObject(8)
        builder.PrependUOffsetTRelativeSlot(0, shape, 0)
        builder.PrependInt8Slot(1, type_number, 0)
        builder.PrependUOffsetTRelativeSlot(3, text, 0)
        builder.PrependUOffsetTRelativeSlot(7, signature, 0)
        return builder.EndObject()

    name = builder.CreateString(custom_operator) if custom_operator else None
    tensors = offsets([tensor("x", types[0]), tensor("sum", types[1]), *(tensor(name, 0) for name in more)])
    inputs, outputs, results = ints([0]), ints([1]), ints([1])
    operands = ints([0] if is_unary else [0, 0])
    builder.StartObject(2)
    options = builder.EndObject()
    builder.StartObject(9)
    builder.PrependUOffsetTRelativeSlot(1, operands, 0)
    builder.PrependUOffsetTRelativeSlot(2, results, 0)
    if not is_unary:
        builder.PrependUint8Slot(3, 11, 0)
        builder.PrependUOffsetTRelativeSlot(4, options, 0)
    operators = offsets([builder.EndObject()])
    builder.StartObject(5)
    builder.PrependUOffsetTRelativeSlot(0, tensors, 0)
    builder.PrependUOffsetTRelativeSlot(1, inputs, 0)
    builder.PrependUOffsetTRelativeSlot(2, outputs, 0)
    builder.PrependUOffsetTRelativeSlot(3, operators, 0)
    subgraphs = offsets([builder.EndObject()])
    builder.StartObject(4)
    if custom_operator:
        builder.PrependInt8Slot(0, 32, 0)
        builder.PrependUOffsetTRelativeSlot(1, name, 0)
        builder.PrependInt32Slot(3, 32, 0)
    elif code:
        builder.PrependInt8Slot(0, code, 0)
        builder.PrependInt32Slot(3, code, 0)
    codes = offsets([builder.EndObject()])
    builder.StartObject(1)
    buffers = offsets([builder.EndObject()])
    builder.StartObject(8)
    builder.PrependUint32Slot(0, 3, 0)
    builder.PrependUOffsetTRelativeSlot(1, codes, 0)
    builder.PrependUOffsetTRelativeSlot(2, subgraphs, 0)
    builder.PrependUOffsetTRelativeSlot(4, buffers, 0)
    builder.Finish(builder.EndObject(), b"TFL3")
    return bytes(builder.Output())


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

    def test_memory_of_a_client_is_for_inputs_and_outputs(self):
        """The engine plans that of other tensors, and the function of C says so."""
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
        self.assertEqual([0, 0, 1], statuses)
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
        with self.assertRaisesRegex(ValueError, "does not fit"):
            self.interpreter.resize_tensor_input(self.x, [3, 5], strict=True)
        with self.assertRaises(ValueError):
            self.interpreter.resize_tensor_input(self.x, [3, -1])

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
        with self.assertRaisesRegex(ValueError, "Failed to load delegate from libedgetpu.so.1"):
            load_delegate("libedgetpu.so.1")
        for kind in OpResolverType:
            Interpreter(model_content=content, experimental_op_resolver_type=kind)

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

    def test_a_second_thread_is_refused_or_waits(self):
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
        for text in results:
            self.assertRegex(text, "in use by another call|at least 1 reference")


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
