// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A `QuantizedEpilogue` that is laid out by the run that first needs it: hardly any layer does.
final class LateEpilogue: Sendable {
  private let epilogue: Epilogue
  private let channels: Int
  private let made = AtomicLazyReference<QuantizedEpilogue>()

  init(_ epilogue: Epilogue, channels: Int) {
    self.epilogue = epilogue
    self.channels = channels
  }

  /// The same for all threads; nil for an epilogue of floats.
  var value: QuantizedEpilogue? {
    made.load() ?? QuantizedEpilogue(epilogue, channels: channels).map { made.storeIfNil($0) }
  }
}
