// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision
import TestSupport

/// A small model described in a test, and written as a `.tflite` file.
struct DetectorModel {
  struct TensorSpec {
    var name: String
    var shape: [Int32]
    var type: UInt8 = DetectorModel.float32
    var signature: [Int32]?
    var data: [UInt8]?
    var quantization: (scale: Float, zeroPoint: Int64)?
    /// Whether it keeps its values between runs.
    var isVariable = false
  }

  struct OperatorSpec {
    var code: Int32
    var inputs: [Int32]
    var outputs: [Int32]
    var options: [Int: FlatTable.Field] = [:]
    var custom: (name: String, options: [UInt8])?
  }

  // Numbers of the schema.
  static let float32: UInt8 = 0
  static let int32: UInt8 = 2
  static let uint8: UInt8 = 3
  static let int64: UInt8 = 4
  static let int16: UInt8 = 7
  static let int8: UInt8 = 9
  static let concatenation: Int32 = 2
  static let mul: Int32 = 18
  static let custom: Int32 = 32
  static let sub: Int32 = 41
  static let reduceMax: Int32 = 82

  /// The first tensors are the inputs.
  var tensors: [TensorSpec]
  var inputCount: Int32 = 1
  var operators: [OperatorSpec] = []
  var outputs: [Int32]
  /// A signature's names of the outputs.
  var signature: [String]?
  /// The outputs' names in the metadata.
  var metadataNames: [String]?
  /// The normalization in the metadata.
  var metadataNormalization: (mean: [Float], std: [Float])?
  /// The normalization of the first output in the metadata.
  var outputNormalization: (mean: [Float], std: [Float])?
  /// The boxes of the first output in the metadata: their kind and the places of the kind's numbers.
  var metadataBoxes: (kind: UInt8, index: [Int32])?
  /// The score of what has no calibration, by output, in the metadata: all share the appended file.
  var metadataCalibrations: [Float]?
  /// The minimum score of the first output in the metadata.
  var metadataThreshold: Float?
  /// A label file, stored in a zip archive behind the model.
  var labels: String?
  /// The name of that file; another than a text's for what is no list of labels.
  var appendedName = "labels.txt"

  /// The file.
  var bytes: [UInt8] {
    var buffers = [FlatTable()]
    func buffer(_ data: [UInt8]) -> FlatTable.Field {
      buffers.append(FlatTable([0: .bytes(data)]))
      return .int(Int32(buffers.count - 1))
    }
    let tensorTables = tensors.map { tensor in
      var fields: [Int: FlatTable.Field] = [
        0: .ints(tensor.shape), 1: .byte(tensor.type), 3: .text(tensor.name),
      ]
      if let data = tensor.data { fields[2] = buffer(data) }
      if let quantization = tensor.quantization {
        fields[4] = .table(
          FlatTable([2: .floats([quantization.scale]), 3: .longs([quantization.zeroPoint])]))
      }
      if tensor.isVariable { fields[5] = .byte(1) }
      if let signature = tensor.signature { fields[7] = .ints(signature) }
      return FlatTable(fields)
    }
    let codes = operators.map { node in
      var fields: [Int: FlatTable.Field] = [0: .byte(UInt8(node.code)), 2: .int(1), 3: .int(node.code)]
      if let custom = node.custom { fields[1] = .text(custom.name) }
      return FlatTable(fields)
    }
    let operatorTables = operators.enumerated().map { index, node in
      var fields: [Int: FlatTable.Field] = [
        0: .int(Int32(index)), 1: .ints(node.inputs), 2: .ints(node.outputs),
        3: .byte(UInt8(OperatorCode(number: node.code)?.optionsType ?? 1)),
        4: .table(FlatTable(node.options)),
      ]
      if let custom = node.custom { fields[5] = .bytes(custom.options) }
      return FlatTable(fields)
    }
    var model: [Int: FlatTable.Field] = [
      0: .int(3), 1: .tables(codes),
      2: .tables([
        FlatTable([
          0: .tables(tensorTables), 1: .ints(Array(0..<inputCount)), 2: .ints(outputs),
          3: .tables(operatorTables),
        ])
      ]),
    ]
    if metadataNames != nil || metadataNormalization != nil || metadataCalibrations != nil
      || outputNormalization != nil || metadataBoxes != nil || metadataThreshold != nil
    {
      model[6] = .tables([FlatTable([0: .text("TFLITE_METADATA"), 1: buffer(metadata)])])
    }
    if let signature {
      func maps(_ names: [String], _ tensors: [Int32]) -> FlatTable.Field {
        .tables(zip(names, tensors).map { FlatTable([0: .text($0), 1: .int($1)]) })
      }
      model[7] = .tables([
        FlatTable([0: maps(["images"], [0]), 1: maps(signature, outputs), 2: .text("serving_default")])
      ])
    }
    model[4] = .tables(buffers)
    return FlatTable(model).file(identifier: "TFL3")
      + (labels.map { Self.archive(of: $0, appendedName) } ?? [])
  }

