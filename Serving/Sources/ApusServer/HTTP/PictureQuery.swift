// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ApusVision
import Foundation

/// The query of a vision task: `model` and `faces`, `annotate` and `output`, and options of the command line
/// under their names with `_` for `-`.
struct PictureQuery {
  private(set) var model: String?
  /// The name of the face detector of an embedder.
  private(set) var faces: String?
  var settings = PictureTask.Settings()
  private(set) var form = PictureTask.Form.json

  /// Reads a query as it stands in the path, after the question mark.
  init(_ query: String) throws(ServingError) {
    var known: Set<String> = []
    for parameter in query.split(separator: "&") {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decoded(parts[0]),
        let text = PercentEncoding.decodedField(parts.count > 1 ? parts[1] : "")
      else { throw .bad("the query is not percent-encoded UTF-8: \(parameter.prefix(100))") }
      guard known.insert(name).inserted || name == "allow" || name == "deny" else {
        throw .bad("the query has the parameter '\(name)' twice")
      }
      switch name {
      case "model": model = text
      case "faces": faces = text
      case "score_threshold": settings.scoreThreshold = try Self.number(name, text)
      case "detection_threshold": settings.detectionThreshold = try Self.number(name, text)
      case "iou_threshold": settings.iouThreshold = try Self.number(name, text)
      case "palm_angle": settings.palmAngle = try Self.number(name, text)
      case "max_results": settings.maximumResults = try Self.count(name, text)
      case "refinement_cells": settings.refinementCells = try Self.count(name, text)
      case "class_agnostic": settings.isClassAgnostic = try Self.flag(name, text)
      case "multi_label": settings.isMultiLabel = try Self.flag(name, text)
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
      case "resampling": settings.resampling = try Self.choice(name, text)
      case "channels": settings.channels = try Self.choice(name, text)
      case "box_units": settings.boxUnits = try Self.choice(name, text)
      case "box_order": settings.boxOrder = try Self.choice(name, text)
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
      case "output_index":
        guard let index = Int(text), index >= 0 else {
          throw .bad("output_index is '\(text)', not the place of an output, counted from 0")
        }
        settings.outputIndex = index
      case "fit_output": settings.fitsOutput = try Self.flag(name, text)
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

  /// The names of the parameters, and one that clients of other servers use.
  private static let names: Set<String> = [
    "model", "faces", "score_threshold", "detection_threshold", "iou_threshold", "palm_angle", "max_results",
    "refinement_cells", "class_agnostic", "multi_label", "allow", "deny", "fit", "pixels", "resampling",
    "channels", "box_units", "box_order", "scores", "layout", "candidates", "anchors", "keypoints",
    "output_pixels",
    "output_index", "fit_output", "annotate", "output", "min_confidence",
  ]

  /// Refuses a form with a field that would be a parameter of the query: there it would be heeded, in the form it is not.
  static func check(_ form: FormData) throws(ServingError) {
    guard let name = form.fields.keys.sorted().first(where: names.contains) else { return }
    let query = name == "min_confidence" ? "score_threshold" : name
    throw .bad("the form has a field '\(name)', which belongs in the query: ?\(query)=…")
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

  private static func number(_ name: String, _ text: String) throws(ServingError) -> Float {
    guard let number = Float(text), number.isFinite else { throw .bad("\(name) is '\(text)', not a number") }
    return number
  }

  private static func count(_ name: String, _ text: String) throws(ServingError) -> Int {
    guard let count = Int(text), count >= 1 else {
      throw .bad("\(name) is '\(text)', not a whole number from 1")
    }
    return count
  }

  private static func flag(_ name: String, _ text: String) throws(ServingError) -> Bool {
    guard let flag = Bool(text) else { throw .bad("\(name) is '\(text)', not true or false") }
    return flag
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
