// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the methods of ``PythonMethods`` work on: an interpreter, and its inputs and outputs as numpy arrays.
final class PythonInterpreter {
  let handle: InterpreterHandle
  private let tensors: [PythonTensor]
  /// Positions in `tensors` by the tensor's index, plus 1; 0 for tensors that are neither inputs nor outputs.
  private let positions: [Int32]
  /// A set of Python's that is empty unless the program has arrays of the interpreter's memory.
  private let arrays: PythonObject
  private let methods: PythonMethods

  init(_ handle: InterpreterHandle, arrays: PythonObject, _ methods: PythonMethods) throws(Refusal) {
    self.handle = handle
    self.arrays = arrays
    self.methods = methods
    let session = handle.main
    var positions = [Int32](repeating: 0, count: session.tensors.count)
    var tensors: [PythonTensor] = []
    for (indices, isInput) in [(session.inputIndices, true), (session.outputIndices, false)] {
      for (position, index) in indices.enumerated() where positions[index] == 0 {
        let record = isInput ? try session.input(position) : try session.output(position)
        tensors.append(PythonTensor(record, isInput: isInput))
        positions[index] = Int32(clamping: tensors.count)
      }
    }
    self.tensors = tensors
    self.positions = positions
    methods.python.retain(arrays)
  }

  /// Gives back the references to Python's objects. The caller has Python's lock.
  func clear() {
    for tensor in tensors { tensor.clear(methods.python) }
    methods.python.release(arrays)
  }

  /// An input or output, by its index in the model.
  @inline(__always)
  func tensor(_ index: Int) -> PythonTensor? {
    guard index >= 0, index < positions.count, positions[index] > 0 else { return nil }
    return tensors[Int(positions[index]) - 1]
  }

  /// Whether the program has no array of the interpreter's memory, so that a run changes nothing that it looks at.
  var isSafeToRun: Bool { methods.python.setCount(arrays) == 0 }

  /// Copies an array into an input; false if that takes more than a copy of bytes.
  func set(_ index: Int, to value: PythonObject) -> Bool {
    guard let tensor = tensor(index), tensor.isInput else { return false }
    let value = ArrayLayout(value)
    guard value.type == methods.arrayType, value.isContiguous, let source = value.data else { return false }
    let done = handle.exclusion.runIfFree {
      guard tensor.isCurrent, let array = tensor.array, value.matches(ArrayLayout(array)),
        let target = tensor.record.data
      else { return false }
      memmove(target, source, tensor.record.byteCount)
      return true
    }
    if done == false { refresh(tensor) }
    return done ?? false
  }

  /// A method of Python's that copies a tensor's elements into a new array, as a reference of the caller's; nil if that takes more.
  func copyMethod(_ index: Int) -> PythonObject? {
    guard let tensor = tensor(index) else { return nil }
    let method = handle.exclusion.runIfFree { tensor.isCurrent ? tensor.copyMethod : nil }
    guard let method = method ?? nil else {
      refresh(tensor)
      return nil
    }
    methods.python.retain(method)
    return method
  }

  /// Asks for an array for a tensor that has none for its present memory, so that the next call finds it.
  private func refresh(_ tensor: PythonTensor) {
    let isCurrent = handle.exclusion.runIfFree { tensor.isCurrent }
    if isCurrent == false { tensor.refresh(methods) }
  }

  /// Runs the model while other threads of Python run.
  func invoke() -> Int32 {
    let thread = methods.python.saveThread()
    defer { methods.python.restoreThread(thread) }
    do throws(Refusal) {
      try handle.exclusion.run { () throws(Refusal) in try handle.invoke(handle.main) }
      return Status.ok
    } catch {
      handle.reporter.report(error.message)
      return error.status
    }
  }
}
