// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

@Suite("published models", .enabled(if: TestData.isAvailable, "APUS_TEST_DATA is not set"))
struct PublishedModelTests {
  @Test("a model decodes to what the schema's own reader finds", arguments: publishedModels)
  func decodesAsTheSchemaSays(name: String, checksum expected: UInt64) throws {
    let summary = try ModelFile(TestData.model(name)).summary
    #expect(checksum(summary) == expected, "\(summary.prefix(2000))")
  }

  @Test("a model that is read in parts is the same", arguments: publishedModels)
  func readsInParts(name: String, checksum expected: UInt64) throws {
    let (whole, file) = (
      try ModelFile(TestData.model(name)), try ModelFile(TestData.model(name, inParts: true))
    )
    #expect(checksum(file.summary) == expected)
    #expect(try ModelMetadata.read(from: file) == ModelMetadata.read(from: whole))
    #expect(try ZipArchive(appendedTo: file.bytes)?.entries == ZipArchive(appendedTo: whole.bytes)?.entries)
    for (buffer, range) in file.buffers.enumerated() {
      let isUnread = !file.areUnread.isEmpty && file.areUnread[buffer]
      #expect(isUnread || file.bytes.contains(range))
      let expected = try whole.withBytes(of: range) { Array($0) }
      #expect(try file.withBytes(of: range) { $0.elementsEqual(expected) }, "buffer \(buffer)")
    }
    if whole.buffers.contains(where: { $0.count >= 1 << 20 }) { #expect(file.areUnread.contains(true)) }
  }

  @Test func readsTheOptionsOfAConvolution() throws {
    let file = try ModelFile(TestData.model("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29"))
    let node = try #require(
      file.subgraphs[0].operators.first { file.operatorCodes[$0.operatorCode].code == .conv2D })
    #expect(node.optionsType == 1)
    #expect(try node.options.int8(0, default: 0) == 0)  // SAME, which the file leaves out
    #expect(try node.options.int32(1, default: 9) == 2)
    #expect(try node.options.int32(2, default: 9) == 2)
    #expect(try node.options.int8(3, default: 9) == 9)  // no activation, left out as well
    #expect(try node.options.int32(4, default: 1) == 1)
  }

  @Test func readsTheOptionsOfTheDetectionOperator() throws {
    let file = try ModelFile(TestData.model("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29"))
    let node = try #require(file.subgraphs[0].operators.last)
    #expect(file.operatorCodes[node.operatorCode].name == "TFLite_Detection_PostProcess")
    let options = try FlexBufferMap(file.bytes, try #require(node.customOptions))
    #expect(options.int64("max_detections") == 10)
    #expect(options.int64("num_classes") == 90)
    #expect(options.double("y_scale") == 10)
    #expect(options.double("h_scale") == 5)
    #expect(abs(options.double("nms_score_threshold") - 1e-8) < 1e-14)
    #expect(!options.bool("use_regular_nms"))
  }

  @Test func readsTheLabelsOfADetector() throws {
    let file = try ModelFile(TestData.model("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata"))
    let metadata = try #require(try ModelMetadata.read(from: file))
    #expect(metadata.inputs.count == 1)
    #expect(metadata.inputs[0].normalization == .init(mean: [127.5], std: [127.5]))
    #expect(metadata.outputs.map(\.name) == ["locations", "classes", "scores", "number of detections"])
    let box = try #require(metadata.outputs[0].boundingBoxProperties)
    #expect(box.index == [1, 0, 3, 2])
    #expect(box.type == .boundaries)
    #expect(box.coordinateType == .ratio)
    let label = try #require(metadata.outputs[1].labelFile)
    #expect(label.type == .tensorValueLabels)
    let text = String(decoding: try ZipArchive(file.bytes).contents(of: label.name), as: UTF8.self)
    #expect(text.utf8.count == 661)
    #expect(text.hasPrefix("person\nbicycle\ncar\n"))
  }

  @Test func readsTheScoreCalibrationOfADetector() throws {
    let file = try ModelFile(TestData.model("coco_ssd_mobilenet_v1_quant_score_calibration"))
    let metadata = try #require(try ModelMetadata.read(from: file))
    let output = try #require(metadata.outputs.first { $0.scoreCalibration != nil })
    let table = try #require(output.associatedFiles.first { $0.type == .tensorAxisScoreCalibration })
    #expect(try ZipArchive(file.bytes).contents(of: table.name).count == 1364)
  }

  @Test func readsTheMetadataOfAnAudioClassifier() throws {
    let file = try ModelFile(TestData.model("yamnet_audio_classifier_with_metadata"))
    let metadata = try #require(try ModelMetadata.read(from: file))
    #expect(metadata.inputs[0].content == .audio(sampleRate: 16000, channels: 1))
    let label = try #require(metadata.outputs[0].labelFile)
    #expect(label.type == .tensorAxisLabels)
    let text = String(decoding: try ZipArchive(file.bytes).contents(of: label.name), as: UTF8.self)
    #expect(text.split(separator: "\n").count == 521)
    #expect(text.hasPrefix("Speech\n"))
  }

  @Test func readsTheMetadataOfAClassifier() throws {
    let file = try ModelFile(TestData.model("mobilenet_v1_0.25_224_1_metadata_1"))
    let metadata = try #require(try ModelMetadata.read(from: file))
    #expect(metadata.inputs[0].normalization == .init(mean: [127.5], std: [127.5]))
    let label = try #require(metadata.outputs[0].labelFile)
    let text = String(decoding: try ZipArchive(file.bytes).contents(of: label.name), as: UTF8.self)
    #expect(text.split(separator: "\n").count == 1001)
    #expect(text.hasPrefix("background\ntench\n"))
  }

  @Test("cutting off the end of the archive costs only the labels", arguments: [1, 21, 22, 100, 700, 760])
  func losesOnlyLabels(cut: Int) throws {
    let bytes = try TestData.bytes("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata")
    let whole = try ModelFile(FileBytes(copying: bytes))
    let file = try ModelFile(FileBytes(copying: Array(bytes.dropLast(cut))))
    #expect(file.summary == whole.summary)
    #expect(try ModelMetadata.read(from: file) == ModelMetadata.read(from: whole))
    #expect(try ZipArchive(appendedTo: file.bytes) == nil)
    #expect(throws: FormatError.self) { try ZipArchive(file.bytes) }
  }

  @Test func mapsAFileAsItReadsIt() throws {
    let folder = try #require(TestData.folder)
    let mapped = try FileBytes(mappingFileAt: "\(folder)/models/mattn_iris.tflite")
    #expect(try ModelFile(mapped).summary == ModelFile(TestData.model("mattn_iris")).summary)
  }
}
