// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import Testing

@Suite struct MOTChallengeTests {
  private func frames(_ text: String) throws(TrackingError) -> [MOTChallenge.Frame] {
    try MOTChallenge.frames(in: Array(text.utf8))
  }

  @Test func readsEveryUsualForm() throws {
    let text = """
      \u{FEFF}3,-1,10.5,20,30,40,0.9,-1,-1,-1\r
      1.000e+00, -1, 1, 2, 3, 4, 0.5

      1;-1;5;6;7;8
      2\t-1\t-5  6 7.25 8 1 0 0 0
      """
    let found = try frames(text)
    #expect(found.map(\.number) == [1, 2, 3] && found.map(\.detections.count) == [2, 1, 1])
    #expect(
      found[0].detections[0]
        == TrackingDetection(box: TrackingBox(x: 1, y: 2, width: 3, height: 4), score: 0.5))
    #expect(found[0].detections[1].score == 1)
    #expect(found[1].detections[0].box == TrackingBox(x: -5, y: 6, width: 7.25, height: 8))
    #expect(found[2].detections[0].box.maxY == 60)
    #expect(try frames("").isEmpty)
  }

  @Test(
    "damaged lines are named",
    arguments: [
      "1,-1,2,3,4", "x,-1,1,2,3,4", "1,-1,nan,2,3,4", "1,-1,1,inf,3,4", "1,-1,1,2,-3,4", "1,-1,1,2,3,0",
      "1.5,-1,1,2,3,4",
      "-1,-1,1,2,3,4", "1e18,-1,1,2,3,4", "1,-1,1,2,3,4,", "1,-1,1e10,2,3,4", "\0",
      "1\0,-1,1,2,3,4", "1,-1,1,2,3,4\0", "0x1,-1,1,2,3,4", "1,-1,1,2,0x1p2,4",
      "1,-1,1,2,3,\(String(repeating: "9", count: 99))",
    ])
  func refusesDamage(line: String) {
    let error = #expect(throws: TrackingError.self) { try frames("1,-1,1,2,3,4\n\(line)\n") }
    #expect(error?.message.contains("line 2") == true)
  }

  @Test func namesABoxAsItIsWritten() {
    let error = #expect(throws: TrackingError.self) { try frames("1,-1,1e300,20,30,40") }
    #expect(error?.message.contains("1e+300, 20.0 has the size 30.0 × 40.0") == true)
  }

  @Test func limitsBoxes() {
    let error = #expect(throws: TrackingError.self) {
      try MOTChallenge.frames(in: Array("1,-1,1,2,3,4\n1,-1,1,2,3,4\n".utf8), limit: 1)
    }
    #expect(error?.code == .resourceLimit)
  }

  @Test func writesWhatItReads() throws {
    let track = Track(id: 7, box: TrackingBox(x: 1.25, y: -2, width: 30.123456, height: 4), score: 0.5)
    let line = MOTChallenge.line(track, frame: 12)
    #expect(line == "12,7,1.25,-2.0,30.1235,4.0,0.5,-1,-1,-1\n")
    #expect(try frames(line).first?.detections.first?.score == 0.5)
    // Fractions of a picture, and what no float is.
    for width in [0.000_02, 1e-60] {
      let small = Track(id: 1, box: TrackingBox(x: 0, y: 0.1, width: width, height: 0.2), score: 0.9)
      let box = try frames(MOTChallenge.line(small, frame: 1)).first?.detections.first?.box
      #expect(box.map { abs($0.width / width - 1) < 1e-6 } == true)
    }
  }
}
