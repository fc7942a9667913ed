// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Options of functions of elements and movements; each field has its number in `schema.fbs`.
extension OperatorOptions {
  /// `ConcatenationOptions`.
  struct ConcatenationOptions {
    let fields: Fields
    var axis: Int { get throws(ApusError) { try fields.int32(0) } }
    var activation: Int { get throws(ApusError) { try fields.int8(1) } }
  }

  /// `AddOptions` and `SubOptions`.
  struct AddOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    /// The schema's `pot_scale_int16`.
    var takesPowersOfTwo: Bool { get throws(ApusError) { try fields.bool(1, default: true) } }
  }

  /// `ResizeBilinearOptions`.
  struct ResizeBilinearOptions {
    let fields: Fields
    var alignsCorners: Bool { get throws(ApusError) { try fields.bool(2) } }
    var usesHalfPixelCenters: Bool { get throws(ApusError) { try fields.bool(3) } }
  }

  /// `ReshapeOptions`.
  struct ReshapeOptions {
    let fields: Fields
    var shape: [Int] { get throws(ApusError) { try fields.int32s(0) } }
  }

  /// `SpaceToDepthOptions` and `DepthToSpaceOptions`.
  struct SpaceToDepthOptions {
    let fields: Fields
    var blockSize: Int { get throws(ApusError) { try fields.int32(0) } }
  }

  /// `MulOptions`, `DivOptions` and `L2NormOptions`.
  struct MulOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
  }

  /// `GatherOptions`.
  struct GatherOptions {
    let fields: Fields
    var axis: Int { get throws(ApusError) { try fields.int32(0) } }
    var batchRank: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `ShapeOptions`, `ArgMaxOptions` and `ArgMinOptions`.
  struct IndexOptions {
    let fields: Fields
    /// The type of the results; nil for the schema's default, which is no type of indices and so says nothing.
    var type: ElementType? {
      get throws(ApusError) {
        switch try fields.int8(0) {
        case 0: nil
        case Int(TensorType.int32.rawValue): .int32
        case Int(TensorType.int64.rawValue): .int64
        case let other: throw fields.error("results of type \(other) are neither int32 nor int64")
        }
      }
    }
  }

  /// `ReducerOptions`.
  struct ReducerOptions {
    let fields: Fields
    var keepsDimensions: Bool { get throws(ApusError) { try fields.bool(0) } }
  }

  /// `SqueezeOptions`.
  struct SqueezeOptions {
    let fields: Fields
    var axes: [Int] { get throws(ApusError) { try fields.int32s(0) } }
  }

  /// `StridedSliceOptions`.
  struct StridedSliceOptions {
    let fields: Fields
    var beginMask: Int { get throws(ApusError) { try fields.int32(0) } }
    var endMask: Int { get throws(ApusError) { try fields.int32(1) } }
    var ellipsisMask: Int { get throws(ApusError) { try fields.int32(2) } }
    var newAxisMask: Int { get throws(ApusError) { try fields.int32(3) } }
    var shrinkMask: Int { get throws(ApusError) { try fields.int32(4) } }
    var isOffset: Bool { get throws(ApusError) { try fields.bool(5) } }
  }

  /// `SplitOptions` and `SplitVOptions`.
  struct SplitOptions {
    let fields: Fields
    var count: Int { get throws(ApusError) { try fields.int32(0) } }
  }

  /// `FakeQuantOptions`.
  struct FakeQuantOptions {
    let fields: Fields
    var minimum: Float { get throws(ApusError) { try fields.float(0) } }
    var maximum: Float { get throws(ApusError) { try fields.float(1) } }
    var bitCount: Int { get throws(ApusError) { try fields.int32(2) } }
    var isNarrow: Bool { get throws(ApusError) { try fields.bool(3) } }
  }

  /// `PackOptions`.
  struct PackOptions {
    let fields: Fields
    var count: Int { get throws(ApusError) { try fields.int32(0) } }
    var axis: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `OneHotOptions`.
  struct OneHotOptions {
    let fields: Fields
    var axis: Int { get throws(ApusError) { try fields.int32(0) } }
  }

  /// `UnpackOptions`.
  struct UnpackOptions {
    let fields: Fields
    var count: Int { get throws(ApusError) { try fields.int32(0) } }
    var axis: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `ResizeNearestNeighborOptions`.
  struct ResizeNearestNeighborOptions {
    let fields: Fields
    var alignsCorners: Bool { get throws(ApusError) { try fields.bool(0) } }
    var usesHalfPixelCenters: Bool { get throws(ApusError) { try fields.bool(1) } }
  }

  /// `LeakyReluOptions`.
  struct LeakyReluOptions {
    let fields: Fields
    var alpha: Float { get throws(ApusError) { try fields.float(0) } }
  }

  /// `MirrorPadOptions`.
  struct MirrorPadOptions {
    let fields: Fields
    var mode: Int { get throws(ApusError) { try fields.int8(0) } }
  }

  /// `ReverseSequenceOptions`.
  struct ReverseSequenceOptions {
    let fields: Fields
    var sequenceAxis: Int { get throws(ApusError) { try fields.int32(0) } }
    var batchAxis: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `CumsumOptions`.
  struct CumsumOptions {
    let fields: Fields
    var isExclusive: Bool { get throws(ApusError) { try fields.bool(0) } }
    var isReversed: Bool { get throws(ApusError) { try fields.bool(1) } }
  }

  /// `BucketizeOptions`.
  struct BucketizeOptions {
    let fields: Fields
    var boundaries: [Float] { get throws(ApusError) { try fields.floats(0) } }
  }

  /// `GeluOptions`.
  struct GeluOptions {
    let fields: Fields
    var isApproximate: Bool { get throws(ApusError) { try fields.bool(0) } }
  }
}
