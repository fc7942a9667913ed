// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether answers of a mask in logits have negative numbers, as they do wherever something is not there.
final class LogitSigns: Sendable {
  /// The least number of the answers so far; nil before the first.
  private let least = Mutex<Float?>(nil)

  /// Takes the least number of an answer.
  func add(_ value: Float) { least.withLock { $0 = min($0 ?? value, value) } }

  /// A warning while no answer has a negative number; usually empty.
  var warnings: [String] {
    guard let least = least.withLock({ $0 }), least >= 0 else { return [] }
    return [
      "no number of the answers is negative, so that the whole picture is in the mask: if they are depths or a picture, 'apus transform' "
        + "gives them; if they are probabilities, --scores probability says so"
    ]
  }
}
