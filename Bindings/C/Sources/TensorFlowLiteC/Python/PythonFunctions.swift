// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A `PyObject *`.
typealias PythonObject = UnsafeMutableRawPointer

/// The functions of CPython that this library calls, which every CPython exports from 3.9 on. They are looked up in the process, so the
/// library itself links with no Python.
struct PythonFunctions: @unchecked Sendable {
  typealias Destructor = @convention(c) (PythonObject?) -> Void

  let makeMethod: @convention(c) (PythonObject, UnsafeMutableRawPointer) -> PythonObject?
  let makeCapsule: @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>, Destructor) -> PythonObject?
  let capsulePointer: @convention(c) (PythonObject, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?
  let makeName: @convention(c) (UnsafePointer<CChar>) -> PythonObject?
  let attribute: @convention(c) (PythonObject, PythonObject) -> PythonObject?
  let index: @convention(c) (PythonObject, PythonObject?) -> Int
  let makeInteger: @convention(c) (Int) -> PythonObject?
  let error: @convention(c) () -> PythonObject?
  let clearError: @convention(c) () -> Void
  let setCount: @convention(c) (PythonObject) -> Int
  let saveThread: @convention(c) () -> UnsafeMutableRawPointer?
  let restoreThread: @convention(c) (UnsafeMutableRawPointer?) -> Void
  let makeTuple: @convention(c) (Int) -> PythonObject?
  /// Takes over the reference to the element.
  let setElement: @convention(c) (PythonObject, Int, PythonObject?) -> CInt
  /// The tuple keeps the reference that this returns.
  let element: @convention(c) (PythonObject, Int) -> PythonObject?
  let elementCount: @convention(c) (PythonObject) -> Int
  let makeDictionary: @convention(c) () -> PythonObject?
  let setValue: @convention(c) (PythonObject, PythonObject, PythonObject) -> CInt
  let call: @convention(c) (PythonObject, PythonObject, PythonObject?) -> PythonObject?
  let callWithoutArguments: @convention(c) (PythonObject) -> PythonObject?
  let retain: @convention(c) (PythonObject?) -> Void
  let release: @convention(c) (PythonObject?) -> Void

  init() throws(Refusal) {
    makeMethod = try Self.function("PyDescr_NewMethod")
    makeCapsule = try Self.function("PyCapsule_New")
    capsulePointer = try Self.function("PyCapsule_GetPointer")
    makeName = try Self.function("PyUnicode_InternFromString")
    attribute = try Self.function("PyObject_GetAttr")
    index = try Self.function("PyNumber_AsSsize_t")
    makeInteger = try Self.function("PyLong_FromSsize_t")
    error = try Self.function("PyErr_Occurred")
    clearError = try Self.function("PyErr_Clear")
    setCount = try Self.function("PySet_Size")
    saveThread = try Self.function("PyEval_SaveThread")
    restoreThread = try Self.function("PyEval_RestoreThread")
    makeTuple = try Self.function("PyTuple_New")
    setElement = try Self.function("PyTuple_SetItem")
    element = try Self.function("PyTuple_GetItem")
    elementCount = try Self.function("PyTuple_Size")
    makeDictionary = try Self.function("PyDict_New")
    setValue = try Self.function("PyDict_SetItem")
    call = try Self.function("PyObject_Call")
    callWithoutArguments = try Self.function("PyObject_CallNoArgs")
    retain = try Self.function("Py_IncRef")
    release = try Self.function("Py_DecRef")
  }

  private static func function<T>(_ name: String) throws(Refusal) -> T {
    guard let address = dlsym(dlopen(nil, RTLD_NOW), name) else {
      throw Refusal("this process has no function \(name)")
    }
    return unsafeBitCast(address, to: T.self)
  }

  /// A tuple of these objects, to which it has references of its own; nil with an error of Python's if there is no memory.
  func tuple(_ objects: [PythonObject]) -> PythonObject? {
    guard let tuple = makeTuple(objects.count) else { return nil }
    for (position, object) in objects.enumerated() {
      retain(object)
      _ = setElement(tuple, position, object)
    }
    return tuple
  }
}
