// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A generated function that reduces taps.
package struct TapReductionCode: Sendable {
  /// The arguments of the function.
  package struct Arguments: CodeArguments {
    /// The address of the first pixel, to which tap offsets are relative.
    package var source = 0
    /// The address of the first result.
    package var target = 0
    /// The number of vectors, and bytes between them.
    package var count = 0
    package var sourceStep = 0
    package var targetStep = 0
    /// The number of groups of vectors, and bytes between groups.
    package var pixels = 1
    package var sourcePixelStep = 0
    package var targetPixelStep = 0
    /// The address of the first tap offset, and the address after the last.
    package var taps = 0
    package var tapsEnd = 0
    /// The shift of ``WordMean``, in the first half of 16 bytes.
    package var shift: (Int, Int) = (0, 0)
    /// The bounds, repeated to fill 32 bits.
    package var least: UInt32 = 0
    package var most: UInt32 = 0
    /// The factor or divisor, or where a maximum of floats starts, and the other constants of ``WordMean``.
    package var factor: UInt32 = 0
    package var rounding: UInt32 = 0
    package var halves: UInt32 = 0
    /// A mask of the bits of bytes to flip.
    package var flip: UInt32 = 0
  }

  let reduction: TapReduction
  let function: CodeFunction<Arguments>

  /// Places a generator's function; throws if there is no memory for it.
  package init(_ reduction: TapReduction, _ generator: any CodeGenerator) throws(Decline) {
    self.reduction = reduction
    function = try unsafe CodeFunction(generator)
  }
}
