// SPDX-License-Identifier: Apache-2.0
import Apus

/// The unit of the positions that a model gives.
public enum BoxUnits: String, Codable, Hashable, Sendable, CaseIterable {
  /// Fractions of the input's sides, 0 to 1.
  case fraction
  /// Pixels of the input.
  case pixel
}

extension BoxUnits {
  /// Fractions do not go beyond this, and boxes in pixels do.
  private static let maximumFraction: Float = 2
  /// An answer whose boxes end before this many pixels is not one in pixels.
  private static let minimumPixels: Float = 8

  /// The unit that boxes show, all of which count; nil without any.
  ///
  /// - Parameters:
  ///   - edges: The greatest coordinate of each box, as the model gives it.
  ///   - check: The readings to name in an error.
  /// - Throws: `invalidData` if some boxes show one unit, and some the other.
  init?(shownBy edges: [Float], _ check: AnswerCheck) throws(ApusError) {
    guard let greatest = edges.max() else { return nil }
    let beyond = edges.count { $0 > Self.maximumFraction }
    if beyond == 0 {
      self = .fraction
    } else if beyond == edges.count, greatest > Self.minimumPixels {
      self = .pixel
    } else {
      throw check.refusal(
        "\(beyond) of \(edges.count) boxes reach beyond 2 and none beyond \(greatest), so that they are neither fractions nor pixels",
        "box units", "layout")
    }
  }
}
