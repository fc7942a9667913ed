// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Refusals of outputs that several layouts fit, or none.
@Suite struct LayoutDoubtTests {
  private func message(_ shapes: [[Int32]], names count: Int?, side: Int32 = 64) -> String {
    let model = DetectorModel.answering(
      shapes.map { Answer(shape: $0, values: [Float](repeating: 0.5, count: Int($0.reduce(1, *)))) },
      shape: [1, side, side, 3])
    let error = #expect(throws: ApusError.self) {
      try ObjectDetector(
        model: model.model(), labels: count.map { LabelMap((0..<$0).map { "class \($0)" }, offset: 0) })
    }
    return error?.message ?? ""
  }

  @Test("names that no listed layout can have rule it out, and distributions are told")
  func leavesOutContradictions() {
    // NanoDet: 80 classes and 4 · 8 numbers; YOLO v8 before its last layer: 4 · 16 numbers and 80 classes.
    for shapes in [[[1, 84, 112]], [[1, 8, 8, 144], [1, 4, 4, 144], [1, 2, 2, 144]]] as [[[Int32]]] {
      let named = message(shapes, names: 80)
      #expect(
        named.contains("names for 80") && named.contains("DFL") && !named.contains("--layout"), "\(named)")
      let open = message(shapes, names: nil)
      #expect(open.contains("DFL") && open.contains("--layout"), "\(open)")
    }
    let other = message([[1, 84, 50]], names: 80)
    #expect(other.contains("names for 80") && !other.contains("DFL"), "\(other)")
  }

  @Test("names of as many classes leave the choice as it is")
  func keepsChoices() {
    let found = message([[1, 8, 8, 24], [1, 4, 4, 24], [1, 2, 2, 24]], names: 3)
    #expect(found.contains("--layout") && found.contains("3 classes"), "\(found)")
  }
}
