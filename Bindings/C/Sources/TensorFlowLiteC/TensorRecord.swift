// SPDX-License-Identifier: Apache-2.0

import Apus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A `TfLiteTensor`: the structure whose fields clients read, and the memory that it points to.
///
/// A client's writes to the fields have no effect, so a broken field cannot break the library. The elements
/// are in memory of the record's own, or in memory that the client lends.
final class TensorRecord: HandleObject, @unchecked Sendable {
  static let typeName = "TfLiteTensor"

  /// The structure.
  let structure: UnsafeMutableRawPointer
  /// The description of its tensor.
  let tensor: TensorDescription
  /// Where messages about it go.
  let reporter: ErrorReporter
  /// Kept while a call reads or writes the record.
  let exclusion: Exclusion

  /// The sizes of its dimensions.
  private(set) var dimensions: [Int32] = []
  /// The bytes of its elements.
  private(set) var byteCount = 0
  /// Its elements; nil before they have memory.
  private(set) var data: UnsafeMutableRawPointer?
  /// Counts the changes of the shape and of the place of the elements.
  private(set) var revision = 0
  /// Memory of a client for the elements, and its size.
  private(set) var lent: UnsafeMutableRawBufferPointer?

  private let ownsStructure: Bool
  private var owned: UnsafeMutableRawPointer?
  private var ownedByteCount = 0
  private var dims: UnsafeMutableRawPointer?
  /// The name as clients read it.
  let cName: UnsafeMutablePointer<CChar>?
  private let parameters: TensorParameters

