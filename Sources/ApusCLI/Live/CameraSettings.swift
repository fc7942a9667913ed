// SPDX-License-Identifier: Apache-2.0
import ApusVideo
import ArgumentParser

/// How a camera is set.
struct CameraSettings: ParsableArguments {
  @Option(
    name: .long,
    help: "The form of a camera's frames, such as YUYV or MJPG; by default the cheapest of the fastest.")
  var cameraFormat: String?

  @Option(name: .long, help: "The frames per second that a camera delivers; the nearest it has.")
  var cameraRate: Double?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A setting of a camera that 'apus cameras' lists, such as zoom_absolute=200; may be repeated.",
      valueName: "NAME=VALUE"))
  var control: [String] = []

  func validate() throws {
    if let cameraRate, !(cameraRate > 0 && cameraRate <= 1e6) {
      throw ValidationError("--camera-rate is \(cameraRate), not above 0 and at most 1000000")
    }
    if let wrong = control.first(where: { Self.setting($0) == nil }) {
      throw ValidationError("--control \(wrong.prefix(80)) is not NAME=VALUE")
    }
  }

  /// Whether any is given.
  var isUsed: Bool { cameraFormat != nil || cameraRate != nil || !control.isEmpty }

  /// The settings as the library's options.
  var options: CameraOptions {
    var options = CameraOptions()
    options.format = cameraFormat
    options.frameRate = cameraRate
    options.controls = control.compactMap(Self.setting)
    return options
  }

  private static func setting(_ text: String) -> CameraOptions.Setting? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    return CameraOptions.Setting(parts[0], parts[1])
  }
}
