// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension Model {
  /// The maximum size of a model: reading one beyond it throws `resourceLimit`. No published model comes near the defaults.
  ///
  /// ```swift
  /// var limits = Model.Limits()
  /// limits.fileByteCount = 64 << 20
  /// let model = try Model(contentsOfFile: "upload.tflite", limits: limits)
  /// ```
  ///
  /// The limits of preparation and of runs are in ``Interpreter/Options``.
  public struct Limits: Hashable, Sendable {
    /// The maximum number of bytes of the file.
    public var fileByteCount = FileBytes.defaultMaximumSize
    /// The maximum number of subgraphs.
    public var subgraphCount = 4096
    /// The maximum depth at which subgraphs call each other: each level takes stack.
    public var callDepth = 32
    /// The maximum number of tensors of all subgraphs together.
    public var tensorCount = 1 << 18
    /// The maximum number of operators of all subgraphs together.
    public var operatorCount = 1 << 18
    /// The maximum number of elements of one tensor, as the file declares it.
    public var elementCount = Int(Int32.max)
    /// The maximum number of bytes, decompressed, of the files that are appended to the model, such as labels.
    public var appendedByteCount = 32 << 20

    /// Makes the default limits.
    public init() {}

    /// The deepest calls that the stack of any thread bears.
    static let deepestCalls = 64

    var format: ApusFormat.Limits {
      var limits = ApusFormat.Limits()
      limits.maximumSubgraphs = subgraphCount
      limits.maximumTensors = tensorCount
      limits.maximumOperators = operatorCount
      limits.maximumElements = elementCount
      return limits
    }
  }
}
