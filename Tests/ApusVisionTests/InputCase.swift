// SPDX-License-Identifier: Apache-2.0
import ApusVision
import Foundation
import TestSupport
import Testing

/// A small model with a form of input or output that pictures have, and what LiteRT answers; made by `Tools/vision/goldens.py`.
struct InputCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Picture: Decodable, Sendable {
    let width: Int
    let height: Int
    let channels: Int
    /// The pixels, as base64.
    let bytes: Data

    var image: ImageBuffer {
      get throws {
        try ImageBuffer(
          bytes: Array(bytes), width: width, height: height,
          format: channels == 1 ? .gray : channels == 3 ? .rgb : .rgba)
      }
    }
  }

  struct Options: Decodable, Sendable {
    let inputSize: [Int]?
    let pixels: String?
    let scores: ScoreForm?
    let outputPixels: String?
    let fitsOutput: Bool?
  }

  let name: String
  let task: String
  /// The file, as base64.
  let model: Data
  let picture: Picture
  let options: Options
  let labels: [String]?
  /// float32 numbers, as base64.
  let values: Data?
  /// The class of each pixel, as base64.
  let mask: Data?
  /// The masks of the same picture again and again, as base64.
  let video: [Data]?
  /// The width and height of a picture that is made.
  let size: [Int]?
  /// Its bytes, as base64.
  let drawn: Data?
  /// Its numbers of 16 bits, as base64.
  let steps: Data?
  /// A part of the error of a model that is refused.
  let error: String?
  /// A part of the error of an answer that is refused.
  let answerError: String?

  var testDescription: String { "\(task): \(name)" }

  static let all: [InputCase] = goldens("inputs")

  /// The cases of a task that expect an answer, not an error.
  static func answering(_ task: String) -> [InputCase] {
    all.filter { $0.task == task && $0.error == nil && $0.answerError == nil }
  }

  /// How pictures reach the model.
  var base: BaseOptions {
    get throws {
      var base = BaseOptions()
      base.inputSize = options.inputSize.map { ($0[0], $0[1]) }
      base.normalization = try options.pixels.map { try Normalization(parsing: $0) }
      base.scores = options.scores
      return base
    }
  }

  /// The numbers that LiteRT answers.
  var floats: [Float]? {
    values.map { data in
      stride(from: 0, to: data.count, by: 4).map { place in
        let bytes = (0..<4).map { UInt32(data[place + $0]) << (8 * $0) }
        return Float(bitPattern: bytes.reduce(0, |))
      }
    }
  }
}
