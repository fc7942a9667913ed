// SPDX-License-Identifier: Apache-2.0

import Apus

/// The index of a tensor in its subgraph; −1 for a tensor that an operator adds.
@c(ApusTensorGetIndex)
public func tensorIndex(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: -1) { Int32(clamping: $0.tensor.index) }
}

@c(TfLiteTensorType)
public func tensorType(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { $0.tensor.type.code }
}

@c(TfLiteTensorNumDims)
public func tensorRank(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { Int32(clamping: $0.dimensions.count) }
}

@c(TfLiteTensorDim)
public func tensorDimension(_ tensor: UnsafeRawPointer?, _ axis: Int32) -> Int32 {
  onTensor(tensor, failure: 0) { record throws(Refusal) in
    guard record.dimensions.indices.contains(Int(axis)) else {
      throw Refusal("\(record.tensor.name) has \(record.dimensions.count) dimensions, and none \(axis)")
    }
    return record.dimensions[Int(axis)]
  }
}

@c(TfLiteTensorByteSize)
public func tensorByteCount(_ tensor: UnsafeRawPointer?) -> Int {
  onTensor(tensor, failure: 0) { $0.byteCount }
}

@c(TfLiteTensorData)
public func tensorData(_ tensor: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  onTensor(tensor, failure: nil) { $0.data }
}

@c(TfLiteTensorName)
public func tensorName(_ tensor: UnsafeRawPointer?) -> UnsafePointer<CChar>? {
  onTensor(tensor, failure: nil) { UnsafePointer($0.cName) }
}

/// A `TfLiteQuantizationParams`, as it is returned in a register: the scale, then the zero point.
@c(TfLiteTensorQuantizationParams)
public func tensorQuantization(_ tensor: UnsafeRawPointer?) -> UInt64 {
  onTensor(tensor, failure: 0) {
    UInt64($0.scaleAndZeroPoint.scale.bitPattern) | UInt64(UInt32(bitPattern: $0.scaleAndZeroPoint.zeroPoint))
      << 32
  }
}

@c(TfLiteTensorCopyFromBuffer)
public func tensorCopyFromBuffer(
  _ tensor: UnsafeMutableRawPointer?, _ data: UnsafeRawPointer?, _ byteCount: Int
) -> Int32 {
  onTensor(tensor, failure: Status.error) { record throws(Refusal) in
    try record.copy(from: data, count: byteCount)
    return Status.ok
  }
}

@c(TfLiteTensorCopyToBuffer)
public func tensorCopyToBuffer(
  _ tensor: UnsafeRawPointer?, _ data: UnsafeMutableRawPointer?, _ byteCount: Int
) -> Int32 {
  onTensor(tensor, failure: Status.error) { record throws(Refusal) in
    try record.copy(to: data, count: byteCount)
    return Status.ok
  }
}

// MARK: Opaque tensors, which are the same ones

@c(TfLiteOpaqueTensorType)
public func opaqueTensorType(_ tensor: UnsafeRawPointer?) -> Int32 { tensorType(tensor) }

@c(TfLiteOpaqueTensorNumDims)
public func opaqueTensorRank(_ tensor: UnsafeRawPointer?) -> Int32 { tensorRank(tensor) }

@c(TfLiteOpaqueTensorDim)
public func opaqueTensorDimension(_ tensor: UnsafeRawPointer?, _ axis: Int32) -> Int32 {
  tensorDimension(tensor, axis)
}

@c(TfLiteOpaqueTensorGetNumDimsSignature)
public func opaqueTensorSignatureRank(
  _ tensor: UnsafeRawPointer?, _ rank: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onTensor(tensor, failure: Status.error) { record throws(Refusal) in
    guard let rank else { throw Refusal("the place for the rank is NULL") }
    let isOpen = record.tensor.shapeSignature.contains { $0 < 0 }
    rank.pointee = isOpen ? Int32(clamping: record.tensor.shapeSignature.count) : -1
    return Status.ok
  }
}

@c(TfLiteOpaqueTensorGetDimSignature)
public func opaqueTensorSignatureDimension(
  _ tensor: UnsafeRawPointer?, _ axis: Int32, _ dimension: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onTensor(tensor, failure: Status.error) { record throws(Refusal) in
    let signature = record.tensor.shapeSignature
    guard let dimension, signature.indices.contains(Int(axis)) else {
      throw Refusal("\(record.tensor.name) has \(signature.count) dimensions, and none \(axis)")
    }
    dimension.pointee = Int32(clamping: signature[Int(axis)])
    return Status.ok
  }
}

@c(TfLiteOpaqueTensorIsVariable)
public func opaqueTensorIsVariable(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { $0.tensor.isVariable ? 1 : 0 }
}

@c(TfLiteOpaqueTensorByteSize)
public func opaqueTensorByteCount(_ tensor: UnsafeRawPointer?) -> Int { tensorByteCount(tensor) }

@c(TfLiteOpaqueTensorData)
public func opaqueTensorData(_ tensor: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  // TensorFlow Lite says nothing where there is no tensor.
  tensor == nil ? nil : tensorData(tensor)
}

