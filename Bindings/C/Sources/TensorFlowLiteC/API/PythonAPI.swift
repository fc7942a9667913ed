// SPDX-License-Identifier: Apache-2.0

// The functions that the Python package calls with Python's lock, and with objects of its own.

/// Makes the methods `set_tensor`, `get_tensor` and `invoke` of a class: a tuple, or `NULL` where this Python is not one that they work in.
///
/// - Parameters:
///   - type: The class.
///   - functions: A tuple of what the methods call: the methods in Python, a function that raises the error of a run that failed, one that
///     makes an array which shows the elements of a `TfLiteTensor`, and `None`.
///   - array: An array of numpy's.
///   - fields: What Python says of the array: the addresses of its type, elements and element type, whether it is contiguous, its shape.
///   - count: How many fields there are.
@c(ApusPythonMethodsCreate)
public func pythonMethodsCreate(
  _ type: UnsafeMutableRawPointer?, _ functions: UnsafeMutableRawPointer?,
  _ array: UnsafeMutableRawPointer?, _ fields: UnsafePointer<Int>?, _ count: Int
) -> UnsafeMutableRawPointer? {
  guard let type, let functions, let array, let fields, count > 4 else { return nil }
  let fits = ArrayLayout(array).fits(
    type: fields[0], data: fields[1], shape: (4..<count).map { fields[$0] }, elementType: fields[2],
    isContiguous: fields[3] != 0)
  guard fits, let arrayType = UnsafeRawPointer(bitPattern: fields[0]) else { return nil }
  return try? PythonMethods.make(class: type, functions: functions, arrayType: arrayType)
}

/// Makes what the methods need of an interpreter: a capsule, which the object of the class keeps as its attribute `_state`; `NULL` if there
/// are no methods.
///
/// - Parameters:
///   - interpreter: The `TfLiteInterpreter`.
///   - arrays: A set that is empty unless the program has arrays of the interpreter's memory.
///   - callers: A set that is empty unless a call of the package's own methods waits for its turn or has it.
@c(ApusPythonInterpreterCreate)
public func pythonInterpreterCreate(
  _ interpreter: OpaquePointer?, _ arrays: UnsafeMutableRawPointer?, _ callers: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
  guard let methods = PythonMethods.shared, let arrays, let callers else { return nil }
  return call(interpreter, InterpreterHandle.self, failure: nil, reporter: \.reporter) {
    handle throws(Refusal) in
    methods.capsule(try PythonInterpreter(handle, arrays: arrays, callers: callers, methods))
  }
}

/// Which thread is in a call of an interpreter: 0 for none, 1 for another one, 2 for the caller's own.
@c(ApusPythonInterpreterGetUser)
public func pythonInterpreterUser(_ interpreter: OpaquePointer?) -> Int32 {
  call(interpreter, InterpreterHandle.self, failure: 0, reporter: \.reporter) { $0.exclusion.user.rawValue }
}