  /// Makes the structure of a tensor, without memory for its elements.
  ///
  /// - Parameters:
  ///   - tensor: What it describes.
  ///   - shape: Its shape.
  ///   - structure: Where the structure lies: ``TensorLayout/size`` zeroed bytes that outlive the record; nil for memory of its own.
  init(
    _ tensor: TensorDescription, shape: TensorShape, structure: UnsafeMutableRawPointer? = nil,
    reporter: ErrorReporter,
    exclusion: Exclusion
  ) throws(Refusal) {
    self.tensor = tensor
    self.reporter = reporter
    self.exclusion = exclusion
    ownsStructure = structure == nil
    parameters = try TensorParameters(tensor)
    guard let memory = structure ?? StructureMemory.shared.allocate(TensorLayout.size) else {
      parameters.release()
      throw Refusal("the system refuses memory for a tensor")
    }
    self.structure = memory
    cName = strdup(tensor.name)
    memory.storeBytes(of: tensor.type.code, toByteOffset: TensorLayout.type, as: Int32.self)
    memory.storeBytes(of: cName, toByteOffset: TensorLayout.name, as: UnsafeMutablePointer<CChar>?.self)
    memory.storeBytes(of: -1, toByteOffset: TensorLayout.bufferHandle, as: Int32.self)
    memory.storeBytes(of: tensor.isVariable, toByteOffset: TensorLayout.isVariable, as: Bool.self)
    memory.storeBytes(
      of: parameters.signature, toByteOffset: TensorLayout.dimsSignature, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: parameters.quantization == nil ? 0 : 1, toByteOffset: TensorLayout.quantizationType, as: Int32.self)
    memory.storeBytes(
      of: parameters.quantization, toByteOffset: TensorLayout.quantizationParameters,
      as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(
      of: parameters.sparsity, toByteOffset: TensorLayout.sparsity, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(of: scaleAndZeroPoint.scale, toByteOffset: TensorLayout.scale, as: Float.self)
    memory.storeBytes(of: scaleAndZeroPoint.zeroPoint, toByteOffset: TensorLayout.zeroPoint, as: Int32.self)
    setAllocation(tensor.isConstant ? .constant : tensor.isVariable ? .variable : .arena)
    try setShape(shape)
    HandleTable.shared.add(self, at: memory)
  }

  /// Takes the pointer out of the table, so that clients' copies of it are refused from now on.
  func retire() { HandleTable.shared.remove(structure) }

  deinit {
    free(owned)
    free(dims)
    free(cName)
    parameters.release()
    if ownsStructure { StructureMemory.shared.release(structure, TensorLayout.size) }
  }

  /// The values of `TfLiteAllocationType` that tensors have here.
  enum Allocation: Int32 {
    case constant = 1
    case arena = 2
    case variable = 3
    case dynamic = 4
    case custom = 6
  }

  /// How its memory is allocated.
  private(set) var allocation = Allocation.arena

  /// Says how its memory is allocated.
  func setAllocation(_ allocation: Allocation) {
    self.allocation = allocation
    structure.storeBytes(of: allocation.rawValue, toByteOffset: TensorLayout.allocationType, as: Int32.self)
  }

  /// The scale and zero point of the whole tensor; zeros if it has none, or one for each channel.
  var scaleAndZeroPoint: (scale: Float, zeroPoint: Int32) {
    guard let quantization = tensor.quantization, !quantization.isPerChannel else { return (0, 0) }
    return (quantization.scale, Int32(truncatingIfNeeded: quantization.zeroPoint))
  }

  // MARK: Shape and memory

  /// Changes the shape. The elements lose their memory if it is another.
  func setShape(_ shape: TensorShape) throws(Refusal) {
    let wanted = shape.dimensions.map { Int32(clamping: $0) }
    guard wanted != dimensions || dims == nil else { return }
    guard let bytes = tensor.type.cByteCount(shape.elementCount), let array = CArrays.make(wanted) else {
      throw Refusal("\(tensor.name): \(shape) has too many elements")
    }
    free(dims)
    dims = array
    dimensions = wanted
    revision += 1
    byteCount = bytes
    structure.storeBytes(of: array, toByteOffset: TensorLayout.dims, as: UnsafeMutableRawPointer.self)
    structure.storeBytes(of: bytes, toByteOffset: TensorLayout.bytes, as: Int.self)
    setData(nil)
  }

  /// Points to elements, or to none.
  func setData(_ data: UnsafeMutableRawPointer?) {
    if data != self.data { revision += 1 }
    self.data = data
    structure.storeBytes(of: data, toByteOffset: TensorLayout.data, as: UnsafeMutableRawPointer?.self)
  }

  /// Gives the elements memory: the client's, or zeroed memory of their own.
  func allocate() throws(Refusal) {
    guard tensor.type.byteCount != nil else { return setData(nil) }
    if let lent {
      guard lent.count >= byteCount else {
        throw Refusal("\(tensor.name) takes \(byteCount) bytes; the memory of the client has \(lent.count)")
      }
      return setData(lent.baseAddress)
    }
    if owned == nil || ownedByteCount < byteCount || ownedByteCount / 2 > byteCount {
      free(owned)
      owned = nil
      setData(nil)
      // A whole number of lines, as aligned memory must have; the last one stays readable for vectors.
      let count = (byteCount / 64 + 2) * 64
      guard let memory = aligned_alloc(64, count) else {
        throw Refusal("the system refuses \(count) bytes for \(tensor.name)")
      }
      memset(memory, 0, count)
      owned = memory
      ownedByteCount = byteCount
    }
    setData(owned)
  }

  /// Takes memory of a client for the elements from the next allocation on.
  func lend(_ memory: UnsafeMutableRawBufferPointer) {
    lent = memory
    setAllocation(.custom)
  }

  /// The elements' bytes; nil before they have memory.
  var bytes: UnsafeMutableRawBufferPointer? {
    data.map { UnsafeMutableRawBufferPointer(start: $0, count: byteCount) }
  }

  /// Copies a client's bytes into the elements.
  func copy(from source: UnsafeRawPointer?, count: Int) throws(Refusal) {
    let bytes = try checkedBytes(count)
    guard count > 0, let base = bytes.baseAddress else { return }
    guard let source else { throw Refusal("\(tensor.name): the data to copy are NULL") }
    memmove(base, source, count)
  }

  /// Copies the elements' bytes to a client.
  func copy(to target: UnsafeMutableRawPointer?, count: Int) throws(Refusal) {
    let bytes = try checkedBytes(count)
    guard count > 0, let base = bytes.baseAddress else { return }
    guard let target else { throw Refusal("\(tensor.name): the memory to copy to is NULL") }
    memmove(target, base, count)
  }

  private func checkedBytes(_ count: Int) throws(Refusal) -> UnsafeMutableRawBufferPointer {
    guard tensor.type.byteCount != nil else {
      throw Refusal("\(tensor.name) is \(tensor.type), which is not plain bytes")
    }
    guard count == byteCount else { throw Refusal("\(tensor.name) has \(byteCount) bytes, not \(count)") }
    guard let bytes else {
      throw Refusal("\(tensor.name) has no data yet: call AllocateTensors, and Invoke for results")
    }
    return bytes
  }
}
