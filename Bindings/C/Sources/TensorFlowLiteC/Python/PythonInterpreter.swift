// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An interpreter, and its inputs and outputs as numpy arrays, for the methods of ``PythonMethods``.
final class PythonInterpreter {
  let handle: InterpreterHandle
  private let tensors: [PythonTensor]
  /// Positions in `tensors` by the tensor's index, plus 1; 0 for tensors that are neither inputs nor outputs.
  private let positions: [Int32]
  /// A set of Python's that is empty unless the program has arrays of the interpreter's memory.
  private let arrays: PythonObject
  /// A set of Python's that is empty unless a call of the package's own methods waits for its turn or has it.
  private let callers: PythonObject
  private let methods: PythonMethods

  init(
    _ handle: InterpreterHandle, arrays: PythonObject, callers: PythonObject, _ methods: PythonMethods
  ) throws(Refusal) {
    self.handle = handle
    self.arrays = arrays
    self.callers = callers
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
    methods.python.retain(callers)
  }

  /// Gives back the references to Python's objects. The caller has Python's lock.
  func clear() {
    for tensor in tensors { tensor.clear(methods.python) }
    methods.python.release(arrays)
    methods.python.release(callers)
  }

  /// An input or output, by its index in the model.
  @inline(__always)
  func tensor(_ index: Int) -> PythonTensor? {
    guard index >= 0, index < positions.count, positions[index] > 0 else { return nil }
    return tensors[Int(positions[index]) - 1]
  }

  /// Whether no call of the package's own methods waits for its turn or has it: such a call comes first.
  private var isFree: Bool { methods.python.setCount(callers) == 0 }

  /// Copies an array into an input; false if that takes more than a copy of bytes.
  func set(_ index: Int, to value: PythonObject) -> Bool {
    guard isFree, let tensor = tensor(index), tensor.isInput else { return false }
    let value = ArrayLayout(value)
    guard value.type == methods.arrayType else { return false }
    return handle.exclusion.runIfFree {
      guard let array = tensor.currentArray(methods), value.isContiguous, let source = value.data,
        value.matches(ArrayLayout(array)), let target = tensor.record.data
      else { return false }
      memmove(target, source, tensor.record.byteCount)
      return true
    } ?? false
  }

  /// Copies a tensor's elements into a new array, which is a reference of the caller's; nil if that takes more.
  ///
  /// The tensor stays as it is until the copy is complete, also where numpy lets other threads of Python run meanwhile.
  func copy(_ index: Int) -> PythonObject? {
    guard isFree, let tensor = tensor(index) else { return nil }
    return handle.exclusion.runIfFree {
      // A tensor without dimensions is a number, not an array.
      guard let array = tensor.currentArray(methods), ArrayLayout(array).rank > 0,
        let method = tensor.copyMethod
      else { return nil }
      let copy = methods.python.callWithoutArguments(method)
      if copy == nil { methods.python.clearError() }
      return copy
    } ?? nil
  }

  /// Runs the model while other threads of Python run; nil if that takes more.
  func invoke() -> Int32? {
    // A run would change what the program looks at.
    guard isFree, methods.python.setCount(arrays) == 0 else { return nil }
    // Taken with Python's lock, so that a call of the package's own methods finds the interpreter in use.
    return handle.exclusion.runIfFree {
      let thread = methods.python.saveThread()
      defer { methods.python.restoreThread(thread) }
      do throws(Refusal) {
        try handle.invoke(handle.main)
        return Status.ok
      } catch {
        handle.reporter.report(error.message)
        return error.status
      }
    }
  }
}
