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
  /// The most letters of a damaged line in a message.
  private static let maximumShownLength = 40
  /// The most bytes of a line.
  private static let maximumLineLength = 1 << 10

  /// The file and the parameters of an output's calibration in the metadata; nil if there is none. Several
  /// outputs may share a file. The file is nil if the metadata names none.
  static func named(
    by prepared: some DescribedModel, output: Int
  ) -> (file: String?, calibration: TensorMetadata.ScoreCalibration)? {
    guard let tensor = prepared.description(of: output), let calibration = tensor.scoreCalibration else {
      return nil
    }
    return (tensor.associatedFiles.first { $0.type == .tensorAxisScoreCalibration }?.name, calibration)
  }

  /// The warning about a calibration that cannot be applied.
  ///
  /// - Parameters:
  ///   - file: The file's name; nil if the metadata names none.
  ///   - error: The reason why it is not read.
  static func warning(ofUnread file: String?, _ error: ApusError? = nil) -> String {
    "the scores are not calibrated, though the metadata says how: "
      + (file.map { "\($0) in the model is not read (\(error?.message ?? "missing"))" }
        ?? "it names no file of parameters")
      + ", so scores and their order may differ from the author's"
  }

  /// The sigmoids of a file, meant as the metadata says.
  init(_ sigmoids: [Sigmoid?], _ calibration: TensorMetadata.ScoreCalibration) {
    self.sigmoids = sigmoids
    transformation = calibration.transformation
    defaultScore = calibration.defaultScore
  }

  /// The calibration that the metadata gives an output, or a warning why there is none; both are nil if the metadata gives none.
  static func reading(
    of prepared: some DescribedModel, output: Int
  ) -> (calibration: ScoreCalibration?, warning: String?) {
    guard let (file, calibration) = named(by: prepared, output: output) else { return (nil, nil) }
    guard let file else { return (nil, warning(ofUnread: nil)) }
    do throws(ApusError) {
      let sigmoids = try sigmoids(parsing: prepared.model.associatedFile(named: file))
      return (ScoreCalibration(sigmoids, calibration), nil)
    } catch {
      return (nil, warning(ofUnread: file, error))
    }
  }

  /// Reads a file.
  ///
  /// - Throws: `invalidData` if a line is neither empty nor three or four numbers with a scale from 0 on; `resourceLimit` for too many
  ///   lines.
  static func sigmoids(parsing text: [UInt8]) throws(ApusError) -> [Sigmoid?] {
    var sigmoids: [Sigmoid?] = []
    func damage(_ found: String) -> ApusError {
      ApusError(
        .invalidData,
        "line \(sigmoids.count + 1): \(found), not empty or 'scale,slope,offset' with a scale of 0 or more, and perhaps ',minimum'"
      )
    }
    let lines = text.split(
      separator: UInt8(ascii: "\n"), maxSplits: maximumCount, omittingEmptySubsequences: false)
    for line in lines {
      guard sigmoids.count < maximumCount else {
        throw ApusError(.resourceLimit, "there are more than \(maximumCount) lines")
      }
      guard line.count <= maximumLineLength else { throw damage("\(line.count) bytes") }
      let line = String(decoding: line.filter { ![0x0D, 0x20, 0x09].contains($0) }, as: UTF8.self)
      if line.isEmpty {
        sigmoids.append(nil)
        continue
      }
      let numbers = line.split(separator: ",", omittingEmptySubsequences: false).map { Float($0) ?? .nan }
      guard numbers.count == 3 || numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[0] >= 0 else {
        throw damage("'\(line.prefix(maximumShownLength))'")
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
