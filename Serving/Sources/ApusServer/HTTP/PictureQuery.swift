// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVision
import Foundation

/// What the query of a vision task says: `model`, `score_threshold`, `max_results`, `allow`, `deny`, `fit`, `annotate`.
struct PictureQuery {
  private(set) var model: String?
  private(set) var settings = PictureTask.Settings()
  private(set) var annotates = false

  /// Reads a query as it stands in the path, after the question mark.
  init(_ query: String) throws(ServingError) {
    for parameter in query.split(separator: "&") {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts[0].removingPercentEncoding,
        let text = (parts.count > 1 ? parts[1] : "").replacing("+", with: " ").removingPercentEncoding
      else { throw .bad("the query is not percent-encoded UTF-8: \(parameter.prefix(100))") }
      switch name {
      case "model": model = text
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
      case "annotate":
        guard text == "png" else { throw .bad("annotate is '\(text)', not png") }
        annotates = true
      default: throw .bad("the query has an unknown parameter '\(name)'")
      }
    }
  }
}
