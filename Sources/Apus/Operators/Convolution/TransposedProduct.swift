// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// A transposed convolution as ordinary ones, one for each phase of the strides, with interleaved outputs.
struct TransposedProduct: UnpackedOperator {
  /// The common part of operators that are transposed convolutions.
  struct Description {
    let input: TensorSlot
    /// `O×h×w×I`.
    let filter: TensorSlot
    let bias: TensorSlot?
    let output: TensorSlot
    /// The windows over rows and columns of the output, whose places are the inputs.
    let vertical: WindowAxis
    let horizontal: WindowAxis
    let operands: MatrixOperands
    let epilogue: Epilogue
  }

  private struct Part {
    let kernel: any PreparedConvolution
    let choice: KernelChoice
    var weights: ProductWeights
    let rows: TransposedAxis.Phase
    let columns: TransposedAxis.Phase
  }

  /// The maximum number of products, each of which is prepared and packed separately.
  private static let phaseLimit = 4096

  private let input: TensorSlot
  private let output: TensorSlot
  private let vertical: TransposedAxis
  private let horizontal: TransposedAxis
  private var parts: [Part]
  /// Makes the value of pixels that no input reaches, if there are any.
  private var emptyPart: Part?
  private let pixelByteCount: Int
  private let scratch: TensorSlot
  /// Memory for the outputs of one phase; nil if the only phase is the output.
  private let phaseOutput: TensorSlot?

  /// The operator: one product if each input makes outputs of its own, otherwise one for each phase.
  static func prepare(_ description: Description, node: Node) throws(ApusError) -> any Operator {
    for axis in [description.vertical, description.horizontal] {
      // Of each phase, its taps, and zeros before them.
      try node.keep(tablesOf: axis.taps, entryByteCount: 16)
      try node.keep(tablesOf: min(axis.stride, axis.size), entryByteCount: 128)
    }
    let vertical = TransposedAxis(description.vertical)
    let horizontal = TransposedAxis(description.horizontal)
    if let product = try DisjointTransposedProduct(
      description, vertical: vertical, horizontal: horizontal, node: node)
    {
      return product
    }
    let (input, output) = (description.input, description.output)
    if case .float32 = description.operands,
      let direct = try DirectConvolutionOperator(
        reachesOutside: vertical.reachesOutside || horizontal.reachesOutside, input: input,
        filter: description.filter, bias: description.bias, output: output, node: node,
        { Self.direct(description) })
    {
      return direct
    }
    return try TransposedProduct(description, vertical: vertical, horizontal: horizontal, node: node)
  }

  /// The transposed convolution in plain code.
  private static func direct(_ description: Description) -> DirectConvolution? {
    let filter = description.filter.shape
    return DirectConvolution(
      batches: description.input.shape[0],
      axes: [WindowAxis(), description.vertical, description.horizontal], isTransposed: true,
      channels: filter[3], outputChannels: filter[0],
      steps: .init(output: filter[1] * filter[2] * filter[3], tap: filter[3], channel: 1),
      epilogue: description.epilogue)
  }

