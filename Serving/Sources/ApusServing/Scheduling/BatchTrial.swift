// SPDX-License-Identifier: Apache-2.0
import Apus
import NIOCore

/// Finds out how many requests may share a run without changing a bit of any answer.
///
/// The order in which a kernel adds floats may depend on the number of rows, and a model may mix the items of a batch.
/// So batches of random items are compared with runs of each item, size by size, until one differs. The order does not
/// depend on the values, so that another order shows in some element of almost any batch, unless the model rounds floats
/// afterwards: such a model is not tried, but runs alone.
struct BatchTrial {
  /// What the trials may take in all; sizes beyond are not joined.
  private static let timeLimit = Duration.seconds(3)
  /// What the items and their outputs may take in all, in bytes; sizes beyond are not joined.
  private static let byteLimit = 256 << 20

  private let instance: ModelInstance

  init(_ instance: ModelInstance) { self.instance = instance }

  /// The largest size up to which every batch equals its items; 1 if none does or the model fails on random data.
  func largestExactBatch(upTo most: Int) -> Int {
    guard !roundsItsFloats else { return 1 }
    let cancellation = Cancellation(deadline: ContinuousClock.now + Self.timeLimit)
    let model = instance.served
    var random = SplitMix(state: 0x5EED)
    var items: [InferenceRequest] = []
    var alone: [[ByteBuffer]] = []
    var bytesLeft = Self.byteLimit
    for index in 0..<most {
      guard takeBytes(&bytesLeft), let item = request(&random, cancellation) else { return max(1, index) }
      guard let outputs = try? instance.run([item], cancellation: cancellation).0 else {
        return cancellation.isCancelled ? max(1, index) : 1
      }
      items.append(item)
      alone.append(outputs.map(\.bytes))
      bytesLeft -= outputs.reduce(0) { $0 + $1.bytes.readableBytes }
      guard index > 0 else { continue }
      guard !cancellation.isCancelled, bytesLeft >= 0 else { return index }
      let size = index + 1
      guard let together = try? instance.run(items, cancellation: cancellation).0 else { return index }
      for position in model.outputs.indices {
        let expected = alone.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1[position]) }
        guard together[position].shape.first == size, together[position].bytes == expected else {
          return index
        }
      }
    }
    return most
  }

  /// Takes the bytes of one item's inputs from what is left; false where there are not so many.
  private func takeBytes(_ bytesLeft: inout Int) -> Bool {
    for input in instance.served.inputs {
      let (bytes, overflows) = TensorShape(input.defaultShape).elementCount.multipliedReportingOverflow(
        by: input.datatype.byteCount ?? 1)
      guard !overflows, bytes <= bytesLeft else { return false }
      bytesLeft -= bytes
    }
    return true
  }

  /// Operators through which a difference in the last bit of a float passes on to the outputs.
  private static let transparent: Set<String> = [
    "ABS", "ADD", "ADD_N", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BROADCAST_TO", "CONCATENATION",
    "CONV_2D", "CONV_3D", "COS", "CUMSUM", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE", "DIV",
    "ELU", "EXP", "EXPAND_DIMS", "FULLY_CONNECTED", "GATHER", "GELU", "HARD_SWISH", "L2_NORMALIZATION",
    "L2_POOL_2D", "LEAKY_RELU", "LOCAL_RESPONSE_NORMALIZATION", "LOG", "LOGISTIC", "LOG_SOFTMAX",
    "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "PACK", "PAD", "PADV2",
    "POW", "PRELU", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "RELU", "RELU6", "RELU_N1_TO_1",
    "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "RSQRT", "SHAPE", "SIN",
    "SLICE", "SOFTMAX", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE", "SQUARED_DIFFERENCE",
    "SQUEEZE", "STRIDED_SLICE", "SUB", "SUM", "TANH", "TILE", "TRANSPOSE", "TRANSPOSE_CONV", "UNPACK",
  ]

  /// Operators that compute each element alone, or none.
  private static let elementwise: Set<String> = [
    "DEQUANTIZE", "EXPAND_DIMS", "QUANTIZE", "RESHAPE", "SHAPE", "SQUEEZE",
  ]

  /// Whether a difference in the last bit of a float may hide in most answers: the model adds products of floats, and rounds,
  /// compares or counts some.
  private var roundsItsFloats: Bool {
    let floats: Set<ElementType> = [.float16, .bfloat16, .float32, .float64]
    let bytes: Set<ElementType> = [.int2, .int4, .int8, .uint4, .uint8]
    let used = instance.served.model.operatorCounts.filter { !floats.isDisjoint(with: $0.types) }
    guard !used.allSatisfy({ Self.elementwise.contains($0.name) }) else { return false }
    let shapes = instance.served.inputs.map(\.defaultShape)
    guard let tensors = try? instance.interpreter(for: shapes).tensors else { return true }
    let weights = tensors.filter { $0.isConstant && $0.shape.dimensions.count > 1 }
    let hasOnlyKnown = used.allSatisfy { Self.transparent.contains($0.name) }
    // With weights of bytes, inputs are quantized at run time, and sums are of integers.
    let addsProducts =
      !hasOnlyKnown || weights.contains { floats.contains($0.type) }
      || used.contains { $0.name == "BATCH_MATMUL" || $0.name == "DEQUANTIZE" }
    let rounds =
      !hasOnlyKnown || weights.contains { bytes.contains($0.type) }
      || !instance.served.outputs.allSatisfy { floats.contains($0.elementType) }
    return addsProducts && rounds
  }

  /// One item of random numbers: floats within −1 to 1, whole numbers of all values or, beyond a byte, up to 100. Nil where it takes
  /// too long.
  private func request(_ random: inout SplitMix, _ cancellation: Cancellation) -> InferenceRequest? {
    var inputs: [InferenceRequest.Input] = []
    for input in instance.served.inputs {
      let count = input.defaultShape.reduce(1, *)
      var bytes = ByteBufferAllocator().buffer(capacity: count * (input.datatype.byteCount ?? 1))
      for index in 0..<count {
        if index & 0xF_FFFF == 0xF_FFFF, cancellation.isCancelled { return nil }
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
      inputs.append(.init(shape: input.defaultShape, contents: .elements(ByteChunks(bytes))))
    }
    let outputs = instance.served.outputs.indices.map {
      InferenceRequest.Output(position: $0, classes: nil, isBinary: true)
    }
    return InferenceRequest(id: "", inputs: inputs, outputs: outputs, batch: 1, priority: 2, timeout: nil)
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