  private var metadata: [UInt8] {
    func units(_ normalization: (mean: [Float], std: [Float])) -> FlatTable.Field {
      let numbers = FlatTable([0: .floats(normalization.mean), 1: .floats(normalization.std)])
      return .tables([FlatTable([0: .byte(1), 1: .table(numbers)])])
    }
    var input: [Int: FlatTable.Field] = [0: .text("image")]
    if let metadataNormalization { input[4] = units(metadataNormalization) }
    var names = (metadataNames ?? []).map { FlatTable([0: .text($0)]) }
    if let outputNormalization { names = [FlatTable([4: units(outputNormalization)])] }
    if let metadataBoxes {
      var properties: [Int: FlatTable.Field] = [1: .byte(metadataBoxes.kind)]
      if !metadataBoxes.index.isEmpty { properties[0] = .ints(metadataBoxes.index) }
      let content = FlatTable([0: .byte(3), 1: .table(FlatTable(properties))])
      names = outputs.indices.map { FlatTable($0 == 0 ? [3: .table(content)] : [0: .text("")]) }
    }
    if let metadataThreshold {
      let unit = FlatTable([0: .byte(3), 1: .table(FlatTable([0: .float(metadataThreshold)]))])
      names = [FlatTable([4: .tables([unit])])]
    }
    for score in metadataCalibrations ?? [] {
      let unit = FlatTable([0: .byte(2), 1: .table(FlatTable([1: .float(score)]))])
      names.append(
        FlatTable([
          4: .tables([unit]), 6: .tables([FlatTable([0: .text(appendedName), 2: .byte(4)])]),
        ]))
    }
    return FlatTable([3: .tables([FlatTable([2: .tables([FlatTable(input)]), 3: .tables(names)])])])
      .file(identifier: "M001")
  }

  /// A zip archive of one stored file, as appended to a model that is `begin` bytes long.
  private static func archive(of labels: String, _ name: String) -> [UInt8] {
    let (name, contents) = (Array(name.utf8), Array(labels.utf8))
    var common: [UInt8] = []
    for value in [20, 0, 0, 0, 0] as [UInt16] { common.appendLittleEndian(value) }
    for value in [contents.crc32, UInt32(contents.count), UInt32(contents.count)] {
      common.appendLittleEndian(value)
    }
    common.appendLittleEndian(UInt16(name.count))
    common.appendLittleEndian(UInt16(0))
    let local = Array("PK\u{3}\u{4}".utf8) + common + name + contents
    let central =
      Array("PK\u{1}\u{2}".utf8) + [20, 0] + common + [UInt8](repeating: 0, count: 14) + name
    var end = Array("PK\u{5}\u{6}".utf8) + [0, 0, 0, 0, 1, 0, 1, 0]
    end.appendLittleEndian(UInt32(central.count))
    end.appendLittleEndian(UInt32(local.count))
    return local + central + end + [0, 0]
  }

  /// The model, read back.
  func model() throws(ApusError) -> Model {
    try Model(bytes: bytes)
  }

  /// Little-endian bytes of floats.
  static func data(_ values: [Float]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values { bytes.appendLittleEndian(value.bitPattern) }
    return bytes
  }

  // MARK: Models

  /// An output whose values do not depend on the picture.
  struct Answer {
    var name = ""
    var shape: [Int32]
    var values: [Float]

    /// Boxes of four numbers a row.
    static func boxes(_ values: [Float]) -> Answer {
      Answer(shape: [1, Int32(values.count / 4), 4], values: values)
    }

    /// One number a row.
    static func rows(_ values: [Float]) -> Answer { Answer(shape: [1, Int32(values.count)], values: values) }

    /// One number.
    static func count(_ value: Float) -> Answer { Answer(shape: [1], values: [value]) }

    func named(_ name: String) -> Answer { Answer(name: name, shape: shape, values: values) }
  }