  private init(
    _ description: Description, vertical: TransposedAxis, horizontal: TransposedAxis, node: Node
  ) throws(ApusError) {
    let (input, filter, output) = (description.input, description.filter, description.output)
    self.input = input
    self.vertical = vertical
    self.horizontal = horizontal
    self.output = output
    guard let width = output.type.byteCount, let filterWidth = filter.type.byteCount else {
      throw node.mismatch(input, filter)
    }
    pixelByteCount = output.shape[3] * width
    var zero: UInt8 = 0
    if case .uint8(_, let zeroPoint) = description.operands { zero = UInt8(truncatingIfNeeded: zeroPoint) }

    var scratchByteCount = 0
    func part(_ rows: TransposedAxis.Phase, _ columns: TransposedAxis.Phase) throws(ApusError) -> Part {
      let isEmpty = rows.taps.isEmpty || columns.taps.isEmpty
      let arrangement = PhaseFilter(
        shape: filter.shape.dimensions, rows: isEmpty ? [-1] : rows.taps,
        columns: isEmpty ? [-1] : columns.taps,
        width: filterWidth, zero: zero)
      let convolution = Convolution(
        batches: isEmpty ? 1 : input.shape[0], inputHeight: isEmpty ? 1 : input.shape[1],
        inputWidth: isEmpty ? 1 : input.shape[2], inputChannels: input.shape[3],
        filterHeight: arrangement.rows.count, filterWidth: arrangement.columns.count,
        outputHeight: isEmpty ? 1 : rows.count, outputWidth: isEmpty ? 1 : columns.count,
        outputChannels: filter.shape[0], paddingTop: isEmpty ? 0 : rows.padding,
        paddingLeft: isEmpty ? 0 : columns.padding, operands: description.operands,
        epilogue: description.epilogue)
      let (kernel, choice) = try node.kernel(for: convolution, input, filter)
      scratchByteCount = max(scratchByteCount, kernel.scratchByteCount(threads: node.threadCount))
      return Part(
        kernel: kernel, choice: choice,
        weights: ProductWeights(filter: filter, bias: description.bias, arrangement: arrangement),
        rows: rows, columns: columns)
    }
    let taps = Double(filter.shape[0]) * Double(filter.shape[3])
    try node.check(
      work: Double(input.shape[0]) * Double(input.shape[1]) * Double(input.shape[2]) * taps
        * Double(filter.shape[1]) * Double(filter.shape[2]))
    var parts: [Part] = []
    let metRows = vertical.phases.filter { !$0.taps.isEmpty }
    let metColumns = horizontal.phases.filter { !$0.taps.isEmpty }
    guard metRows.count * metColumns.count <= Self.phaseLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): strides make \(metRows.count) × \(metColumns.count) products of it, more than the limit of "
          + "\(Self.phaseLimit)")
    }
    for rows in metRows {
      for columns in metColumns { parts.append(try part(rows, columns)) }
    }
    let hasEmpty = metRows.count < vertical.phases.count || metColumns.count < horizontal.phases.count
    let empty = TransposedAxis.Phase(start: 0, count: 1, taps: [], padding: 0)
    emptyPart = hasEmpty && input.shape.elementCount > 0 ? try part(empty, empty) : nil
    self.parts = parts
    let isWhole = parts.count == 1 && !hasEmpty
    let largest = parts.map { $0.rows.count * $0.columns.count }.max() ?? 0
    let phaseByteCount = max(input.shape[0] * largest, 1) * pixelByteCount
    phaseOutput = isWhole ? nil : try node.scratch(byteCount: phaseByteCount)
    scratch = try node.scratch(byteCount: scratchByteCount)
    try node.declare(
      multiplyAccumulates: Double(input.shape.elementCount)
        * Double(filter.shape.elementCount / max(1, filter.shape[3])))
  }

  var implementation: Implementation {
    guard let part = parts.first ?? emptyPart else { return .plain }
    func notes(_ part: Part) -> [String] { part.choice.notes + part.kernel.notes(part.weights.known) }
    // Phases have different numbers of taps, which may decide how they are computed.
    var known = Set(notes(part))
    let others = parts.dropFirst().flatMap(notes).filter { known.insert($0).inserted }
    return Implementation(
      text: "a convolution for each of \(parts.count) phases: \(part.kernel.implementation)",
      choice: part.choice,
      notes: part.kernel.notes(part.weights.known) + others.map { "another phase: \($0)" })
  }

  var summation: String? {
    var words: [String] = []
    for part in parts + (emptyPart.map { [$0] } ?? []) {
      guard let part = part.kernel.summation else { return nil }
      words.append(part)
    }
    return words.joined(separator: "; ")
  }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    // All phases are packed from one lease of the filter.
    packer.expectedByteCount = parts.reduce(emptyPart?.kernel.packedByteCount ?? 0) {
      $0 + roundedUp($1.kernel.packedByteCount, to: TensorMemory.alignment)
    }
    for index in parts.indices { try copy.parts[index].weights.pack(for: parts[index].kernel, by: packer) }
    if let emptyPart { try copy.emptyPart?.weights.pack(for: emptyPart.kernel, by: packer) }
    return copy
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard output.shape.elementCount > 0 else { return }
    if let emptyPart, let phaseOutput {
      try run(emptyPart, tensors, to: phaseOutput)
      let pixel = tensors.readBytes(phaseOutput)
      var target = tensors.writeBytes(output)
      ElementRuns.copy(
        from: pixel, at: 0, step: 0, to: &target, at: 0, step: pixelByteCount, byteCount: pixelByteCount,
        count: output.shape.elementCount / output.shape[3])
    }
    for part in parts {
      guard let phaseOutput else {
        try run(part, tensors, to: output)
        return
      }
      try run(part, tensors, to: phaseOutput)
      interleave(tensors, phaseOutput, rows: part.rows, columns: part.columns)
    }
  }

  private func run(
    _ part: Part, _ tensors: borrowing TensorTable, to target: TensorSlot
  ) throws(ApusError) {
    let packed = try part.weights.packed(for: part.kernel, tensors)
    var result = tensors.writeBytes(target)
    var scratch = tensors.writeBytes(scratch)
    part.kernel.run(
      packed, input: tensors.readBytes(input), output: &result, scratch: &scratch,
      threads: tensors.threads)
  }

  /// Copies a phase's pixels to their places in the output.
  private func interleave(
    _ tensors: borrowing TensorTable, _ phaseOutput: TensorSlot, rows: TransposedAxis.Phase,
    columns: TransposedAxis.Phase
  ) {
    let source = tensors.readBytes(phaseOutput)
    var target = tensors.writeBytes(output)
    let lineByteCount = output.shape[2] &* pixelByteCount
    let imageByteCount = output.shape[1] &* lineByteCount
    for batch in 0..<output.shape[0] {
      for row in 0..<rows.count {
        let line = (batch &* rows.count &+ row) &* columns.count &* pixelByteCount
        let place =
          batch &* imageByteCount &+ (rows.start &+ row &* vertical.stride) &* lineByteCount
          &+ columns.start &* pixelByteCount
        ElementRuns.copy(
          from: source, at: line, step: pixelByteCount, to: &target, at: place,
          step: horizontal.stride &* pixelByteCount, byteCount: pixelByteCount, count: columns.count)
      }
    }
  }
}
