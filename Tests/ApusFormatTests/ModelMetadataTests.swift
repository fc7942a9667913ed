// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import TestSupport
import Testing

@Suite struct ModelMetadataTests {
  @Test func readsEveryPart() throws {
    let metadata = try #require(try ModelMetadata.read(from: SampleModel().decoded()))
    #expect(metadata.name == "Sample")
    #expect(metadata.description == "finds nothing")
    #expect(metadata.version == "v1")
    #expect(metadata.author == "nobody")
    #expect(metadata.license == "Apache-2.0")
    #expect(metadata.minimumParserVersion == "1.5.0")
    let input = try #require(metadata.inputs.first)
    #expect(input.name == "image")
    #expect(input.dimensionNames == ["batch", "height", "width", "channel"])
    #expect(input.normalization == .init(mean: [127.5], std: [128]))
    #expect(input.maximums == [1] && input.minimums == [-1])
    #expect(input.scoreThreshold == nil && input.labelFile == nil && input.valueRange == nil)
    guard case .image(let properties) = input.content else {
      Issue.record("the input is no picture")
      return
    }
    #expect(properties.colorSpace == .rgb && properties.defaultWidth == 4 && properties.defaultHeight == 3)
    let output = try #require(metadata.outputs.first)
    #expect(output.valueRange == 2...2)
    #expect(output.scoreThreshold == 0.25)
    #expect(output.scoreCalibration?.transformation == .inverseLogistic)
    #expect(output.scoreCalibration?.defaultScore == 0.125)
    let box = try #require(output.boundingBoxProperties)
    #expect(box.index == [1, 0, 3, 2] && box.type == .boundaries && box.coordinateType == .pixel)
    #expect(output.associatedFiles.map(\.type) == [.tensorValueLabels, .tensorValueLabels, .unknown])
    #expect(output.labelFile?.name == "labels.txt" && output.labelFile?.version == "2")
    #expect(output.labelFile(locale: "de")?.name == "de.txt")
    #expect(output.labelFile(locale: "fr") == nil)
  }

  @Test func isNilWhereThereIsNone() throws {
    var model = SampleModel()
    model.metadataEntries = [[0: .string("min_runtime_version"), 1: .uint32(0)]]
    #expect(try ModelMetadata.read(from: model.decoded()) == nil)
  }

  @Test func damageIsAnErrorOfTheMetadataAlone() throws {
    for bytes in [[], [1, 2, 3], FlatBufferWriter.file("M002", [:])] as [[UInt8]] {
      var model = SampleModel()
      model.buffers[4] = [0: .bytes(bytes)]
      let file = try model.decoded()
      #expect(throws: FormatError.self) { try ModelMetadata.read(from: file) }
    }
  }

  @Test func survivesTruncationAndMutation() {
    let whole = SampleModel.metadata
    for length in whole.indices {
      do throws(FormatError) {
        _ = try ModelMetadata(Array(whole[..<length]))
      } catch {
        #expect(error.message.hasPrefix("metadata"))
      }
    }
    var random = SeededGenerator(seed: 4)
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do throws(FormatError) {
        _ = try ModelMetadata(bytes)
      } catch {
        #expect(error.message.hasPrefix("metadata"))
      }
    }
  }
}
