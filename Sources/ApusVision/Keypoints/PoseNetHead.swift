// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// PoseNet without its decoder: maps of scores and displacements.
struct PoseNetHead: KeypointHead {
  private let scores: Int
  private let short: Int
  /// One output with displacements in both directions, or one for each, forward first.
  private let middle: [Int]
  /// Whether names say which of two outputs leads forward; nil for one output.
  private let areDirectionsNamed: Bool?
  private let decoder: PoseNetDecoder
  private let scoreForm: Decision<ScoreForm>
  /// A warning if the model contradicts the given form of its scores; nil otherwise.
  private let givenWarning: String?
  private let stride: Float
  private let width: Float
  private let height: Float

  /// Recognizes maps of 17, 34 and 64, or 17, 34, 32 and 32 channels; nil for other outputs.
  init?(_ prepared: PreparedModel) {
    let outputs = prepared.outputs
    func maps(_ channels: Int) -> [Int] {
      outputs.indices.filter {
        outputs[$0].shape.rank == 4 && outputs[$0].shape[0] == 1 && outputs[$0].shape[3] == channels
      }
    }
    let channels = PoseNetDecoder.channels
    func isNamed(_ output: Int, _ word: String) -> Bool { outputs[output].name.lowercased().contains(word) }
    // Some exports have a second map of 17 channels: the scores where they are the greatest around, and 0 elsewhere.
    let heat = maps(channels.scores)
    guard let scores = heat.first(where: { !isNamed($0, "max") }) ?? heat.first,
      let short = maps(channels.short).first
    else { return nil }
    var middle = maps(channels.middle)
    if middle.isEmpty {
      middle = maps(channels.middle / 2)
      guard middle.count == 2 else { return nil }
      if isNamed(middle[0], "bwd"), isNamed(middle[1], "fwd") { middle.reverse() }
      areDirectionsNamed = isNamed(middle[0], "fwd") && isNamed(middle[1], "bwd")
    } else {
      middle = [middle[0]]
      areDirectionsNamed = nil
    }
    let shape = outputs[scores].shape
    let sizes = ([short] + middle).map { outputs[$0].shape.dimensions[1..<3] }
    guard sizes.allSatisfy({ $0 == shape.dimensions[1..<3] }), shape[1] > 1, shape[2] > 1 else { return nil }
    let geometry = prepared.geometry
    stride = Float(geometry.height - 1) / Float(shape[1] - 1)
    guard let decoder = PoseNetDecoder(height: shape[1], width: shape[2], stride: stride.rounded()) else {
      return nil
    }
    self.decoder = decoder
    (self.scores, self.short, self.middle) = (scores, short, middle)
    (width, height) = (Float(geometry.width), Float(geometry.height))
    let reading = prepared.scores(of: scores, given: prepared.options.scores, usual: .logit)
    scoreForm = Decision(reading.form, reading.assumption)
    givenWarning = reading.warning
  }

  var kind: String { "PoseNet" }
  var reason: String { "the outputs are maps of 17, 34 and 64 channels" }
  var pictureDefaults: PictureDefaults {
    PictureDefaults(fit: .letterbox(fill: .black), reason: "usual for PoseNet")
  }

  var readings: [Assumption] {
    [
      Assumption("layout", kind, .guess, reason: reason),
      Assumption("box units", BoxUnits.pixel.rawValue, .guess, reason: "so PoseNet has them"),
      scoreForm.assumption,
    ]
      + (areDirectionsNamed.map { areNamed in
        [
          Assumption(
            "displacements", "output \(middle[0]) leads forward, \(middle[1]) back",
            areNamed ? .model : .guess,
            reason: areNamed ? "their names" : "forward usually comes first")
        ]
      } ?? [])
  }

  var warnings: [String] {
    [
      scoreForm.warning, givenWarning,
      areDirectionsNamed == false
        ? "output \(middle[0]) is taken for the displacements forward and output \(middle[1]) for those back, a guess: their names do not say fwd and bwd"
        : nil,
    ].compactMap(\.self)
  }
  var isUndecided: Bool { scoreForm.isOpen }

  var roles: [Int: String] {
    var roles = [
      scores: scoreForm.value == .logit ? "logits of 17 points" : "scores of 17 points",
      short: "displacements to the points: 17 of rows, 17 of columns",
    ]
    for output in middle { roles[output] = "displacements from point to point along the 16 edges" }
    return roles
  }

  var steps: [String] {
    [
      "cells are \(Int(stride.rounded())) pixels of the input apart; displacements are pixels of the input",
      "local maxima of the scores begin poses, best first, and displacements lead on along the edges (PersonLab)",
      "points of one kind are at least 20 pixels apart; the pose's score is the mean of its points'",
    ]
  }

  func poses(in run: ModelRun, threshold: Float) throws(ApusError) -> [ModelPose] {
    var logits = try run.values(of: scores)
    if try scoreForm.settle(byCandidates: logits) != .logit { logits = logits.map(Self.logit) }
    let displacements = try run.values(of: short)
    var between = try run.values(of: middle[0])
    if middle.count == 2 { between = Self.joined(between, try run.values(of: middle[1])) }
    let channels = PoseNetDecoder.channels
    let cells = decoder.cellCount
    guard logits.count == cells * channels.scores, displacements.count == cells * channels.short,
      between.count == cells * channels.middle
    else {
      throw ApusError(.invalidData, "the outputs have other shapes than when prepared")
    }
    return decoder.poses(scores: logits, short: displacements, middle: between, threshold: threshold).map {
      pose in
      ModelPose(
        score: pose.score,
        keypoints: pose.points.map { ModelKeypoint(x: $0.x / width, y: $0.y / height, score: $0.score) })
    }
  }

  /// The number whose sigmoid is a probability; NaN for what is none.
  private static func logit(_ probability: Float) -> Float { log(probability / (1 - probability)) }

  /// The channels of one map behind those of the other, cell by cell.
  private static func joined(_ one: [Float], _ other: [Float]) -> [Float] {
    let half = PoseNetDecoder.channels.middle / 2
    var result: [Float] = []
    result.reserveCapacity(one.count + other.count)
    for start in Swift.stride(from: 0, to: min(one.count, other.count) - half + 1, by: half) {
      result += one[start..<start + half]
      result += other[start..<start + half]
    }
    return result
  }
}
