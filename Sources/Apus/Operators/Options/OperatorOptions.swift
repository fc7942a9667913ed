// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The options of an operator, by name; absent fields have the schema's defaults.
///
/// ```swift
/// let stride = try node.options.conv2D.strideWidth
/// ```
///
/// Each property stands for a table of the schema. An operator reads its own: ``OperatorCode/options`` says which that is.
/// A damaged table is an error that names the operator.
package struct OperatorOptions {
  private let entry: OperatorEntry
  private let failure: (FormatError) -> ApusError

  /// The options of an operator of a file.
  ///
  /// - Parameter failure: makes an error that names the operator.
  package init(_ entry: OperatorEntry, failure: @escaping (FormatError) -> ApusError) {
    self.entry = entry
    self.failure = failure
  }

  /// The table in the schema's `BuiltinOptions`.
  private var first: Fields { Fields(table: entry.options, failure: failure) }
  /// The table in the schema's `BuiltinOptions2`.
  private var second: Fields { Fields(table: entry.options2, failure: failure) }

  var conv2D: Conv2DOptions { .init(fields: first) }
  var depthwiseConv2D: DepthwiseConv2DOptions { .init(fields: first) }
  var lshProjection: LSHProjectionOptions { .init(fields: first) }
  var pool2D: Pool2DOptions { .init(fields: first) }
  var svdf: SVDFOptions { .init(fields: first) }
  var rnn: RNNOptions { .init(fields: first) }
  var fullyConnected: FullyConnectedOptions { .init(fields: first) }
  var softmax: SoftmaxOptions { .init(fields: first) }
  var concatenation: ConcatenationOptions { .init(fields: first) }
  var add: AddOptions { .init(fields: first) }
  var l2Normalization: MulOptions { .init(fields: first) }
  var localResponseNormalization: LocalResponseNormalizationOptions { .init(fields: first) }
  var lstm: LSTMOptions { .init(fields: first) }
  var resizeBilinear: ResizeBilinearOptions { .init(fields: first) }
  var reshape: ReshapeOptions { .init(fields: first) }
  var spaceToDepth: SpaceToDepthOptions { .init(fields: first) }
  var embeddingLookupSparse: EmbeddingLookupSparseOptions { .init(fields: first) }
  var mul: MulOptions { .init(fields: first) }
  var argMax: IndexOptions { .init(fields: first) }
  var argMin: IndexOptions { .init(fields: first) }
  var shape: IndexOptions { .init(fields: first) }
  var gather: GatherOptions { .init(fields: first) }
  var reducer: ReducerOptions { .init(fields: first) }
  var sub: AddOptions { .init(fields: first) }
  var div: MulOptions { .init(fields: first) }
  var squeeze: SqueezeOptions { .init(fields: first) }
  var sequenceRNN: SequenceRNNOptions { .init(fields: first) }
  var stridedSlice: StridedSliceOptions { .init(fields: first) }
  var split: SplitOptions { .init(fields: first) }
  var transposeConv: TransposeConvOptions { .init(fields: first) }
  var fakeQuant: FakeQuantOptions { .init(fields: first) }
  var pack: PackOptions { .init(fields: first) }
  var oneHot: OneHotOptions { .init(fields: first) }
  var unpack: UnpackOptions { .init(fields: first) }
  var bidirectionalSequenceLSTM: BidirectionalSequenceLSTMOptions { .init(fields: first) }
  var bidirectionalSequenceRNN: BidirectionalSequenceRNNOptions { .init(fields: first) }
  var unidirectionalSequenceLSTM: UnidirectionalSequenceLSTMOptions { .init(fields: first) }
  var resizeNearestNeighbor: ResizeNearestNeighborOptions { .init(fields: first) }
  var leakyRelu: LeakyReluOptions { .init(fields: first) }
  var mirrorPad: MirrorPadOptions { .init(fields: first) }
  var splitV: SplitOptions { .init(fields: first) }
  var reverseSequence: ReverseSequenceOptions { .init(fields: first) }
  var `if`: IfOptions { .init(fields: first) }
  var `while`: WhileOptions { .init(fields: first) }
  var depthToSpace: SpaceToDepthOptions { .init(fields: first) }
  var batchMatMul: BatchMatMulOptions { .init(fields: first) }
  var cumsum: CumsumOptions { .init(fields: first) }
  var callOnce: CallOnceOptions { .init(fields: first) }
  var conv3D: Conv3DOptions { .init(fields: first) }
  var varHandle: VarHandleOptions { .init(fields: first) }
  var random: RandomOptions { .init(fields: first) }
  var bucketize: BucketizeOptions { .init(fields: first) }
  var gelu: GeluOptions { .init(fields: first) }
  var stablehloScatter: StableHLOScatterOptions { .init(fields: second) }
  var stablehloPad: StableHLOPadOptions { .init(fields: second) }
  var stablehloReduceWindow: StableHLOReduceWindowOptions { .init(fields: second) }
  var stablehloGather: StableHLOGatherOptions { .init(fields: second) }
  var stablehloRngBitGenerator: StableHLORngBitGeneratorOptions { .init(fields: second) }
  var reduceWindow: ReduceWindowOptions { .init(fields: second) }
  var stablehloComposite: StableHLOCompositeOptions { .init(fields: second) }
  var stablehloCase: StableHLOCaseOptions { .init(fields: second) }

  /// The fields of a table, by their numbers in the schema.
  struct Fields {
    fileprivate let table: OptionsTable
    fileprivate let failure: (FormatError) -> ApusError

    private func read<T>(_ body: (OptionsTable) throws(FormatError) -> T) throws(ApusError) -> T {
      do { return try body(table) } catch { throw failure(error) }
    }

    /// An error about a value.
    func error(_ text: String) -> ApusError { failure(FormatError(text)) }

    /// An enumeration's value.
    func int8(_ field: Int) throws(ApusError) -> Int {
      Int(try read { table throws(FormatError) in try table.int8(field, default: 0) })
    }

    func int32(_ field: Int, default value: Int32 = 0) throws(ApusError) -> Int {
      Int(try read { table throws(FormatError) in try table.int32(field, default: value) })
    }

    func int64(_ field: Int) throws(ApusError) -> Int64 {
      try read { table throws(FormatError) in try table.int64(field, default: 0) }
    }

    /// A Boolean; false if the file has no table, as in the reference.
    func bool(_ field: Int, default value: Bool = false) throws(ApusError) -> Bool {
      guard !table.isEmpty else { return false }
      return try read { table throws(FormatError) in try table.bool(field, default: value) }
    }

    func float(_ field: Int) throws(ApusError) -> Float {
      try read { table throws(FormatError) in try table.float(field, default: 0) }
    }

    func floats(_ field: Int) throws(ApusError) -> [Float] {
      try read { table throws(FormatError) in try table.floatVector(field) ?? [] }
    }

    func int32s(_ field: Int) throws(ApusError) -> [Int] {
      try read { table throws(FormatError) in try table.int32Vector(field)?.map { Int($0) } ?? [] }
    }

    func int64s(_ field: Int) throws(ApusError) -> [Int] {
      try read { table throws(FormatError) in try table.int64Vector(field)?.map { Int($0) } ?? [] }
    }

    func string(_ field: Int) throws(ApusError) -> String {
      try read { table throws(FormatError) in try table.string(field) } ?? ""
    }
  }
}
