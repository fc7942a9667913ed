// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// The refusals of `TFLite_Detection_PostProcess`.
@Suite struct DetectionPostProcessTests {
  private static let options: [String: Double] = [
    "max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.25,
    "nms_iou_threshold": 0.5, "y_scale": 10, "x_scale": 10, "h_scale": 5, "w_scale": 5,
  ]

  private static func model(
    _ options: [UInt8], boxes: Int32 = 2, anchors: [Int32] = [2, 4], scores: [Int32] = [1, 2, 3],
    encodings: [Int32] = [1, 2, 4], anchorHeight: Float = 1
  ) -> [UInt8] {
    let anchor: [Float] = [0.5, 0.5, anchorHeight, 1]
    let anchorData = TestModel.bytes((0..<Int(anchors[0]) * Int(anchors[1])).map { anchor[$0 % 4] })
    func tensor(_ name: String, _ shape: [Int32], buffer: Int32 = 0) -> FlatTable {
      FlatTable([0: .ints(shape), 1: .byte(0), 2: .int(buffer), 3: .text(name)])
    }
    let subgraph = FlatTable([
      0: .tables([
        tensor("encodings", encodings), tensor("scores", scores), tensor("anchors", anchors, buffer: 1),
        tensor("boxes", []), tensor("classes", []), tensor("found", []), tensor("count", []),
      ]),
      1: .ints([0, 1]), 2: .ints([3, 4, 5, 6]),
      3: .tables([
        FlatTable([0: .int(0), 1: .ints([0, 1, 2]), 2: .ints([3, 4, 5, 6]), 5: .bytes(options)])
      ]),
    ])
    return FlatTable([
      0: .int(3),
      1: .tables([
        FlatTable([0: .byte(32), 1: .text("TFLite_Detection_PostProcess"), 2: .int(1), 3: .int(32)])
      ]),
      2: .tables([subgraph]), 4: .tables([FlatTable(), FlatTable([0: .bytes(anchorData)])]),
    ]).file(identifier: "TFL3")
  }

  private static func message(_ bytes: [UInt8]) -> String? {
    let error = #expect(throws: ApusError.self) { try Interpreter(model: Model(bytes: bytes)) }
    #expect(error?.code == .malformedModel || error?.code == .unsupportedOperator)
    return error?.message
  }

  @Test("runs, zeroes what is unused, and forgets what it found before")
  func runs() throws {
    let interpreter = try Interpreter(model: Model(bytes: Self.model(flexBuffer(Self.options))))
    #expect(interpreter.outputs.map(\.shape) == [[1, 3, 4], [1, 3], [1, 3], [1]])
    try interpreter.copy([Float](repeating: 0, count: 8), toInputAt: 0)
    try interpreter.copy([0, 0.5, 0.75, 1, 0.625, 0] as [Float], toInputAt: 1)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0] as [Float])
    #expect(try interpreter.output(at: 1) == [1, 0, 0] as [Float])
    #expect(try interpreter.output(at: 2) == [0.75, 0, 0] as [Float])
    #expect(try interpreter.output(at: 3) == [1] as [Float])
    try interpreter.copy([Float](repeating: 0, count: 6), toInputAt: 1)
    try interpreter.invoke()
    for output in 0..<4 {
      #expect(try interpreter.output(at: output, as: Float.self).allSatisfy { $0 == 0 })
    }
  }

  @Test(
    "options out of range are named",
    arguments: [
      ("max_detections", -1, "max_detections is -1, not 0 to 65536"),
      ("max_detections", 2_147_483_647, "max_detections is 2147483647, not 0 to 65536"),
      ("max_classes_per_detection", 0, "max_classes_per_detection is 0, not 1 to 65536"),
      ("num_classes", 0, "num_classes is 0, not 1 to 2147483647"),
      ("num_classes", 1, "scores has 3 scores for each box; num_classes is 1"),
      ("num_classes", 4, "scores has 3 scores for each box; num_classes is 4"),
      ("nms_iou_threshold", 0, "nms_iou_threshold is 0.0, not above 0 and up to 1"),
      ("nms_iou_threshold", 1.5, "nms_iou_threshold is 1.5, not above 0 and up to 1"),
      ("nms_iou_threshold", .nan, "nms_iou_threshold is nan, not above 0 and up to 1"),
      ("nms_score_threshold", .nan, "nms_score_threshold is not a number"),
      ("y_scale", 0, "y_scale is 0.0; a finite number other than zero is expected"),
      ("w_scale", .infinity, "w_scale is inf; a finite number other than zero is expected"),
    ] as [(String, Double, String)])
  func optionsOutOfRange(key: String, value: Double, text: String) {
    var options = Self.options
    options[key] = value
    #expect(
      Self.message(Self.model(flexBuffer(options)))
        == "operator #0, TFLite_Detection_PostProcess: \(text)")
  }

  @Test("sizes whose product is too large are refused")
  func sizes() {
    var options = Self.options
    options["max_detections"] = 65_536
    options["max_classes_per_detection"] = 65_536
    #expect(Self.message(Self.model(flexBuffer(options)))?.contains("65536 × 65536") == true)
    options = Self.options
    options["use_regular_nms"] = 1
    options["detections_per_class"] = 0
    #expect(
      Self.message(Self.model(flexBuffer(options)))?.contains("detections_per_class is 0") == true)
  }

  @Test("shapes that do not fit each other are refused")
  func shapes() {
    let options = flexBuffer(Self.options)
    #expect(Self.message(Self.model(options, anchors: [1, 4]))?.contains("anchors is 1×4, not 2×4") == true)
    #expect(Self.message(Self.model(options, anchors: [2, 3]))?.contains("anchors is 2×3, not 2×4") == true)
    #expect(
      Self.message(Self.model(options, scores: [1, 3, 3]))?.contains("scores of 3 boxes, not of 2") == true)
    #expect(Self.message(Self.model(options, scores: [2, 2, 3]))?.contains("a batch of 2") == true)
    #expect(
      Self.message(Self.model(options, encodings: [1, 2, 3]))?.contains("3 numbers for each box") == true)
    #expect(Self.message(Self.model(options, scores: [2, 3]))?.contains("rank 2, not 3") == true)
  }

  @Test("options that are no map, cut off or random are refused")
  func damagedOptions() {
    let options = flexBuffer(Self.options)
    #expect(Self.message(Self.model([]))?.contains("is 0") == true)
    #expect(Self.message(Self.model([5, 4, 1]))?.contains("not a map") == true)
    var random = SeededGenerator(seed: 5)
    for length in 0..<options.count {
      _ = try? Interpreter(model: Model(bytes: Self.model(Array(options.prefix(length)))))
      var changed = options
      changed[length] = .random(in: 0...255, using: &random)
      var limits = Interpreter.Options()
      limits.memoryLimit = 1 << 24
      if let interpreter = try? Interpreter(model: Model(bytes: Self.model(changed)), options: limits) {
        try? interpreter.invoke()
      }
    }
  }

  @Test("a box that ends before it begins is an error of the run")
  func invertedBox() throws {
    let interpreter = try Interpreter(
      model: Model(bytes: Self.model(flexBuffer(Self.options), anchorHeight: -1)))
    let error = #expect(throws: ApusError.self) { try interpreter.invoke() }
    #expect(error?.code == .invalidData)
    let nan = try Interpreter(
      model: Model(bytes: Self.model(flexBuffer(Self.options), anchorHeight: .nan)))
    try nan.invoke()
  }
}
