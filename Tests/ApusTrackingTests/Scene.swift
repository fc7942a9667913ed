// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import TestSupport

/// The generated scenes of Tools/tracking/scenes.py.
struct Scene {
  private var random: SeededGenerator

  init(seed: Int) {
    random = SeededGenerator(seed: UInt64(seed))
  }

  mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  /// Frames of objects that wander, jitter, hide and meet, and false alarms.
  static func frames(seed: Int, objects: Int, frames: Int) -> [[TrackingDetection]] {
    var scene = Scene(seed: seed)
    var movers = (0..<objects).map { _ in
      [
        scene.below(1600 * 64), scene.below(800 * 64), scene.below(513) - 256, scene.below(257) - 128,
        40 + scene.below(80), 80 + scene.below(120),
      ]
    }
    return (0..<frames).map { _ in
      var boxes: [TrackingDetection] = []
      for index in movers.indices {
        movers[index][0] += movers[index][2]
        movers[index][1] += movers[index][3]
        if !(0...(1800 * 64)).contains(movers[index][0]) { movers[index][2].negate() }
        if !(0...(900 * 64)).contains(movers[index][1]) { movers[index][3].negate() }
        let mover = movers[index]
        let chance = scene.below(100)
        let (x, y) = (mover[0] + scene.below(385) - 192, mover[1] + scene.below(385) - 192)
        let (width, height) = (mover[4] + scene.below(9) - 4, mover[5] + scene.below(9) - 4)
        let score = scene.below(1000)
        if chance < 12 { continue }
        boxes.append(
          TrackingDetection(
            box: TrackingBox(
              x: Double(x) / 64, y: Double(y) / 64, width: Double(width), height: Double(height)),
            score: Double(chance < 35 ? score : 600 + score * 4 / 10) / 1000))
      }
      if scene.below(4) == 0 {
        let box = TrackingBox(
          x: Double(scene.below(1800)), y: Double(scene.below(900)), width: Double(20 + scene.below(100)),
          height: Double(20 + scene.below(200)))
        boxes.append(TrackingDetection(box: box, score: Double(scene.below(1000)) / 1000))
      }
      if scene.below(2) == 0 { boxes.reverse() }
      return boxes
    }
  }

  /// A line, the frames that make a crossing, and a walk of one box, nil where it is not seen.
  static func walk(seed: Int) -> (line: [Int], minimum: Int, frames: [TrackingBox?]) {
    var scene = Scene(seed: seed)
    var line = [scene.below(640), scene.below(480), scene.below(640), scene.below(480)]
    if line[0] == line[2], line[1] == line[3] { line[2] += 1 }
    let minimum = 1 + scene.below(4)
    let along = scene.below(1025)
    var x = line[0] * (1024 - along) + line[2] * along + (scene.below(161) - 80) * 1024
    var y = line[1] * (1024 - along) + line[3] * along + (scene.below(161) - 80) * 1024
    var (vx, vy) = ((scene.below(41) - 20) * 1024, (scene.below(41) - 20) * 1024)
    let frames = (0..<(20 + scene.below(60))).map { _ -> TrackingBox? in
      if scene.below(8) == 0 { (vx, vy) = ((scene.below(41) - 20) * 1024, (scene.below(41) - 20) * 1024) }
      x += vx + scene.below(12_289) - 6_144
      y += vy + scene.below(12_289) - 6_144
      if scene.below(12) == 0 { (x, y) = (2 * line[0] * 1024 - x, 2 * line[1] * 1024 - y) }
      if scene.below(10) == 0 { return nil }
      let (width, height) = (Double(4 + scene.below(30)), Double(4 + scene.below(60)))
      return TrackingBox(
        x: Double(x + scene.below(1024)) / 1024 - width / 2, y: Double(y + scene.below(1024)) / 1024 - height,
        width: width, height: height)
    }
    return (line, minimum, frames)
  }
}
