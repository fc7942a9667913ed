// SPDX-License-Identifier: Apache-2.0

/// The file of a model that answers every picture with the same floats.
///
/// - Parameters:
///   - side: The sides of the input, float32 in NHWC order with three channels.
///   - outputs: The shape and the values of each output.
package func constantModel(side: Int32, _ outputs: [(shape: [Int32], values: [Float])]) -> [UInt8] {
  var buffers = [FlatTable()]
  var tensors = [FlatTable([0: .ints([1, side, side, 3]), 1: .byte(0), 2: .int(0), 3: .text("image")])]
  for (index, output) in outputs.enumerated() {
    var bytes: [UInt8] = []
    for value in output.values { bytes.appendLittleEndian(value.bitPattern) }
    buffers.append(FlatTable([0: .bytes(bytes)]))
    tensors.append(
      FlatTable([
        0: .ints(output.shape), 1: .byte(0), 2: .int(Int32(index + 1)), 3: .text("output \(index)"),
      ]))
  }
  let graph = FlatTable([
    0: .tables(tensors), 1: .ints([0]), 2: .ints(outputs.indices.map { Int32($0 + 1) }), 3: .tables([]),
  ])
  return FlatTable([0: .int(3), 1: .tables([]), 2: .tables([graph]), 4: .tables(buffers)]).file(
    identifier: "TFL3")
}
