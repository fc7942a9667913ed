// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// Turns scores into probabilities by a sigmoid for each class, as the metadata's score calibration defines it.
struct ScoreCalibration: Hashable, Sendable {
  /// One line of the file: `scale, slope, offset` and optionally the minimum score.
  struct Sigmoid: Hashable, Sendable {
    let scale: Float
    let slope: Float
    let offset: Float
    let minimum: Float?
  }

  private let sigmoids: [Sigmoid?]
  private let transformation: TensorMetadata.ScoreCalibration.Transformation
  private let defaultScore: Float

  /// The maximum number of classes that are read.
  static let maximumCount = 1 << 20
  /// The most bytes of a line.
  private static let maximumLineLength = 1 << 10

  /// The file and the parameters of an output's calibration in the metadata; nil if there is none. Several
  /// outputs may share a file.
  static func named(
    by prepared: some DescribedModel, output: Int
  ) -> (file: String, calibration: TensorMetadata.ScoreCalibration)? {
    guard let tensor = prepared.description(of: output), let calibration = tensor.scoreCalibration,
      let file = tensor.associatedFiles.first(where: { $0.type == .tensorAxisScoreCalibration })
    else { return nil }
    return (file.name, calibration)
  }

  /// The sigmoids of a file, meant as the metadata says.
  init(_ sigmoids: [Sigmoid?], _ calibration: TensorMetadata.ScoreCalibration) {
    self.sigmoids = sigmoids
    transformation = calibration.transformation
    defaultScore = calibration.defaultScore
  }

  /// The calibration that the metadata gives an output; nil if there is none, or none that can be read.
  init?(of prepared: some DescribedModel, output: Int) {
    guard let (file, calibration) = Self.named(by: prepared, output: output),
      let text = try? prepared.model.associatedFile(named: file), let sigmoids = Self.sigmoids(parsing: text)
    else { return nil }
    self.init(sigmoids, calibration)
  }

  /// Reads a file; nil if a line is neither empty nor three or four numbers with a scale from 0 on.
  static func sigmoids(parsing text: [UInt8]) -> [Sigmoid?]? {
    var sigmoids: [Sigmoid?] = []
    let lines = text.split(
      separator: UInt8(ascii: "\n"), maxSplits: maximumCount, omittingEmptySubsequences: false)
    for line in lines {
      guard sigmoids.count < maximumCount, line.count <= maximumLineLength else { return nil }
      let line = String(decoding: line.filter { ![0x0D, 0x20, 0x09].contains($0) }, as: UTF8.self)
      if line.isEmpty {
        sigmoids.append(nil)
        continue
      }
      let numbers = line.split(separator: ",", omittingEmptySubsequences: false).map { Float($0) ?? .nan }
      guard numbers.count == 3 || numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[0] >= 0 else {
        return nil
      }
      sigmoids.append(
        Sigmoid(
          scale: numbers[0], slope: numbers[1], offset: numbers[2],
          minimum: numbers.count == 4 ? numbers[3] : nil))
    }
    return sigmoids
  }

  /// The calibrated score of a class.
  func score(_ score: Float, of index: Int) -> Float {
    guard sigmoids.indices.contains(index), let sigmoid = sigmoids[index],
      !(sigmoid.minimum.map { score < $0 } ?? false)
    else { return defaultScore }
    let transformed: Float =
      switch transformation {
      case .identity: score
      case .log: Self.clampedLogarithm(score)
      case .inverseLogistic: Self.clampedLogarithm(score) - Self.clampedLogarithm(1 - score)
      }
    let value = Double(transformed * sigmoid.slope + sigmoid.offset)
    let result =
      value >= 0
      ? Double(sigmoid.scale) / (1 + exp(-value)) : Double(sigmoid.scale) * exp(value) / (1 + exp(value))
    return max(min(Float(result), sigmoid.scale), 0)
  }

  /// The logarithm, continued below 1e-16 so that it stays finite and in order.
  private static func clampedLogarithm(_ value: Float) -> Float {
    let threshold = 1e-16
    let value = Double(value)
    return Float(value < threshold ? 2 * log(threshold) - log(2 * threshold - value) : log(value))
  }

  /// The rule, for people.
  var description: String {
    let argument =
      switch transformation {
      case .identity: "score"
      case .log: "log(score)"
      case .inverseLogistic: "log(score / (1 - score))"
      }
    return
      "scores are calibrated for each class: scale / (1 + exp(-(slope * \(argument) + offset))), from the metadata"
  }
}
