// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A small model with what the public rules answer; made by `Tools/vision/goldens.py`.
struct TaskCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Class: Decodable, Sendable {
    let index: Int
    let score: Float
    let label: String?
  }

  struct Head: Decodable, Sendable {
    let name: String
    let classes: [Class]
  }

  struct Face: Decodable, Sendable {
    let score: Float
    /// Left, top, right and bottom in pixels of the picture.
    let edges: [Float]
    /// x and y.
    let keypoints: [[Float]]
  }

  struct Pose: Decodable, Sendable {
    let score: Float
    /// x, y and score.
    let keypoints: [[Float]]
  }

  let name: String
  let task: String
  /// The file, as base64.
  let model: String
  /// The width and height of the picture.
  let picture: [Int]
  let labels: [String]?
  /// The keypoints of an object and the numbers of each, where the file does not say it.
  let shape: [Int]?
  let classes: [Class]?
  let heads: [Head]?
  let embeddings: [[Float]]?
  let faces: [Face]?
  /// The class of each pixel.
  let mask: [UInt8]?
  let poses: [Pose]?
  /// A part of the error's message.
  let error: String?

  var testDescription: String { "\(task): \(name)" }

  /// The file.
  var bytes: [UInt8] { Array(Data(base64Encoded: model) ?? Data()) }

  static let all: [TaskCase] = goldens("tasks")

  /// The cases of a task that expect an answer, not an error.
  static func answering(_ task: String) -> [TaskCase] {
    all.filter { $0.task == task && $0.error == nil }
  }
}
