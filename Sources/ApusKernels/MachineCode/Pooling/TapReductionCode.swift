// SPDX-License-Identifier: Apache-2.0

/// A generated function that reduces taps.
package struct TapReductionCode: Sendable {
  /// What the function is told.
  struct Arguments: CodeArguments {
    /// The first vector's pixel, from which offsets of taps count.
    var source = 0
    var target = 0
    /// Vectors, and bytes between them.
    var count = 0
    var sourceStep = 0
    var targetStep = 0
    /// How often so many vectors are made, and bytes between their first ones.
    var pixels = 1
    var sourcePixelStep = 0
    var targetPixelStep = 0
    /// Offsets of taps, up to another address.
    var taps = 0
    var tapsEnd = 0
    /// The count that ``WordMean`` shifts by, in the first half of 16 bytes.
    var shift: (Int, Int) = (0, 0)
    /// Bounds, repeated to fill 32 bits.
    var least: UInt32 = 0
    var most: UInt32 = 0
    /// The factor or divisor, and what ``WordMean`` has beside it.
    var factor: UInt32 = 0
    var rounding: UInt32 = 0
    var halves: UInt32 = 0
    /// Turns the highest bits of bytes.
    var flip: UInt32 = 0
  }

  let reduction: TapReduction
  let function: CodeFunction<Arguments>

  init(_ reduction: TapReduction, _ generator: any CodeGenerator) throws(Decline) {
    self.reduction = reduction
    function = try unsafe CodeFunction(generator)
  }
}
