// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension Model {
  /// How large a model may be before it is refused with `resourceLimit`. No published model comes near the defaults.
  ///
  /// ```swift
  /// var limits = Model.Limits()
  /// limits.fileByteCount = 64 << 20
  /// let model = try Model(contentsOfFile: "upload.tflite", limits: limits)
  /// ```
  ///
  /// What a model may take once it is prepared and run is in ``Interpreter/Options``.
  public struct Limits: Hashable, Sendable {
    /// The bytes of the file.
    public var fileByteCount = FileBytes.defaultMaximumSize
    /// The subgraphs.
    public var subgraphCount = 4096
    /// How deep subgraphs may call each other: each level takes stack.
    public var callDepth = 32
    /// The tensors of all subgraphs together.
    public var tensorCount = 1 << 18
    /// The operators of all subgraphs together.
    public var operatorCount = 1 << 18
    /// The elements of one tensor, as the file declares it.
    public var elementCount = Int(Int32.max)
    /// The decompressed bytes of the files that are appended to the model, such as labels.
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
