// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A small model with what the public rules find in its answer; made by `Tools/vision/goldens.py`.
struct DetectorCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Object: Decodable, Sendable {
    let index: Int
    let score: Float
    /// Left, top, right and bottom in pixels of the picture.
    let edges: [Float]
    let label: String?
    /// The pixels of its mask.
    let area: Int?
    /// x, y and score.
    let keypoints: [[Float]]?
    /// x and y.
    let center: [Float]?
    /// x and y of each corner of a turned box.
    let corners: [[Float]]?
    /// In radians.
    let angle: Float?
  }

  let name: String
  /// The file, as base64.
  let model: String
  /// The width and height of the picture.
  let picture: [Int]
  /// Options of the command line.
  let options: [String]
  let objects: [Object]?
  /// A part of the error's message.
  let error: String?
  /// A part of an answer's refusal.
  let refusal: String?
  /// A part of a warning.
  let warning: String?
  let kind: String?

  var testDescription: String { name }

  /// The file.
  var bytes: [UInt8] { Array(Data(base64Encoded: model) ?? Data()) }

  static let all: [DetectorCase] = ["yolo-2-to-7", "yolo-later", "yolo-square", "detectors"].flatMap {
    goldens($0)
  }
}
