// SPDX-License-Identifier: Apache-2.0
import ApusVideo
import ArgumentParser

/// The lines and zones of a scene, in fractions of the picture.
struct SceneOptions: ParsableArguments {
  @Option(
    name: .long,
    help:
      "A line to count those that cross it: NAME:X1,Y1,X2,Y2 in fractions of the picture; may be repeated.")
  var line: [String] = []

  @Option(
    name: .long,
    help: "A zone to watch: NAME:X1,Y1,X2,Y2,X3,Y3,… in fractions of the picture; may be repeated.")
  var zone: [String] = []

  @Option(
    name: .long, help: "The frames running on the other side that make a crossing, an entry or an exit.")
  var crossingFrames = 1

  func validate() throws {
    _ = try lines
    _ = try zones
    guard (1...10_000).contains(crossingFrames) else {
      throw ValidationError("--crossing-frames is \(crossingFrames), not 1 to 10000")
    }
    if let twice = try ScenePlace.repeatedName(in: lines + zones) {
      throw ValidationError("two lines or zones have the name '\(twice)'")
    }
  }

  /// The lines.
  var lines: [ScenePlace] {
    get throws {
      try line.map { text in
        let place = try Self.place(text, "--line")
        guard place.points.count == 2 else {
          throw ValidationError("--line \(text.prefix(80)) is not NAME:X1,Y1,X2,Y2")
        }
        return place
      }
    }
  }

  /// The zones.
  var zones: [ScenePlace] {
    get throws {
      try zone.map { text in
        let place = try Self.place(text, "--zone")
        guard place.points.count >= 3 else {
          throw ValidationError("--zone \(text.prefix(80)) has \(place.points.count) corners, not 3 or more")
        }
        return place
      }
    }
  }

  private static func place(_ text: String, _ option: String) throws -> ScenePlace {
    do { return try ScenePlace(parsing: text) } catch {
      throw ValidationError("\(option) \(error.message)")
    }
  }
}
