// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVideo

/// A camera as the operator describes it.
struct CameraSettings: Sendable {
  /// The name in paths: letters, digits, `-` and `_`.
  let name: String
  /// The source, as `ApusVideo.VideoSource` reads it.
  let source: String
  /// The name of the model; nil for the first that finds objects.
  var model: String?
  var lines: [ScenePlace] = []
  var zones: [ScenePlace] = []
  /// The maximum number of frames that are looked at, per second; nil for as many as there are.
  var frameRate: Double?
  /// How long the source may give no byte before it is opened again, in seconds; nil for the source's own limit.
  var stallLimit: Double?

  /// Reads the options of the command line.
  ///
  /// - Throws: `StartError` for a malformed option, or one of a camera that is not there.
  static func all(_ options: ApusServerCommand) throws -> [CameraSettings] {
    var cameras: [CameraSettings] = []
    for text in options.camera {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard parts.count == 2, !parts[1].isEmpty, (1...40).contains(name.utf8.count),
        name.utf8.allSatisfy(Self.isPlain)
      else {
        // A source may hold a password.
        let shown = name.firstRange(of: "://").map { "\(name[..<$0.upperBound])…" } ?? name
        throw StartError(
          message:
            "--camera is '\(shown)\(parts.count == 2 ? "=…" : "")', not NAME=SOURCE with a name of 1 to 40 letters, digits, - and _"
        )
      }
      guard !cameras.contains(where: { $0.name == name }) else {
        throw StartError(message: "two cameras have the name '\(name)'")
      }
      cameras.append(
        CameraSettings(
          name: name, source: String(parts[1]), frameRate: options.cameraFps, stallLimit: options.cameraStall)
      )
    }
    func change(
      _ text: String, _ option: String, at separator: Character,
      _ body: (inout CameraSettings, String) throws -> Void
    ) throws {
      let parts = text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let index = cameras.firstIndex(where: { $0.name == parts[0] }) else {
        throw StartError(
          message: "\(option) is '\(text)', which does not begin with the name of a camera and '\(separator)'"
        )
      }
      try body(&cameras[index], String(parts[1]))
    }
    for text in options.cameraModel {
      try change(text, "--camera-model", at: "=") { camera, model in
        guard camera.model == nil else {
          throw StartError(message: "--camera-model names two models for the camera '\(camera.name)'")
        }
        camera.model = model
      }
    }
    for text in options.cameraPlace {
      try change(text, "--camera-place", at: "/") { camera, place in
        let place = try parsed(place)
        guard !(camera.lines + camera.zones).contains(where: { $0.name == place.name }) else {
          throw StartError(message: "two places of the camera '\(camera.name)' have the name '\(place.name)'")
        }
        if place.points.count == 2 { camera.lines.append(place) } else { camera.zones.append(place) }
      }
    }
    return cameras
  }

  private static func parsed(_ text: String) throws -> ScenePlace {
    do { return try ScenePlace(parsing: text) } catch {
      throw StartError(message: "--camera-place: \(error.message)")
    }
  }

  private static func isPlain(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
