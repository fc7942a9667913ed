// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The methods `set_tensor`, `get_tensor` and `invoke` of the Python package's class, without ctypes and Python's own code on the way.
///
/// They do the usual: arrays of the tensor's type and shape. For the rest they call the package's own methods, which report every error.
final class PythonMethods: @unchecked Sendable {
  /// The process's methods. Python's lock protects the variable, which is set once.
  nonisolated(unsafe) private(set) static var shared: PythonMethods?

  let python: PythonFunctions
  /// The package's functions: the methods in Python, a function that raises the error of a run that failed, and one that makes an array
  /// which shows the elements of a `TfLiteTensor`, by its address.
  let setTensor: PythonObject, getTensor: PythonObject, invoke: PythonObject
  let fail: PythonObject, show: PythonObject
  /// `None`.
  let none: PythonObject
  /// The type of numpy's arrays.
  let arrayType: UnsafeRawPointer
  /// The name of the attribute of the package's class that keeps the ``PythonInterpreter``, and of an array's method.
  let stateName: PythonObject, copyName: PythonObject

  /// The name of capsules with a ``PythonInterpreter``.
  private static let capsuleName: StaticString = "apus_tflite.PythonInterpreter"
  private static var capsuleNamePointer: UnsafePointer<CChar> {
    UnsafeRawPointer(capsuleName.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private init(functions: PythonObject, arrayType: UnsafeRawPointer, _ python: PythonFunctions)
    throws(Refusal)
  {
    func element(_ position: Int) throws(Refusal) -> PythonObject {
      guard let element = python.element(functions, position) else {
        python.clearError()
        throw Refusal("the tuple of functions has \(python.elementCount(functions)) elements, not 6")
      }
      return element
    }
    self.python = python
    self.arrayType = arrayType
    setTensor = try element(0)
    getTensor = try element(1)
    invoke = try element(2)
    fail = try element(3)
    show = try element(4)
    none = try element(5)
    guard let stateName = python.makeName("_state"), let copyName = python.makeName("copy") else {
      python.clearError()
      throw Refusal("Python has no memory for names")
    }
    self.stateName = stateName
    self.copyName = copyName
    // The tuple, and all in it, stays for the life of the process.
    python.retain(functions)
  }

  /// Makes the methods of a class, once in a process: a tuple of them.
  static func make(
    class type: PythonObject, functions: PythonObject, arrayType: UnsafeRawPointer
  ) throws(Refusal) -> PythonObject {
    guard shared == nil else { throw Refusal("the methods were made before") }
    let methods = try PythonMethods(functions: functions, arrayType: arrayType, PythonFunctions())
    let made = try [
      method(
        of: type, "set_tensor", "($self, tensor_index, value)", "Copies an array into an input.", .keywords,
        unsafeBitCast(callSetTensor, to: UnsafeRawPointer.self), methods.python),
      method(
        of: type, "get_tensor", "($self, tensor_index, subgraph_index=0)", "A copy of a tensor's elements.",
        .keywords, unsafeBitCast(callGetTensor, to: UnsafeRawPointer.self), methods.python),
      method(
        of: type, "invoke", "($self)", "Computes the outputs. Other threads of Python run meanwhile.",
        .noArguments, unsafeBitCast(callInvoke, to: UnsafeRawPointer.self), methods.python),
    ]
    defer { for method in made { methods.python.release(method) } }
    guard let tuple = methods.python.tuple(made) else {
      methods.python.clearError()
      throw Refusal("Python has no memory for methods")
    }
    shared = methods
    return tuple
  }

  /// How Python passes a method's arguments.
  private enum Convention: Int32 {
    /// `METH_NOARGS`
    case noArguments = 0x04
    /// `METH_FASTCALL | METH_KEYWORDS`
    case keywords = 0x82
  }

  /// A method of a class. Its `PyMethodDef` (name, function, flags, documentation) stays for the life of the process.
  private static func method(
    of type: PythonObject, _ name: String, _ signature: String, _ text: String, _ convention: Convention,
    _ function: UnsafeRawPointer, _ python: PythonFunctions
  ) throws(Refusal) -> PythonObject {
    let definition = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)
    definition.storeBytes(of: strdup(name), as: UnsafeMutablePointer<CChar>?.self)
    definition.storeBytes(of: function, toByteOffset: 8, as: UnsafeRawPointer.self)
    definition.storeBytes(of: Int(convention.rawValue), toByteOffset: 16, as: Int.self)
    definition.storeBytes(
      of: strdup("\(name)\(signature)\n--\n\n\(text)"), toByteOffset: 24,
      as: UnsafeMutablePointer<CChar>?.self)
    guard let method = python.makeMethod(type, definition) else {
      python.clearError()
      throw Refusal("Python refuses the method \(name)")
    }
    return method
  }

  /// A capsule with an interpreter, which goes with the capsule.
  func capsule(_ interpreter: PythonInterpreter) -> PythonObject? {
    let retained = Unmanaged.passRetained(interpreter)
    let capsule = python.makeCapsule(retained.toOpaque(), Self.capsuleNamePointer) { capsule in
      guard let capsule, let methods = PythonMethods.shared,
        let pointer = methods.python.capsulePointer(capsule, PythonMethods.capsuleNamePointer)
      else { return }
      let interpreter = Unmanaged<PythonInterpreter>.fromOpaque(pointer)
      interpreter.takeUnretainedValue().clear()
      interpreter.release()
    }
    if capsule == nil { retained.release() }
    return capsule
  }

  /// Does something with the interpreter of an object of the package's class; nil if it has none.
  @inline(__always)
  func withInterpreter<R>(of object: PythonObject, _ body: (PythonInterpreter) -> R?) -> R? {
    guard let capsule = python.attribute(object, stateName) else {
      python.clearError()
      return nil
    }
    defer { python.release(capsule) }
    guard capsule != none, let pointer = python.capsulePointer(capsule, Self.capsuleNamePointer) else {
      python.clearError()
      return nil
    }
    return Unmanaged<PythonInterpreter>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
  }

  /// An index that a program passes; nil if it is no integer.
  @inline(__always)
  func index(_ object: PythonObject?) -> Int? {
    guard let object else { return nil }
    // A number beyond Int is the nearest one.
    let index = python.index(object, nil)
    if index == -1, python.error() != nil {
      python.clearError()
      return nil
    }
    return index
  }

  /// Calls a method in Python with the arguments that another one received: values by position, then those whose names are in a tuple.
  func call(
    _ function: PythonObject, _ object: PythonObject, _ arguments: UnsafePointer<PythonObject?>?,
    _ count: Int,
    names: PythonObject?
  ) -> PythonObject? {
    guard let tuple = python.tuple([object] + (0..<count).compactMap { arguments?[$0] }) else { return nil }
    defer { python.release(tuple) }
    guard let names, let dictionary = python.makeDictionary() else {
      return names == nil ? python.call(function, tuple, nil) : nil
    }
    defer { python.release(dictionary) }
    for position in 0..<python.elementCount(names) {
      guard let name = python.element(names, position), let value = arguments?[count + position],
        python.setValue(dictionary, name, value) == 0
      else { return nil }
    }
    return python.call(function, tuple, dictionary)
  }
}

/// A method with `METH_FASTCALL | METH_KEYWORDS`: the object, its arguments, how many have no name, and the names of the rest.
private typealias MethodWithKeywords =
  @convention(c) (PythonObject?, UnsafePointer<PythonObject?>?, Int, PythonObject?) -> PythonObject?

/// A method with `METH_NOARGS`.
private typealias MethodWithoutArguments = @convention(c) (PythonObject?, PythonObject?) -> PythonObject?

private let callSetTensor: MethodWithKeywords = { object, arguments, count, names in
  guard let object, let methods = PythonMethods.shared else { return nil }
  if count == 2, names == nil, let arguments, let value = arguments[1],
    let index = methods.index(arguments[0]),
    methods.withInterpreter(of: object, { $0.set(index, to: value) }) == true
  {
    methods.python.retain(methods.none)
    return methods.none
  }
  return methods.call(methods.setTensor, object, arguments, count, names: names)
}

private let callGetTensor: MethodWithKeywords = { object, arguments, count, names in
  guard let object, let methods = PythonMethods.shared else { return nil }
  if count == 1, names == nil, let arguments, let index = methods.index(arguments[0]),
    let copy = methods.withInterpreter(of: object, { $0.copy(index) })
  {
    return copy
  }
  return methods.call(methods.getTensor, object, arguments, count, names: names)
}

private let callInvoke: MethodWithoutArguments = { object, _ in
  guard let object, let methods = PythonMethods.shared else { return nil }
  let status = methods.withInterpreter(of: object) { $0.invoke() }
  guard let status else { return methods.call(methods.invoke, object, nil, 0, names: nil) }
  if status == Status.ok {
    methods.python.retain(methods.none)
    return methods.none
  }
  return methods.call(methods.fail, object, nil, 0, names: nil)
}
