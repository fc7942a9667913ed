// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ApusVision
import Foundation

/// What the query of a vision task says: `model`, `score_threshold`, `max_results`, `allow`, `deny`, `fit`, `pixels`,
/// `channels`, `box_units`, `scores`, `layout`, `candidates`, `anchors`, `keypoints`, `output_pixels`, `fit_output`, `faces`,
/// `annotate`, `output`.
struct PictureQuery {
  private(set) var model: String?
  /// The name of the face detector of an embedder.
  private(set) var faces: String?
  var settings = PictureTask.Settings()
  private(set) var form = PictureTask.Form.json

  /// Reads a query as it stands in the path, after the question mark.
  init(_ query: String) throws(ServingError) {
    for parameter in query.split(separator: "&") {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts[0].removingPercentEncoding,
        let text = (parts.count > 1 ? parts[1] : "").replacing("+", with: " ").removingPercentEncoding
      else { throw .bad("the query is not percent-encoded UTF-8: \(parameter.prefix(100))") }
      switch name {
      case "model": model = text
      case "faces": faces = text
      case "score_threshold":
        guard let score = Float(text), score.isFinite else {
          throw .bad("score_threshold is '\(text)', not a number")
        }
        settings.scoreThreshold = score
      case "max_results":
        guard let count = Int(text), count >= 1 else {
          throw .bad("max_results is '\(text)', not a whole number from 1")
        }
        settings.maximumResults = count
      case "allow": settings.allowed.append(text)
      case "deny": settings.denied.append(text)
      case "fit":
        switch text {
        case "stretch": settings.fit = .stretch
        case "center-crop": settings.fit = .centerCrop
        case "letterbox": settings.fit = .letterbox()
        default: throw .bad("fit is '\(text)', not stretch, center-crop or letterbox")
        }
      case "pixels":
        settings.pixels = try Self.parsed { () throws(ApusError) in try Normalization(parsing: text) }
      case "channels": settings.channels = try Self.choice(name, text)
      case "box_units": settings.boxUnits = try Self.choice(name, text)
      case "scores": settings.scores = try Self.choice(name, text)
      case "layout": settings.layout = try Self.choice(name, text)
      case "candidates": settings.candidates = try Self.choice(name, text)
      case "anchors":
        settings.anchors = try Self.parsed { () throws(ApusError) in
          try ObjectDetector.Options.anchors(parsing: text)
        }
      case "keypoints":
        settings.keypoints = try Self.parsed { () throws(ApusError) in
          try PictureTask.KeypointShape(parsing: text)
        }
      case "output_pixels":
        settings.outputPixels = try Self.parsed { () throws(ApusError) in try Normalization(parsing: text) }
      case "fit_output":
        guard let fits = Bool(text) else { throw .bad("fit_output is '\(text)', not true or false") }
        settings.fitsOutput = fits
      case "annotate":
        guard text == "png" else { throw .bad("annotate is '\(text)', not png") }
        try choose(.annotated)
      case "output":
        guard text == "png" || text == "npy" else { throw .bad("output is '\(text)', not png or npy") }
        try choose(text == "png" ? .png : .npy)
      default: throw .bad("the query has an unknown parameter '\(name)'")
      }
    }
  }

  /// Sets the form of the answer; throws if the query already asks for another one.
  private mutating func choose(_ chosen: PictureTask.Form) throws(ServingError) {
    guard form == .json || form == chosen else {
      throw .bad("annotate and output are two forms of the answer: one of them has to go")
    }
    form = chosen
  }

  /// A value that the library reads as it reads that of an option.
  private static func parsed<Value>(_ parse: () throws(ApusError) -> Value) throws(ServingError) -> Value {
    do throws(ApusError) { return try parse() } catch { throw .bad(error.message) }
  }

  /// One of a type's names.
  private static func choice<Value: RawRepresentable & CaseIterable>(
    _ name: String, _ text: String
  ) throws(ServingError) -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw .bad("\(name) is '\(text)', not one of: \(names)")
    }
    return value
  }
}
