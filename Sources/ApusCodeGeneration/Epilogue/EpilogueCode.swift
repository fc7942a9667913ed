// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import Synchronization

/// The functions of a layer for one epilogue, and the factors that they read.
@safe final class EpilogueCode: @unchecked Sendable {
  // @unchecked: factors are written by the initializer only.

  /// The functions for blocks of rows, or of pixels in depthwise convolutions.
  let functions: BlockFunctions
  /// The functions of depthwise convolutions that read the input in place, by the index of their run of
  /// columns.
  let runFunctions: BlockFunctions
  private let factors: UnsafeMutableRawPointer
  private let factorByteCount: Int

  /// Lays out the factors of `blockCount` panels or blocks of channels.
  init(
    _ epilogue: LoweredEpilogue, _ operands: MatrixOperands, target: any CodeTarget, blockCount: Int,
    lanes: (_ block: Int) -> ChannelLanes, functions: BlockFunctions, runFunctions: BlockFunctions
  ) {
    self.functions = functions
    self.runFunctions = runFunctions
    factorByteCount = target.factorByteCount
    unsafe factors = .allocate(byteCount: max(1, blockCount) * factorByteCount, alignment: 64)
    unsafe target.fillFactors(factors, operands, epilogue, blockCount: blockCount, lanes: lanes)
  }

  deinit { unsafe factors.deallocate() }

  /// The address of a block's factors.
  @inline(__always)
  func factors(_ block: Int) -> Int { unsafe Int(bitPattern: factors + block &* factorByteCount) }

  private static let making = Mutex(0)

  /// Returns `code`, and creates it if a run needs it for the first time, whatever the limit for code is.
  ///
  /// Few layers need one. Without memory for it, the process ends.
  static func made(
    _ code: inout EpilogueCode?, _ body: (CodePlacement) throws(Decline) -> EpilogueCode
  ) -> EpilogueCode {
    making.withLock { _ in
      let made = unsafe code ?? (try? body { unsafe $0.place(withinLimit: false) })
      guard let made else { preconditionFailure("no memory for code") }
      code = made
      return made
    }
  }
}
