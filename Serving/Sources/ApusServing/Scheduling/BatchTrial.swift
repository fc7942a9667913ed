// SPDX-License-Identifier: Apache-2.0
import Apus
import NIOCore

/// Finds out how many requests may share a run without changing a bit of any answer.
///
/// The order in which a kernel adds floats may depend on the number of rows, and a model may mix the items of a batch.
/// So batches of random items are compared with runs of each item, size by size, until one differs.
struct BatchTrial {
  /// What the trials may take in all; sizes beyond are not joined.
  private static let timeLimit = Duration.seconds(3)

  private let instance: ModelInstance

  init(_ instance: ModelInstance) { self.instance = instance }

  /// The largest size up to which every batch equals its items; 1 if none does or the model fails on random data.
  func largestExactBatch(upTo most: Int) -> Int {
    let start = ContinuousClock.now
    let model = instance.served
    var random = SplitMix(state: 0x5EED)
    let items = (0..<most).map { _ in request(&random) }
    var alone: [[ByteBuffer]] = []
    for (index, item) in items.enumerated() {
      guard let outputs = try? instance.run([item], cancellation: Cancellation()).0 else { return 1 }
      alone.append(outputs.map(\.bytes))
      guard index > 0 else { continue }
      guard ContinuousClock.now - start < Self.timeLimit else { return index }
      let size = index + 1
      guard let together = try? instance.run(Array(items[0..<size]), cancellation: Cancellation()).0 else {
        return index
      }
      for position in model.outputs.indices {
        let expected = alone.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1[position]) }
        guard together[position].shape.first == size, together[position].bytes == expected else {
          return index
        }
      }
    }
    return most
  }

  /// One item of random numbers: floats within −1 to 1, whole numbers of all values or, beyond a byte, up to 100.
  private func request(_ random: inout SplitMix) -> InferenceRequest {
    let inputs = instance.served.inputs.map { input -> InferenceRequest.Input in
      let count = input.defaultShape.reduce(1, *)
      var bytes = ByteBufferAllocator().buffer(capacity: count * (input.datatype.byteCount ?? 1))
      for _ in 0..<count {
        let value = random.next()
        let unit = Double(Int64(bitPattern: value) >> 11) / 0x1p52
        switch input.datatype {
        case .bool: bytes.writeInteger(UInt8(value & 1))
        case .uint8, .int8, .bytes: bytes.writeInteger(UInt8(truncatingIfNeeded: value))
        case .uint16, .int16: bytes.writeInteger(UInt16(value % 100), endianness: .little)
        case .uint32, .int32: bytes.writeInteger(UInt32(value % 100), endianness: .little)
        case .uint64, .int64: bytes.writeInteger(UInt64(value % 100), endianness: .little)
        // Half precision of 0.5 to 1, either sign.
        case .fp16: bytes.writeInteger(UInt16(0x3800 | value & 0x83FF), endianness: .little)
        case .bf16: bytes.writeInteger(UInt16(Float(unit).bitPattern >> 16), endianness: .little)
        case .fp32: bytes.writeInteger(Float(unit).bitPattern, endianness: .little)
        case .fp64: bytes.writeInteger(unit.bitPattern, endianness: .little)
        }
      }
      return .init(shape: input.defaultShape, contents: .elements(ByteChunks(bytes)))
    }
    return InferenceRequest(id: "", inputs: inputs, outputs: [], batch: 1, priority: 2, timeout: nil)
  }
}

/// A small generator whose numbers are the same at every start.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
