// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// SciPy's samples of WAV files and of other rates, and LiteRT's answers; made by `Tools/vision/audio.py`.
struct AudioGoldens: Decodable {
  /// A file, and its samples from −1 to 1 as little-endian floats.
  struct File: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let file: Data
    let rate, channels: Int
    let samples: Data

    var testDescription: String { name }
  }

  /// Samples at one rate, and those that SciPy has at another.
  struct Rates: Decodable, Sendable, CustomTestStringConvertible {
    let rate, wanted: Int
    let samples, result: Data

    var testDescription: String { "\(rate) to \(wanted)" }
  }

  /// YAMNet's scores for each window.
  struct Heard: Decodable {
    struct Window: Decodable {
      let start: Double
      let scores: Data
    }

    /// The sound; nil for that of the record before.
    let file: Data?
    let overlap: Double
    let windows: [Window]
  }

  let files: [File]
  let rates: [Rates]
  let heard: [Heard]

  /// The file's only record; none where it is missing or broken, which tests notice.
  static var all: [AudioGoldens] { goldens("audio") }
  static let files = all.flatMap(\.files)
  static let rates = all.flatMap(\.rates)
}

extension Data {
  /// Little-endian floats.
  var floats: [Float] {
    stride(from: 0, to: count, by: 4).map { place in
      Float(
        bitPattern: (0..<4).reduce(UInt32(0)) {
          $0 | UInt32(self[startIndex + place + $1]) << (8 * UInt32($1))
        })
    }
  }
}
