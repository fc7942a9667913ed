// SPDX-License-Identifier: Apache-2.0

/// A generated function that reduces taps.
package struct TapReductionCode: Sendable {
  /// The arguments of the function.
  struct Arguments: CodeArguments {
    /// The address of the first pixel, to which tap offsets are relative.
    var source = 0
    var target = 0
    /// The number of vectors, and bytes between them.
    var count = 0
    var sourceStep = 0
    var targetStep = 0
    /// The number of groups of vectors, and bytes between groups.
    var pixels = 1
    var sourcePixelStep = 0
    var targetPixelStep = 0
    /// The address of the first tap offset, and the address after the last.
    var taps = 0
    var tapsEnd = 0
    /// The shift of ``WordMean``, in the first half of 16 bytes.
    var shift: (Int, Int) = (0, 0)
    /// The bounds, repeated to fill 32 bits.
    var least: UInt32 = 0
    var most: UInt32 = 0
    /// The factor or divisor, and the other constants of ``WordMean``.
    var factor: UInt32 = 0
    var rounding: UInt32 = 0
    var halves: UInt32 = 0
    /// A mask of the bits of bytes to flip.
    var flip: UInt32 = 0
  }

  let reduction: TapReduction
  let function: CodeFunction<Arguments>

  init(_ reduction: TapReduction, _ generator: any CodeGenerator) throws(Decline) {
    self.reduction = reduction
    function = try unsafe CodeFunction(generator)
  }
}
