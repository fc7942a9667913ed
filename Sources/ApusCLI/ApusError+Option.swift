// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

extension ApusError {
  /// The message with the option that raises the limit that was reached, where there is one.
  ///
  /// - Parameter isPicture: Whether the command has the options of pictures.
  func message(isPicture: Bool) -> String {
    if code == .invalidArgument, !message.contains("--") { return messageNamingOption }
    guard code == .resourceLimit, !message.contains("--") else { return message }
    if message.contains("longer than the limit") { return message + "; --time-limit raises it" }
    if message.contains(" bytes"),
      message.contains("more than the limit of") || message.contains("over the limit of")
    {
      return message + "; --memory-limit raises it"
    }
    if message.contains("all memory for interpreters") { return message + "; --memory-limit raises it" }
    if isPicture, let advice = pixelAdvice { return message + advice }
    // The library names its own option.
    return message.replacing("choose maxResults", with: "choose --top")
  }

  /// The advice for a picture that is too large: the limit that it needs, or that no limit admits it; nil for other errors.
  private var pixelAdvice: String? {
    guard let start = message.firstRange(of: "a picture of "),
      message.contains(" pixels is beyond the limit of ")
    else { return nil }
    let words = message[start.upperBound...].split(separator: " ", maxSplits: 3)
    guard words.count == 4, let width = Int(words[0]), let height = Int(words[2]) else { return nil }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, max(width, height) <= ImageBuffer.maximumSide, pixels <= ImageBuffer.maximumPixelCount
    else {
      return "; no option reads larger ones: make it smaller with another program"
    }
    return "; --pixel-limit \(PictureLimitOptions.megapixels(for: pixels)) admits it"
  }

  /// Parses the value of an option; what it refuses is wrong usage.
  static func usage<Value>(_ parse: () throws(ApusError) -> Value) throws -> Value {
    do throws(ApusError) { return try parse() } catch {
      throw ValidationError(error.message(isPicture: true))
    }
  }

  /// How the library's messages about its options begin, and what stands there for the options of the command line.
  private static let beginnings = [
    ("the score threshold is", "--score-threshold is"), ("the IoU threshold is", "--iou-threshold is"),
    ("the label offset is", "--label-offset is"), ("the overlap of windows is", "--overlap is"),
    ("the sample rate is", "--rate is"), ("maxResults is", "--max-results is"),
    ("the output index is", "--output-index is"), ("pixels are", "--pixels is"),
    ("anchors are '", "--anchors is '"),
    ("anchors are given as", "--anchors has"), ("anchors are given", "--anchors is given"),
    ("keypoints are '", "--keypoints is '"),
    ("maxHands is", "--max-results is"), ("maxFaces is", "--max-results is"),
    ("maxPoses is", "--max-results is"),
    ("minDetectionConfidence is", "--detection-threshold is"),
    ("minPoseDetectionConfidence is", "--detection-threshold is"),
    ("minPosePresenceConfidence is", "--score-threshold is"),
    ("minHandConfidence is", "--hand-threshold is"), ("minFaceConfidence is", "--face-threshold is"),
    ("minPresenceConfidence is", "--score-threshold is"),
    ("minTrackingConfidence is", "--tracking-threshold is"),
    ("maximumOverlap is", "--iou-threshold is"), ("palmAngle is", "--palm-angle is"),
    ("refinementCells is", "--refinement-cells is"),
    ("a list names the label", "--allow or --deny names the label"),
  ]

  /// The message about an option's value with the option's name on the command line.
  private var messageNamingOption: String {
    if message.contains(" samples, and is not open for ") { return message + ": --window" }
    guard let (beginning, option) = Self.beginnings.first(where: { message.hasPrefix($0.0) }) else {
      return message
    }
    return option + message.dropFirst(beginning.count)
  }
}
