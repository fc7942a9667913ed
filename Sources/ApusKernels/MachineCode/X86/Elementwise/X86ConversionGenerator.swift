// SPDX-License-Identifier: Apache-2.0

/// Generates what makes bytes of floats, and floats of bytes, by one scale: a vector of 16 floats at a time.
struct X86ConversionGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    /// How many vectors.
    var vectors = 0
    var scale: Float = 1
    /// The bounds of quotients.
    var least: Float = 0
    var most: Float = 0
    var zeroPoint: Int32 = 0
    /// What stands for quotients that do not fit 32 bits.
    var outOfRange: Int32 = 0
    /// The greatest float below one half.
    var belowHalf: Float = 0x1.fffffep-2
    var sign: UInt32 = 1 << 31
    var magnitude: UInt32 = .max >> 1
    /// The bits of 2³¹ as a float.
    var limit: UInt32 = 0x4F00_0000
  }

  enum Kind: Hashable {
    case toBytes
    case toFloats(isSigned: Bool)
  }

  let kind: Kind

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private let width = X86Assembler.Width.zmm

  // Registers.
  private let scale = 31
  private let least = 30
  private let most = 29
  private let zeroPoint = 28
  private let outOfRange = 27
  private let belowHalf = 26
  private let sign = 25
  private let magnitude = 24
  private let limit = 23

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .evex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.rcx, .init(.rdi, A.offset(\.vectors)))
    let fields: [(Int, PartialKeyPath<Arguments>)] = [
      (scale, \.scale), (least, \.least), (most, \.most), (zeroPoint, \.zeroPoint),
      (outOfRange, \.outOfRange),
      (belowHalf, \.belowHalf), (sign, \.sign), (magnitude, \.magnitude), (limit, \.limit),
    ]
    for (register, field) in fields {
      a.vector(.vbroadcastss, width, register, 0, Memory(.rdi, A.offset(field)))
    }
    let next = a.loopHead()
    switch kind {
    case .toBytes: writeBytes(&a)
    case .toFloats(let isSigned):
      a.vector(isSigned ? .vpmovsxbd : .vpmovzxbd, width, 0, 0, Memory(.rax))
      a.vector(.vpsubd, width, 0, 0, zeroPoint)
      a.vector(.vcvtdq2ps, width, 0, 0, 0)
      a.vector(.vmulps, width, 0, 0, scale)
      a.vector(.vmovupsStore, width, 0, 0, Memory(.rdx))
      a.add(.rax, 16)
      a.add(.rdx, 64)
    }
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  private func writeBytes(_ a: inout X86Assembler) {
    a.vector(.vmovups, width, 0, 0, Memory(.rax))
    a.vector(.vdivps, width, 0, 0, scale)
    // All bits where the quotient fits 32 bits, which NaN does not.
    a.vector(.vpand, width, 1, 0, magnitude)
    a.vector(.vpsubd, width, 1, 1, limit)
    a.shift(.shiftDoubles, digit: 4, width, 1, 1, by: 31)
    // Bounds are integers, on either side of zero: clamping before rounding makes no difference.
    a.vector(.vmaxps, width, 2, least, 0)
    a.vector(.vminps, width, 2, most, 2)
    // Away from zero by almost one half, then cut off: nearest, halves away from zero.
    a.vector(.vpand, width, 3, 0, sign)
    a.vector(.vpor, width, 3, 3, belowHalf)
    a.vector(.vaddps, width, 2, 2, 3)
    a.vector(.vcvttps2dq, width, 2, 0, 2)
    a.vector(.vpaddd, width, 2, 2, zeroPoint)
    a.vector(.vpxor, width, 2, 2, outOfRange)
    a.vector(.vpand, width, 2, 2, 1)
    a.vector(.vpxor, width, 2, 2, outOfRange)
    a.vector(.vpmovdb, width, 2, 0, Memory(.rdx))
    a.add(.rax, 64)
    a.add(.rdx, 16)
  }
}

extension X86Target {
  /// What makes bytes of floats; throws where there is no code, or it cannot be placed.
  func quantization(_ quantization: FloatQuantization) throws(Decline) -> ConversionMapping {
    let (least, most) = (
      Int(quantization.minimum) - Int(quantization.zeroPoint),
      Int(quantization.maximum) - Int(quantization.zeroPoint)
    )
    guard least <= 0, most >= 0, most - least < 256 else {
      throw Decline("the zero point, \(quantization.zeroPoint), is no byte of the type")
    }
    return try conversion(
      .toBytes,
      .init(
        scale: quantization.scale, least: Float(least), most: Float(most), zeroPoint: quantization.zeroPoint,
        outOfRange: quantization.outOfRange))
  }

  /// What makes floats of bytes; throws where there is no code, or it cannot be placed.
  func dequantization(_ dequantization: Dequantization, isSigned: Bool) throws(Decline) -> ConversionMapping {
    try conversion(
      .toFloats(isSigned: isSigned), .init(scale: dequantization.scale, zeroPoint: dequantization.zeroPoint))
  }

  private func conversion(
    _ kind: X86ConversionGenerator.Kind, _ arguments: X86ConversionGenerator.Arguments
  ) throws(Decline) -> ConversionMapping {
    guard self == .avx512 else { throw Decline("there is no code that narrows lanes in one instruction") }
    let function = try CodeFunction<X86ConversionGenerator.Arguments>(X86ConversionGenerator(kind: kind))
    return { output, count, input in
      let vectors = count / 16
      guard vectors > 0 else { return 0 }
      ExecutableMemory.seal()
      var own = arguments
      own.source = Int(bitPattern: input)
      own.target = Int(bitPattern: output)
      own.vectors = vectors
      function.call(own)
      return vectors &* 16
    }
  }
}
