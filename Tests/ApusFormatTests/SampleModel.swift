// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// A small model of one convolution, one sparse constant and one custom operator, as field values that a test
/// may change before it writes them.
struct SampleModel {
  var version: UInt32 = 3
  var codes: [[Int: FlatValue]] = [
    [0: .int8(3), 2: .int32(2), 3: .int32(3)],
    [0: .int8(32), 1: .string("TFLite_Detection_PostProcess")],
  ]
  var buffers: [[Int: FlatValue]] = [
    [:],
    [0: .bytes(Array(0..<18))],
    [0: .bytes([1, 0, 0, 0, 2, 0, 0, 0])],
    [0: .bytes([9, 8, 7])],
    [0: .bytes(metadata)],
  ]
  var tensors: [[Int: FlatValue]] = [
    [
      0: .int32s([1, 4, 4, 1]), 1: .int8(3), 3: .string("image"), 4: quantization,
      7: .int32s([-1, 4, 4, 1]), 8: .uint8(1),
    ],
    [
      0: .int32s([2, 3, 3, 1]), 1: .int8(9), 2: .uint32(1), 3: .string("conv/weights"),
      4: .table([2: .floats([0.5, 0.25]), 3: .int64s([0, 0]), 6: .int32(0)]),
    ],
    [0: .int32s([2]), 1: .int8(2), 2: .uint32(2), 3: .string("conv/bias")],
    [0: .int32s([1, 4, 4, 2]), 1: .int8(3), 3: .string("features"), 4: quantization],
    [0: .int32s([2, 4]), 1: .int8(3), 2: .uint32(3), 3: .string("sparse"), 6: sparsity],
    [1: .int8(0), 3: .string("boxes")],
  ]
  var inputs: [Int32] = [0]
  var outputs: [Int32] = [5]
  var operators: [[Int: FlatValue]] = [
    [
      1: .int32s([0, 1, 2]), 2: .int32s([3]), 3: .uint8(1),
      4: .table([0: .int8(1), 1: .int32(2), 2: .int32(3), 3: .int8(1)]),
    ],
    [
      0: .uint32(1), 1: .int32s([3, -1, 4]), 2: .int32s([5]), 5: .bytes(Fixtures.flexBuffer),
      7: .bytes([0, 1, 0]), 8: .int32s([4]),
    ],
  ]
  var signatures: [[Int: FlatValue]] = [
    [
      0: .tables([[0: .string("x"), 1: .uint32(0)]]), 1: .tables([[0: .string("y"), 1: .uint32(5)]]),
      2: .string("serving_default"),
    ]
  ]
  var metadataEntries: [[Int: FlatValue]] = [[0: .string("TFLITE_METADATA"), 1: .uint32(4)]]

  static let quantization = FlatValue.table([
    0: .floats([-1]), 1: .floats([1]), 2: .floats([0.0078125]), 3: .int64s([128]),
  ])

  /// Two rows: the first has elements at indices 0 and 2, the second at index 3.
  static let sparsity = FlatValue.table([
    0: .int32s([0, 1]),
    2: .tables([
      [1: .int32(2)],
      [
        0: .int8(1), 2: .uint8(3), 3: .table([0: .bytes([0, 2, 3])]), 4: .uint8(2),
        5: .table([0: .uint16s([0, 2, 3])]),
      ],
    ]),
  ])

  static let metadata = FlatBufferWriter.file(
    "M001",
    [
      0: .string("Sample"), 1: .string("finds nothing"), 2: .string("v1"), 4: .string("nobody"),
      5: .string("Apache-2.0"), 7: .string("1.5.0"),
      3: .tables([
        [
          2: .tables([
            [
              0: .string("image"), 2: .strings(["batch", "height", "width", "channel"]),
              3: .table([
                0: .uint8(2), 1: .table([0: .int8(1), 1: .table([0: .uint32(4), 1: .uint32(3)])]),
              ]),
              4: .tables([[0: .uint8(1), 1: .table([0: .floats([127.5]), 1: .floats([128])])]]),
              5: .table([0: .floats([1]), 1: .floats([-1])]),
            ]
          ]),
          3: .tables([
            [
              0: .string("location"),
              3: .table([
                0: .uint8(3), 1: .table([0: .int32s([1, 0, 3, 2]), 1: .int8(1), 2: .int8(1)]),
                2: .table([0: .int32(2), 1: .int32(2)]),
              ]),
              4: .tables([
                [0: .uint8(3), 1: .table([0: .float(0.25)])],
                [0: .uint8(2), 1: .table([0: .int8(2), 1: .float(0.125)])],
                [0: .uint8(77), 1: .table([:])],
              ]),
              6: .tables([
                [0: .string("de.txt"), 2: .int8(3), 3: .string("de")],
                [0: .string("labels.txt"), 1: .string("names"), 2: .int8(3), 4: .string("2")],
                [0: .string("future"), 2: .int8(99)],
              ]),
            ]
          ]),
        ]
      ]),
    ])

  var bytes: [UInt8] {
    FlatBufferWriter.file(
      "TFL3",
      [
        0: .uint32(version), 1: .tables(codes), 3: .string("a sample"), 4: .tables(buffers),
        2: .tables([
          [
            0: .tables(tensors), 1: .int32s(inputs), 2: .int32s(outputs), 3: .tables(operators),
            4: .string("main"),
          ]
        ]),
        6: .tables(metadataEntries), 7: .tables(signatures),
      ])
  }

  func decoded() throws(FormatError) -> ModelFile {
    try ModelFile(FileBytes(copying: bytes))
  }
}
