// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension Chain {
  /// A chain from bytes to bytes, replaced by its result for each byte: a look-up computes QUANTIZE, DEQUANTIZE and all
  /// functions of floats between them.
  package enum Tabulated {
    /// One table for all channels.
    case table(ByteTable)
    /// A table for each channel.
    case channels(any UnaryKernel)
  }

  /// The fewest rows of the result, for each of the 256 bytes, that are worth the computation of tables.
  private static let minimumRowsOfByte = 2

  /// Tabulates the stages by running them on all bytes. Nil unless they compute bytes from one tensor of bytes and from
  /// constants, which are scalars or rows of `depth` elements, and the result has enough rows to be worth it.
  ///
  /// - Parameters:
  ///   - tensors: the constants, in the order of the chain's tensors; nil for the tensor of bytes.
  ///   - depth: the number of elements of a row.
  package static func tabulated(
    _ stages: Stages, _ tensors: [UnsafeRawBufferPointer?], depth: Int
  ) -> Tabulated? {
    guard let last = stages.last?.stage, last.stride == 1, depth > 0,
      unsafe tensors.count(where: { unsafe $0 == nil }) == 1,
      let input = unsafe tensors.firstIndex(where: { unsafe $0 == nil }),
      last.elementCount / depth >= 256 * minimumRowsOfByte
    else { return nil }
    let (whole, count) = (last.elementCount, 256 * depth)
    for (stage, sources) in stages {
      guard stage.elementCount == whole, stage.matrix == nil else { return nil }
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
    // The caller tries a chain of the same stages next, which says why it declines.
    guard let chain = try? unsafe Chain(resized, tensorCount: tensors.count) else { return nil }
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

extension ChainStage {
  /// The stage for another number of elements; operands as large as the result are resized as well.
  fileprivate func resized(to count: Int) -> ChainStage {
    unsafe ChainStage(
      fill: fill, loopDescription: loopDescription, tail: tail, formula: nil,
      operands: operands.map {
        Operand(
          period: $0.period == elementCount ? count : $0.period, stride: $0.stride, repeats: $0.repeats)
      },
      elementCount: count, stride: stride, mayOverwrite: mayOverwrite)
  }
}
