// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Rows of seven and of six numbers, one for each object.
@Suite struct FlatRowTests {
  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  private func model(_ rows: [[Float]], _ name: String = "rows") -> DetectorModel {
    .answering(
      [Answer(shape: [Int32(rows.count), 7], values: rows.flatMap { $0 }).named(name)],
      shape: [1, 64, 64, 3],
      type: DetectorModel.float32)
  }

  private func detector(_ model: DetectorModel, _ layout: DetectorLayout? = nil) throws -> ObjectDetector {
    var options = ObjectDetector.Options()
    options.layout = layout
    return try ObjectDetector(model: model.model(), options: options)
  }

  /// Image, left, top, right, bottom, score, class, as the documentation of super-gradients has them.
  private static let rows: [[Float]] = [[0, 8, 20, 40, 32, 0.9, 16], [0, 1, 1, 5, 6, 0.6, 0]]

  private func expectBoth(_ detector: ObjectDetector) throws {
    let found = try detector.detect(picture()).detections
    #expect(found.map(\.index) == [16, 0] && found.map(\.score) == [0.9, 0.6])
    #expect(
      found.map(\.rect) == [
        PixelRect(x: 8, y: 20, width: 32, height: 12), PixelRect(x: 1, y: 1, width: 4, height: 5),
      ])
    #expect(detector.layout == .yoloNASEndToEnd)
  }

  @Test("YOLO-NAS is told by its name, and by a class 0, which EfficientDet does not have")
  func readsYOLONAS() throws {
    try expectBoth(detector(model(Self.rows)))
    try expectBoth(detector(model(Self.rows, "graph2_flat_predictions")))
    try expectBoth(detector(model(Self.rows), .yoloNASEndToEnd))
  }

  @Test("without a class 0 and a name, the order of the corners is open")
  func refusesToGuess() throws {
    let error = #expect(throws: ApusError.self) {
      try detector(model([[0, 8, 20, 40, 32, 0.9, 16], [0, 1, 1, 5, 6, 0.6, 3]]))
    }
    #expect(error?.message.contains("yolo-nas-end-to-end") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("efficientdet") == true)
  }

  @Test(
    "rows with the class first are told by their name or values, and fractions in them are refused until they are said to be some"
  )
  func readsClassFirst() throws {
    let rows: [[Float]] = [[0, 16, 0.9, 8, 20, 40, 32], [-1, 0, 0, 0, 0, 0, 0]]
    for detector in [
      try detector(model(rows)), try detector(model(rows, "batchno_classid_score_x1y1x2y2")),
    ] {
      #expect(detector.layout == .classFirst)
      let found = try detector.detect(picture()).detections
      #expect(
        found.map(\.rect) == [PixelRect(x: 8, y: 20, width: 32, height: 12)] && found.map(\.index) == [16])
    }
    let fractions = [[0, 16, 0.9] + [8, 20, 40, 32].map { Float($0) / 64 }, rows[1]]
    let refused = try detector(model(fractions), .classFirst)
    let error = #expect(throws: ApusError.self) { try refused.detect(picture()) }
    #expect(error?.message.contains("--box-units") == true, "\(error?.message ?? "")")
    var options = ObjectDetector.Options()
    (options.layout, options.boxUnits) = (.classFirst, .fraction)
    let given = try ObjectDetector(model: model(fractions).model(), options: options)
    #expect(
      try given.detect(picture()).detections.map(\.rect) == [PixelRect(x: 8, y: 20, width: 32, height: 12)])
  }

  @Test("rows of no image behind the objects are the filling of EfficientDet")
  func seesFilling() throws {
    let rows: [[Float]] = [[0, 20, 8, 32, 40, 0.9, 17], [-1, 0, 0, 0, 0, 0, 0]]
    let detector = try detector(model(rows))
    #expect(detector.layout == .efficientDet)
    #expect(try detector.detect(picture()).detections.map(\.index) == [16])
  }

  @Test("a class 0 contradicts EfficientDet, and is not dropped")
  func refusesClassZero() throws {
    let detector = try detector(model(Self.rows), .efficientDet)
    let error = #expect(throws: ApusError.self) { try detector.detect(picture()) }
    #expect(error?.message.contains("counts them from 1") == true, "\(error?.message ?? "")")
  }

  // MARK: An open number of rows

  /// A model whose output is that of `WHERE` and `GATHER_ND`: the rows of a table whose score is above 0.1.
  private func open(_ table: [[Float]], score: Int) -> DetectorModel {
    let columns = Int32(table[0].count)
    let rows = Int32(table.count)
    return DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 64, 64, 3]),
        .init(
          name: "axes", shape: [3], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
        .init(name: "table", shape: [rows, columns], data: DetectorModel.data(table.flatMap { $0 })),
        .init(name: "scores", shape: [rows, 1], data: DetectorModel.data(table.map { $0[score] })),
        .init(name: "brightest", shape: [1, 3]),
        .init(name: "one", shape: [1, 1], data: DetectorModel.data([0])),
        .init(name: "weighed", shape: [rows, 3]),
        .init(name: "axis", shape: [1], type: DetectorModel.int32, data: [1, 0, 0, 0]),
        .init(name: "greatest", shape: [rows]),
        .init(name: "limit", shape: [1], data: DetectorModel.data([0.1])),
        .init(name: "above", shape: [rows], type: 6),
        .init(name: "places", shape: [1, 1], type: DetectorModel.int64, signature: [-1, 1]),
        .init(name: "objects", shape: [1, columns], signature: [-1, columns]),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [4]),
        .init(code: DetectorModel.mul, inputs: [4, 3], outputs: [6]),
        .init(code: DetectorModel.reduceMax, inputs: [6, 7], outputs: [8]),
        .init(code: 61, inputs: [8, 9], outputs: [10]),
        .init(code: 109, inputs: [10], outputs: [11]),
        .init(code: 107, inputs: [2, 11], outputs: [12]),
      ], outputs: [12])
  }

  private func white(_ value: UInt8) throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: value, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  @Test("as many rows of corners, score and class as a picture has objects are read, none and two")
  func readsOpenRowsOfSix() throws {
    let table: [[Float]] = [[8, 20, 40, 32, 0.9, 16], [0, 0, 9, 9, 0.01, 3], [1, 1, 5, 6, 0.6, 0]]
    for layout in [nil, DetectorLayout.yoloEndToEnd] {
      var options = ObjectDetector.Options()
      (options.layout, options.boxUnits) = (layout, .pixel)
      let detector = try ObjectDetector(model: open(table, score: 4).model(), options: options)
      let found = try detector.detect(white(255)).detections
      #expect(found.map(\.index) == [16, 0] && found.map(\.score) == [0.9, 0.6])
      #expect(found.first?.rect == PixelRect(x: 8, y: 20, width: 32, height: 12))
      #expect(try detector.detect(white(0)).detections.isEmpty)
    }
  }

  @Test("an open number of rows of seven numbers is read")
  func readsOpenRowsOfSeven() throws {
    let detector = try detector(open(Self.rows + [[0, 9, 9, 9, 9, 0.01, 4]], score: 5))
    try expectBoth(detector)
    #expect(try detector.detect(white(0)).detections.isEmpty)
  }
}
