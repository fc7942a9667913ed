// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension ElementwiseChain {
  /// A chain that makes bytes of bytes, by its results for each byte: where QUANTIZE and DEQUANTIZE stand around functions of
  /// floats, a look-up takes the place of all of them.
  package enum Tabulated {
    /// The same function for all channels.
    case table(ByteTable)
    /// A function for each channel.
    case channels(any UnaryKernel)
  }

  /// Each table takes as long as so many elements for each byte.
  private static let leastRowsOfByte = 2

  /// Runs the stages on all bytes; nil unless they make bytes of one tensor of bytes and of constants that are numbers, or
  /// rows of `depth`, and the result has far more elements than tables.
  ///
  /// - Parameters:
  ///   - tensors: the constants, in the order of the chain's tensors; nil for the tensor of bytes.
  ///   - depth: the elements of a row.
  package static func tabulated(
    _ stages: [(stage: ElementwiseStage, sources: [Source])], _ tensors: [UnsafeRawBufferPointer?], depth: Int
  ) -> Tabulated? {
    guard let last = stages.last?.stage, last.stride == 1, depth > 0,
      unsafe tensors.count(where: { unsafe $0 == nil }) == 1,
      let input = unsafe tensors.firstIndex(where: { unsafe $0 == nil }),
      last.elementCount / depth >= 256 * leastRowsOfByte
    else { return nil }
    let (whole, count) = (last.elementCount, 256 * depth)
    for (stage, sources) in stages {
      guard stage.elementCount == whole else { return nil }
      for (operand, source) in zip(stage.operands, sources) {
        guard case .tensor(let number) = source else { continue }
        let fits =
          number == input
          ? operand.period == whole && operand.stride == 1
          : operand.repeats == 1 && (operand.period == 1 || operand.period == depth)
        guard fits else { return nil }
      }
    }
    let resized = stages.map { (stage: $0.stage.resized(to: count), sources: $0.sources) }
    guard let chain = unsafe ElementwiseChain(resized, tensorCount: tensors.count) else { return nil }
    let bytes = (0..<count).map { UInt8($0 / depth) }
    var results = [UInt8](repeating: 0, count: count)
    var scratch = [UInt8](repeating: 0, count: chain.scratchByteCount(threads: 1))
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe results.withUnsafeMutableBytes { results in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          var inputs = ChainInputs()
          for index in unsafe tensors.indices {
            inputs.add(unsafe RawSpan(_unsafeBytes: tensors[index] ?? bytes))
          }
          var output = unsafe MutableRawSpan(_unsafeBytes: results)
          var memory = unsafe MutableRawSpan(_unsafeBytes: scratch)
          chain.run(inputs, to: &output, scratch: &memory, threads: ThreadTeam(count: 1))
        }
      }
    }
    let areEqual = results.indices.allSatisfy { results[$0] == results[$0 / depth * depth] }
    if areEqual {
      return .table(ByteTable(isSigned: false) { Int32(results[Int($0) * depth]) })
    }
    let tables = ChannelTables(channels: depth, isSigned: false) { value, channel in
      results[Int(value) * depth + channel]
    }
    return .channels(UnaryMap(tables, rows: whole / depth, depth: depth))
  }
}

extension ElementwiseStage {
  /// The same of another number of elements, to which its whole operands change as well.
  fileprivate func resized(to count: Int) -> ElementwiseStage {
    unsafe ElementwiseStage(
      fill: fill, way: way, tail: tail, formula: nil,
      operands: operands.map {
        Operand(
          period: $0.period == elementCount ? count : $0.period, stride: $0.stride, repeats: $0.repeats)
      },
      elementCount: count, stride: stride, mayOverwrite: mayOverwrite)
  }
}
