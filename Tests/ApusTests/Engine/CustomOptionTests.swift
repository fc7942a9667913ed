// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// Options of MediaPipe's and Coral's operators are bytes of strangers: what cannot be is refused, and says so.
@Suite struct CustomOptionTests {
  /// A FlexBuffer map of small integers.
  private static func options(_ entries: [(key: String, value: UInt8)]) -> [UInt8] {
    let entries = entries.sorted { $0.key < $1.key }
    var bytes: [UInt8] = []
    var keys: [Int] = []
    for entry in entries {
      keys.append(bytes.count)
      bytes += Array(entry.key.utf8) + [0]
    }
    bytes.append(UInt8(entries.count))
    let vector = bytes.count
    for key in keys { bytes.append(UInt8(bytes.count - key)) }
    bytes += [UInt8(bytes.count - vector), 1, UInt8(entries.count)]
    bytes += entries.map(\.value) + entries.map { _ in 4 }
    return bytes + [UInt8(2 * entries.count), 9 << 2, 1]
  }

  private static func error(
    of name: String, shapes: [[Int32]], outputs: Int, options: [UInt8]
  ) throws -> ApusError {
    let tensors = shapes + Array(repeating: [1], count: outputs)
    let model = TestModel(
      tensors: tensors.enumerated().map { .init(name: "t\($0)", shape: $1) },
      operators: [
        .init(
          code: .custom, inputs: shapes.indices.map { Int32($0) },
          outputs: (shapes.count..<tensors.count).map { Int32($0) }, customName: name,
          customOptions: options)
      ], inputs: shapes.indices.map { Int32($0) },
      outputs: (shapes.count..<tensors.count).map { Int32($0) })
    var found: ApusError?
    do throws(ApusError) { _ = try Interpreter(model: model.model()) } catch { found = error }
    return try #require(found)
  }

  @Test(
    arguments: [
      ([], "stride 0"),
      ([("max_detections", 5), ("stride", 0)], "stride 0"),
      ([("max_detections", 255), ("stride", 16)], "max_detections is -1"),
    ] as [([(key: String, value: UInt8)], String)])
  func posesNeedAStride(options: [(key: String, value: UInt8)], text: String) throws {
    let error = try Self.error(
      of: "PosenetDecoderOp", shapes: [[1, 2, 2, 17], [1, 2, 2, 34], [1, 2, 2, 64]], outputs: 4,
      options: options.isEmpty ? [] : Self.options(options))
    #expect(error.code == .malformedModel && error.message.contains(text), "\(error)")
  }

  @Test("a difference of more steps than NumericVerify tolerates ends the run, if its options say so")
  func toleranceOfVerification() throws {
    for (tolerance, isChecked, fails) in [(1.5, 1, true), (2.5, 1, false), (1.5, 0, false), (0.05, 1, false)]
    {
      let model = TestModel(
        tensors: [
          .init(name: "x", type: TestModel.int8, shape: [2], scale: 0.5, zeroPoint: 0),
          .init(name: "floats", shape: [2]), .init(name: "y", shape: [2]),
        ],
        operators: [
          .init(
            code: .custom, inputs: [0, 1], outputs: [2], customName: "NumericVerify",
            customOptions: flexBuffer(["tolerance": tolerance, "log_if_failed": Double(isChecked)]))
        ], inputs: [0, 1], outputs: [2])
      let interpreter = try Interpreter(model: model.model())
      try interpreter.copy([1, -3] as [Int8], toInputAt: 0)
      try interpreter.copy([0.5, -2.5] as [Float], toInputAt: 1)
      guard fails else {
        try interpreter.invoke()
        #expect(try interpreter.output(at: 0) == [0, 1] as [Float])
        continue
      }
      let error = #expect(throws: ApusError.self) { try interpreter.invoke() }
      #expect(error?.code == .invalidData && error?.message.contains("element 1 differs by 1.0") == true)
    }
  }

  @Test func aResizeHasOneRuleForCenters() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 2, 2, 1]),
        .init(name: "size", type: TestModel.int32, shape: [2], data: [4, 0, 0, 0, 4, 0, 0, 0]),
        .init(name: "y", shape: [1, 4, 4, 1]),
      ],
      operators: [
        .init(
          code: .resizeBilinear, inputs: [0, 1], outputs: [2], options: .init([2: .byte(1), 3: .byte(1)]))
      ], inputs: [0], outputs: [2])
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
    #expect(error?.code == .malformedModel)
  }

  @Test func mapsOfPosesFitEachOther() throws {
    let error = try Self.error(
      of: "PosenetDecoderOp", shapes: [[1, 2, 2, 17], [1, 2, 3, 34], [1, 2, 2, 64]], outputs: 4,
      options: Self.options([("max_detections", 5), ("stride", 16)]))
    #expect(error.message.contains("t1 is 1×2×3×34, not 1×2×2×34"), "\(error)")
  }

  @Test func landmarksAreThere() throws {
    let error = try Self.error(
      of: "TransformLandmarks", shapes: [[1, 1, 1, 6], [4, 4]], outputs: 1,
      options: Self.options([("dimensions", 4)]))
    #expect(error.message.contains("1×1×1×6 are not points of 4 coordinates"), "\(error)")
    let matrix = try Self.error(
      of: "Landmarks2TransformMatrix", shapes: [[1, 1, 1, 6]], outputs: 1,
      options: Self.options([("dimensions", 3), ("bbox_size_multiplier", 1), ("landmarks_range", 0)]))
    #expect(matrix.message.contains("landmarks_range is 0.0"), "\(matrix)")
  }

  @Test func anImageHasASize() throws {
    let error = try Self.error(
      of: "TransformTensor", shapes: [[1, 2, 2, 1], [1, 4, 4]], outputs: 1, options: [])
    #expect(error.message.contains("an output of [] is not an image"), "\(error)")
    let damaged = try Self.error(
      of: "TransformTensor", shapes: [[1, 2, 2, 1], [1, 4, 4]], outputs: 1, options: [1, 2, 3, 4])
    #expect(damaged.message.contains("TransformTensor: options: "), "\(damaged)")
  }
}
