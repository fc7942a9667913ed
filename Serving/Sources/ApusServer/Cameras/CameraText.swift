// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVideo
import ApusVision
import Foundation

/// The JSON texts about cameras, like those of `apus watch --json`.
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
    let failed: Int
    let dropped: Int
    let damaged: Int
    let late: Int
    let restarts: Int
    let fps: Double
    /// When the newest picture arrived.
    let lastPicture: String?
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
      (damaged, failed) = (report.damaged, report.failed)
      (restarts, fps) = (report.restarts, report.rate)
      (lines, zones) = (report.lines, report.zones)
      lastPicture = report.lastPicture.map { CameraText.time($0) }
      places = Dictionary(
        (camera.settings.lines + camera.settings.zones).map { ($0.name, $0.points.map { [$0.x, $0.y] }) },
        uniquingKeysWith: { first, _ in first })
    }
  }

  /// A time as JSON and errors have it, such as `2026-03-01T12:00:00.250Z`.
  static func time(_ time: Date) -> String {
    time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// A time in seconds since 1970, to the millisecond.
  static func seconds(_ time: Date) -> String {
    let milliseconds = Int((time.timeIntervalSince1970 * 1_000).rounded())
    let fraction = String(milliseconds % 1_000 + 1_000).dropFirst()
    return "\(milliseconds / 1_000).\(fraction)"
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
