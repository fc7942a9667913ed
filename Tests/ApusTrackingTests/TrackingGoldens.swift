// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Other libraries' answers for the scenes; Tools/tracking/goldens.py writes them.
struct TrackingGoldens: Decodable, Sendable {
  struct Options: Decodable {
    var lostTrackBuffer: Int?
    var frameRate: Double?
    var trackActivationThreshold: Double?
    var minimumConsecutiveFrames: Int?
    var minimumIouThreshold: Double?
  }

  struct Tracks: Decodable, CustomTestStringConvertible {
    let method: String
    let seed: Int
    let objects: Int
    let frames: Int
    let options: Options
    let hasTimes: Bool
    let ids: [String]
    let lastBoxes: [String: [Double]]

    var testDescription: String { "\(method), scene \(seed)" }
  }

  struct Assignment: Decodable, CustomTestStringConvertible {
    let seed: Int
    let rows: Int
    let columns: Int
    let levels: Int
    let total: Double

    var testDescription: String { "\(rows) × \(columns), \(levels) levels" }
  }

  struct Zone: Decodable {
    let corners: [[Double]]
    let step: Double
    let rows: [String]
  }

  struct Smoothing: Decodable {
    let minimumCutoff: Double
    let beta: Double
    let derivativeCutoff: Double
    let seed: Int
    let values: [Double]
  }

  let tracks: [Tracks]
  let assignments: [Assignment]
  let lines: [String: String]
  let zones: [Zone]
  let smoothing: [Smoothing]

  static let all: TrackingGoldens = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Goldens/tracking.json")
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try! decoder.decode(TrackingGoldens.self, from: Data(contentsOf: file))
  }()
}
