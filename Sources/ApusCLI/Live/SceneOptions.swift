// SPDX-License-Identifier: Apache-2.0
import ApusTracking
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

  /// A line or zone by its name.
  struct Place {
    let name: String
    let points: [TrackingPoint]
  }

  func validate() throws {
    _ = try lines
    _ = try zones
    guard (1...10_000).contains(crossingFrames) else {
      throw ValidationError("--crossing-frames is \(crossingFrames), not 1 to 10000")
    }
    let names = try (lines + zones).map(\.name)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw ValidationError("two lines or zones have the name '\(twice)'")
    }
  }

  /// The lines.
  var lines: [Place] {
    get throws {
      try line.map { text in
        let place = try Self.place(text, "--line", "NAME:X1,Y1,X2,Y2")
        guard place.points.count == 2, place.points[0] != place.points[1] else {
          throw ValidationError("--line \(text) is not NAME:X1,Y1,X2,Y2 with two different points")
        }
        return place
      }
    }
  }

  /// The zones.
  var zones: [Place] {
    get throws {
      try zone.map { text in
        let place = try Self.place(text, "--zone", "NAME:X1,Y1,X2,Y2,X3,Y3,…")
        guard (3...ZoneCounter.maximumCorners).contains(place.points.count) else {
          throw ValidationError(
            "--zone \(text.prefix(80)) has \(place.points.count) corners, not 3 to \(ZoneCounter.maximumCorners)"
          )
        }
        return place
      }
    }
  }

  private static func place(_ text: String, _ option: String, _ form: String) throws -> Place {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let numbers =
      parts.count == 2
      ? parts[1].split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan } : []
    guard !numbers.isEmpty, numbers.count.isMultiple(of: 2), numbers.allSatisfy({ abs($0) <= 100 }) else {
      throw ValidationError("\(option) \(text.prefix(80)) is not \(form) with fractions of the picture")
    }
    guard (1...40).contains(name.count),
      name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
    else {
      throw ValidationError(
        "\(option) \(text.prefix(80)): the name is not of 1 to 40 letters, digits, - and _")
    }
    return Place(
      name: name,
      points: stride(from: 0, to: numbers.count, by: 2).map {
        TrackingPoint(x: numbers[$0], y: numbers[$0 + 1])
      })
  }
}
