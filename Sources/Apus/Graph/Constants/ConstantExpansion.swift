// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Finds the bytes of a file's constants: in the file's memory if they can be read there, otherwise in new
/// memory.
struct ConstantExpansion {
  /// Identifies expanded bytes, which several tensors can share.
  private struct Key: Hashable {
    let range: Range<Int>
    let type: ElementType
    let count: Int
  }

  private let file: ModelFile
  private var expanded: [Key: Constant] = [:]
  private var byteCount = 0
  /// The maximum size of all copies, in bytes: a file can refer to the same bytes any number of times.
  private let limit: Int
  private var sparseByteCount = 0
  /// The maximum size of all sparse tensors with their zeros, in bytes: a few indices can describe any number of zeros.
  private let sparseLimit: Int

  /// The limit of copies if buffers overlap.
  private static let maximumCopiedBytes = 1 << 29
  /// The limit of sparse tensors for files of any size.
  private static let maximumSparseBytes = 1 << 29

  init(_ file: ModelFile) {
    self.file = file
    // Two bits become a byte, and buffers may overlap: by much in small files, not at all in large ones.
    limit = 65_536 + min(8 * file.bytes.count, max(4 * file.bytes.count, Self.maximumCopiedBytes))
    sparseLimit = min((1 << 20) + 64 * file.bytes.count, Self.maximumSparseBytes)
  }

  /// A tensor's values, if the file has any. Misaligned, packed and unclean values are expanded once.
  mutating func constant(of tensor: TensorEntry) throws(ApusError) -> Constant? {
    guard let range = tensor.data else { return nil }
    let type = ElementType(tensor.type)
    guard let width = type.byteCount else { return nil }
    if let sparsity = tensor.sparsity {
      try require(range)
      return try dense(tensor, sparsity, range, type, width: width)
    }
    let base = unsafe file.bytes.baseAddress + range.lowerBound
    let isAligned = UInt(bitPattern: base) % UInt(min(width, 8)) == 0
    if !type.isPacked, type != .bool, isAligned {
      let isUnread = !file.areUnread.isEmpty && file.areUnread[tensor.buffer]
      return unsafe Constant(
        isUnread ? .unread(file.bytes, range) : .inPlace(base, owner: file.bytes), byteCount: range.count,
        isOfModel: true)
    }
    let count = type.isPacked ? TensorShape(tensor.shape).elementCount : range.count
    let key = Key(range: range, type: type, count: count)
    if let known = expanded[key] { return known }
    guard count <= limit - byteCount else {
      throw ApusError(
        .malformedModel,
        "tensor \(tensor.name.brief): constants that must be copied take more than \(limit) bytes")
    }
    byteCount += count
    try require(range)
    let constant = try expand(range, type, count: count)
    expanded[key] = constant
    return constant
  }

  private func require(_ range: Range<Int>) throws(ApusError) {
    do { try file.bytes.require(range) } catch { throw ApusError(.unreadableFile, error.message) }
  }

  /// A sparse tensor's values, zeros included.
  private mutating func dense(
    _ tensor: TensorEntry, _ sparsity: SparsityEntry, _ range: Range<Int>, _ type: ElementType, width: Int
  ) throws(ApusError) -> Constant? {
    // The reference does not densify packed types.
    guard !type.isPacked else { return nil }
    let (byteCount, overflow) = TensorShape(tensor.shape).elementCount.multipliedReportingOverflow(by: width)
    guard !overflow, byteCount <= sparseLimit - sparseByteCount else {
      throw ApusError(
        sparseLimit == Self.maximumSparseBytes ? .resourceLimit : .malformedModel,
        "tensor \(tensor.name.brief): sparse constants of \(TensorShape(tensor.shape)) take more than \(sparseLimit) bytes"
      )
    }
    guard let layout = SparseLayout(sparsity, shape: tensor.shape) else {
      throw ApusError(
        .malformedModel, "tensor \(tensor.name.brief): sparsity does not fit \(TensorShape(tensor.shape))")
    }
    sparseByteCount += byteCount
    let memory = try TensorMemory(byteCount: byteCount)
    let isComplete = unsafe file.bytes.withUnsafeBytes { bytes in
      unsafe layout.expand(
        UnsafeRawBufferPointer(rebasing: bytes[range]), width: width,
        into: UnsafeMutableRawBufferPointer(start: memory.base, count: byteCount))
    }
    guard isComplete else {
      throw ApusError(
        .malformedModel, "tensor \(tensor.name.brief): \(range.count) bytes are not its sparse values")
    }
    return Constant(memory, byteCount: byteCount, isOfModel: true)
  }

  private func expand(_ range: Range<Int>, _ type: ElementType, count: Int) throws(ApusError) -> Constant {
    let memory = try TensorMemory(byteCount: count)
    unsafe file.bytes.withUnsafeBytes { bytes in
      let source = unsafe bytes[range]
      if let bits = type.bitCount, type.isPacked {
        let perByte = 8 / bits
        let isSigned = type.isSignedInteger
        for index in unsafe 0..<min(count, source.count * perByte) {
          let packed = unsafe source[source.startIndex + index / perByte] >> UInt8(index % perByte * bits)
          let left = packed << UInt8(8 - bits)
          let value =
            isSigned
            ? UInt8(bitPattern: Int8(bitPattern: left) >> Int8(8 - bits)) : left >> UInt8(8 - bits)
          unsafe memory.base.storeBytes(of: value, toByteOffset: index, as: UInt8.self)
        }
      } else if type == .bool {
        for index in unsafe 0..<source.count {
          let value = unsafe source[source.startIndex + index]
          unsafe memory.base.storeBytes(of: value == 0 ? 0 : 1, toByteOffset: index, as: UInt8.self)
        }
      } else {
        unsafe UnsafeMutableRawBufferPointer(start: memory.base, count: count).copyBytes(from: source)
      }
    }
    return Constant(memory, byteCount: count, isOfModel: true)
  }
}