@c(TfLiteOpaqueTensorName)
public func opaqueTensorName(_ tensor: UnsafeRawPointer?) -> UnsafePointer<CChar>? { tensorName(tensor) }

@c(TfLiteOpaqueTensorGetAllocationType)
public func opaqueTensorAllocation(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { $0.allocation.rawValue }
}

@c(TfLiteOpaqueTensorGetQuantizationParams)
public func opaqueTensorQuantization(_ tensor: UnsafeRawPointer?) -> UInt64 { tensorQuantization(tensor) }

@c(TfLiteOpaqueTensorCopyFromBuffer)
public func opaqueTensorCopyFromBuffer(
  _ tensor: UnsafeMutableRawPointer?, _ data: UnsafeRawPointer?, _ byteCount: Int
) -> Int32 { tensorCopyFromBuffer(tensor, data, byteCount) }

@c(TfLiteOpaqueTensorCopyToBuffer)
public func opaqueTensorCopyToBuffer(
  _ tensor: UnsafeRawPointer?, _ data: UnsafeMutableRawPointer?, _ byteCount: Int
) -> Int32 { tensorCopyToBuffer(tensor, data, byteCount) }

// How long a tensor's memory, values and shape stay as they are: the values of the enumerations follow from how it is allocated.

@c(TfLiteOpaqueTensorGetAllocationStrategy)
public func opaqueTensorStrategy(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { record in
    switch record.allocation {
    case .constant: 2
    case .arena, .variable: 3
    case .dynamic: 4
    case .custom: 0
    }
  }
}

@c(TfLiteOpaqueTensorGetBufferAddressStability)
public func opaqueTensorAddressStability(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { record in
    switch record.allocation {
    case .constant: 3
    case .arena, .variable: 1
    case .dynamic: 2
    case .custom: 0
    }
  }
}

@c(TfLiteOpaqueTensorGetDataStability)
public func opaqueTensorDataStability(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { record in
    switch record.allocation {
    case .constant, .variable: 3
    case .arena, .dynamic: 2
    case .custom: 0
    }
  }
}

@c(TfLiteOpaqueTensorGetDataKnownStep)
public func opaqueTensorDataStep(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { record in
    switch record.allocation {
    case .constant: 1
    case .arena, .variable, .dynamic: 3
    case .custom: 0
    }
  }
}

@c(TfLiteOpaqueTensorGetShapeKnownStep)
public func opaqueTensorShapeStep(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: 0) { record in
    switch record.allocation {
    case .constant: 1
    case .arena, .variable: 2
    case .dynamic: 3
    case .custom: 0
    }
  }
}

@c(TfLiteOpaqueTensorGetStringCount)
public func opaqueTensorStringCount(_ tensor: UnsafeRawPointer?) -> Int32 {
  onTensor(tensor, failure: -1) { _ throws(Refusal) in throw Refusal("tensors of strings are not supported") }
}

// MARK: What surrounds tensors

@c(TfLiteTypeGetName)
public func typeName(_ type: Int32) -> UnsafePointer<CChar>? {
  let name: StaticString = ElementType(code: type)?.cName ?? (type == 0 ? "NOTYPE" : "Unknown type")
  return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}

@c(TfLiteIntArrayGetSizeInBytes)
public func integerArrayByteCount(_ count: Int32) -> Int { 4 + 4 * max(Int(count), 0) }

@c(TfLiteIntArrayCreate)
public func integerArrayCreate(_ count: Int32) -> UnsafeMutableRawPointer? {
  CArrays.make(Int32.self, count: Int(count))
}

@c(TfLiteIntArrayCopy)
public func integerArrayCopy(_ array: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  CArrays.copy(array)
}

@c(TfLiteIntArrayEqual)
public func integerArrayEqual(_ first: UnsafeRawPointer?, _ second: UnsafeRawPointer?) -> Int32 {
  if first == second { return 1 }
  guard let first, let second else { return 0 }
  return CArrays.elements(of: first, equal: second + 4, count: second.load(as: Int32.self)) ? 1 : 0
}

@c(TfLiteIntArrayEqualsArray)
public func integerArrayEqualsArray(
  _ array: UnsafeRawPointer?, _ count: Int32, _ elements: UnsafeRawPointer?
) -> Int32 {
  guard let array else { return count == 0 ? 1 : 0 }
  return CArrays.elements(of: array, equal: elements, count: count) ? 1 : 0
}

@c(TfLiteIntArrayFree)
public func integerArrayFree(_ array: UnsafeMutableRawPointer?) { CArrays.release(array) }

@c(TfLiteFloatArrayGetSizeInBytes)
public func floatArrayByteCount(_ count: Int32) -> Int32 { Int32(clamping: 4 + 4 * max(Int(count), 0)) }

@c(TfLiteFloatArrayCreate)
public func floatArrayCreate(_ count: Int32) -> UnsafeMutableRawPointer? {
  CArrays.make(Float.self, count: Int(count))
}

@c(TfLiteFloatArrayCopy)
public func floatArrayCopy(_ array: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  CArrays.copy(array)
}

@c(TfLiteFloatArrayFree)
public func floatArrayFree(_ array: UnsafeMutableRawPointer?) { CArrays.release(array) }
