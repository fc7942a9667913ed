// SPDX-License-Identifier: Apache-2.0

/// An input or output, and the numpy array that shows its elements. Python's lock and the interpreter's ``Exclusion`` protect it.
final class PythonTensor {
  let record: TensorRecord
  let isInput: Bool

  /// The array; nil if there is none for the record's present memory.
  private(set) var array: PythonObject?
  /// The array's method `copy`.
  private(set) var copyMethod: PythonObject?
  /// The record's revision for which the array was made.
  private var revision = -1

  init(_ record: TensorRecord, isInput: Bool) {
    self.record = record
    self.isInput = isInput
  }

  /// Gives back the references to Python's objects. The caller has Python's lock.
  func clear(_ python: PythonFunctions) {
    let old = (array, copyMethod)
    (array, copyMethod) = (nil, nil)
    python.release(old.0)
    python.release(old.1)
  }

  /// An array that shows the record's present memory; nil if there is none. The caller keeps other calls from the record.
  @inline(__always)
  func currentArray(_ methods: PythonMethods) -> PythonObject? {
    if array == nil || revision != record.revision { refresh(methods) }
    return revision == record.revision ? array : nil
  }

  /// Asks for an array for the record's present memory. Other threads of Python may run meanwhile.
  private func refresh(_ methods: PythonMethods) {
    let python = methods.python
    let revision = record.revision
    guard record.data != nil, record.byteCount > 0,
      let address = python.makeInteger(Int(bitPattern: record.structure))
    else { return python.clearError() }
    defer { python.release(address) }
    guard let arguments = python.tuple([address]) else { return python.clearError() }
    defer { python.release(arguments) }
    guard let shown = python.call(methods.show, arguments, nil) else { return python.clearError() }
    let layout = ArrayLayout(shown)
    guard layout.type == methods.arrayType, layout.isContiguous,
      layout.data == record.data.map({ UnsafeRawPointer($0) }),
      let copy = python.attribute(shown, methods.copyName)
    else {
      python.clearError()
      return python.release(shown)
    }
    let old = (array, copyMethod)
    (array, copyMethod, self.revision) = (shown, copy, revision)
    python.release(old.0)
    python.release(old.1)
  }
}
