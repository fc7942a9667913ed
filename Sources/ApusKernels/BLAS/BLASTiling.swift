// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The shapes that BLAS computes.
enum BLASTiling {
  /// The minimum number of rows: with fewer, `sgemm` spends its time on packing the weights.
  private static let minimumRows = 4

  /// Throws unless BLAS is there and faster than the portable kernels, and its 32-bit sizes suffice.
  static func require(_ convolution: Convolution) throws(Decline) {
    let most = Int(Int32.max) / 2
    let rows = convolution.rowCount
    guard rows >= minimumRows else {
      throw Decline(
        "the product has \(counted(rows, "row")), fewer than \(minimumRows): its time would go to packing")
    }
    try Decline.require(
      max(convolution.depth, convolution.inputChannels, convolution.outputChannels), below: most + 1,
      "the greatest size of a matrix")
    guard BLAS.isAvailable else { throw Decline("the library is not there") }
  }
}