  /// A model that answers every picture with these outputs.
  static func answering(
    _ answers: [Answer], shape: [Int32] = [1, 8, 8, 3], type: UInt8 = uint8, signature: [Int32]? = nil
  ) -> DetectorModel {
    let quantization: (Float, Int64)? = type == float32 ? nil : (1 / 255, type == int8 ? -128 : 0)
    var tensors = [
      TensorSpec(
        name: "image", shape: shape, type: type, signature: signature, quantization: quantization)
    ]
    for (index, answer) in answers.enumerated() {
      tensors.append(
        TensorSpec(
          name: answer.name.isEmpty ? "output \(index)" : answer.name, shape: answer.shape,
          data: data(answer.values)))
    }
    return DetectorModel(tensors: tensors, outputs: (0..<answers.count).map { Int32($0 + 1) })
  }

  /// A detector of the bounding box of what is white on black: class 2 with the brightest value as its score.
  ///
  /// Edges are the greatest values of the picture times a ramp, so that the answer depends on every pixel.
  static func whiteBox(side: Int) -> DetectorModel {
    let size = Int32(side)
    var model = DetectorModel(
      tensors: [
        TensorSpec(name: "image", shape: [1, size, size, 1]),
        TensorSpec(name: "one", shape: [1], data: data([1])),
        TensorSpec(name: "axes", shape: [3], type: int32, data: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
        TensorSpec(name: "classes", shape: [1, 1], data: data([2])),
        TensorSpec(name: "scores", shape: [1]),
        TensorSpec(name: "boxes", shape: [1, 4]),
        TensorSpec(name: "count", shape: [1], data: data([1])),
      ],
      operators: [OperatorSpec(code: reduceMax, inputs: [0, 2], outputs: [4])], outputs: [5, 3, 4, 6])
    model.tensors[4].shape = [1]
    var edges: [Int32] = []
    for edge in 0..<4 {  // top, left, bottom, right
      let isNear = edge < 2
      let ramp = (0..<side * side).map { pixel -> Float in
        let place = edge.isMultiple(of: 2) ? pixel / side : pixel % side
        return Float(isNear ? side - place : place + 1) / Float(side)
      }
      let first = Int32(model.tensors.count)
      model.tensors.append(
        TensorSpec(name: "ramp \(edge)", shape: [1, size, size, 1], data: data(ramp)))
      model.tensors.append(TensorSpec(name: "product \(edge)", shape: [1, size, size, 1]))
      model.tensors.append(TensorSpec(name: "far \(edge)", shape: [1]))
      model.operators.append(OperatorSpec(code: mul, inputs: [0, first], outputs: [first + 1]))
      model.operators.append(OperatorSpec(code: reduceMax, inputs: [first + 1, 2], outputs: [first + 2]))
      if isNear {
        model.tensors.append(TensorSpec(name: "near \(edge)", shape: [1]))
        model.operators.append(OperatorSpec(code: sub, inputs: [1, first + 2], outputs: [first + 3]))
      }
      edges.append(first + (isNear ? 3 : 2))
    }
    model.tensors[5].shape = [4]
    model.operators.append(
      OperatorSpec(code: concatenation, inputs: edges, outputs: [5], options: [0: .int(0)]))
    return model
  }

  /// A model whose outputs are those of `TFLite_Detection_PostProcess` on constants, in another order and without
  /// telling names. Two boxes, of class 1 (0.75) and 0 (0.5), the classes of each by falling score.
  static func postProcess(
    order: [Int], classesPerDetection: Int32 = 1, detections: Int32 = 3
  ) -> DetectorModel {
    let anchors: [Float] = [0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.5, 0.25]
    let rows = detections * classesPerDetection
    let options = flexBuffer([
      "h_scale": 5, "max_classes_per_detection": Double(classesPerDetection),
      "max_detections": Double(detections),
      "nms_iou_threshold": 1, "nms_score_threshold": 0, "num_classes": 2, "w_scale": 5, "x_scale": 10,
      "y_scale": 10,
    ])
    return DetectorModel(
      tensors: [
        TensorSpec(name: "image", shape: [1, 8, 8, 3], type: uint8),
        TensorSpec(name: "encodings", shape: [1, 2, 4], data: data([Float](repeating: 0, count: 8))),
        TensorSpec(name: "likely", shape: [1, 2, 2], data: data([0.25, 0.75, 0.5, 0.125])),
        TensorSpec(name: "anchors", shape: [2, 4], data: data(anchors)),
        TensorSpec(name: "p", shape: [1, rows, 4]), TensorSpec(name: "q", shape: [1, rows]),
        TensorSpec(name: "r", shape: [1, rows]), TensorSpec(name: "s", shape: [1]),
      ],
      operators: [
        OperatorSpec(
          code: custom, inputs: [1, 2, 3], outputs: [4, 5, 6, 7],
          custom: ("TFLite_Detection_PostProcess", options))
      ],
      outputs: order.map { Int32(4 + $0) })
  }
}
