// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One way of making the outputs of a layer: an epilogue's functions, and the factors that they read.
@safe final class OutputForm: @unchecked Sendable {
  // @unchecked: factors are written once, before anybody else reads them.

  /// Functions of blocks of rows, or of pixels of depthwise convolutions.
  let functions: BlockFunctions
  /// Functions of depthwise convolutions for the runs of columns of an input that is read in place, by the runs' numbers.
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

  /// The form that a run turns out to need, made once, whether or not the limit for code is reached.
  ///
  /// Few layers have one; without memory for it the process ends.
  static func made(
    _ form: inout OutputForm?, _ body: (CodePlacement) throws(Decline) -> OutputForm
  ) -> OutputForm {
    making.withLock { _ in
      let made = unsafe form ?? (try? body { unsafe $0.place(withinLimit: false) })
      guard let made else { preconditionFailure("no memory for code") }
      form = made
      return made
    }
  }
}
