// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVideo
import ApusVision
import Foundation

/// What cameras say in JSON, as `apus watch --json` does.
enum CameraText {
  /// The line of a frame.
  struct FrameLine: Encodable {
    let frame: Int
    let time: Double
    let detections: [ObjectScene.Object]
    let milliseconds: StageTimings
  }

  /// A camera in the list of cameras.
  struct Description: Encodable {
    let name: String
    let model: String
    let state: String
    let reason: String?
    let width: Int
    let height: Int
    let frames: Int
    let answered: Int
    let dropped: Int
    let late: Int
    let restarts: Int
    let fps: Double
    let lines: [String: ObjectScene.LineCounts]
    let zones: [String: ObjectScene.ZoneCounts]
    /// The points of lines and zones in fractions of the picture.
    let places: [String: [[Double]]]

    init(_ camera: LiveCamera) {
      let report = camera.report
      name = camera.settings.name
      model = camera.model.name
      (state, reason) = (report.state, report.reason)
      (width, height) = (report.width, report.height)
      (frames, answered, dropped, late) = (report.frames, report.answered, report.dropped, report.late)
      (restarts, fps) = (report.restarts, report.rate)
      (lines, zones) = (report.lines, report.zones)
      places = Dictionary(
        (camera.settings.lines + camera.settings.zones).map { ($0.name, $0.points.map { [$0.x, $0.y] }) },
        uniquingKeysWith: { first, _ in first })
    }
  }

  /// A value as JSON; characters of labels that could forge lines or command terminals are escaped.
  static func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    guard let data = try? encoder.encode(value) else { return "{}" }
    return PrintableText.escapedJSON(String(decoding: data, as: UTF8.self))
  }
}
