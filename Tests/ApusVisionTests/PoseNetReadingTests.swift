// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// Which maps of PoseNet are which.
struct PoseNetReadingTests {
  /// A detector of a model that answers maps of 3×3 cells with the given names and channels, all numbers of a map being its position.
  private func detector(_ maps: [(name: String, channels: Int)]) throws -> KeypointDetector {
    let answers = maps.enumerated().map { index, map in
      DetectorModel.Answer(
        name: map.name, shape: [1, 3, 3, Int32(map.channels)],
        values: [Float](repeating: Float(index), count: 9 * map.channels))
    }
    return try KeypointDetector(
      model: DetectorModel.answering(answers, shape: [1, 33, 33, 3]).model())
  }

  @Test("names say which displacements lead forward; without, that is a guess with a warning")
  func readsDirections() throws {
    func reading(_ first: String, _ second: String) throws -> (Assumption, [String]) {
      let found = try detector([("heat", 17), ("short", 34), (first, 32), (second, 32)]).assumptions
      return (try #require(found.readings.first { $0.subject == "displacements" }), found.warnings)
    }
    let (forward, quiet) = try reading("displacement_fwd_2", "displacement_bwd_2")
    #expect(forward.source == .model && forward.value == "output 2 leads forward, 3 back")
    #expect(!quiet.contains { $0.contains("fwd") })
    let (back, _) = try reading("displacement_bwd_2", "displacement_fwd_2")
    #expect(back.source == .model && back.value == "output 3 leads forward, 2 back")
    let (open, warnings) = try reading("Identity", "Identity_1")
    #expect(open.source == .guess && open.value == "output 2 leads forward, 3 back")
    #expect(warnings.contains { $0.hasPrefix("output 2 is taken for the displacements forward") })
  }

  @Test("maxima beside the scores are not taken for them")
  func readsScores() throws {
    let found = try detector([("max_vals", 17), ("heatmaps", 17), ("short", 34), ("middle", 64)]).assumptions
    #expect(found.outputs.map(\.index) == [1, 2, 3])
    #expect(!found.readings.contains { $0.subject == "displacements" })
  }
}
