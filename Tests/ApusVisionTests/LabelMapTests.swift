// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private let dataFolder = ProcessInfo.processInfo.environment["APUS_TEST_DATA"]

@Suite struct LabelMapTests {
  @Test(
    "every common form is read",
    arguments: [
      ("???\nperson\nbicycle\n", 3, 1), ("???\r\nperson\r\nbicycle\r\n", 3, 1),
      ("\u{FEFF}???\nperson\nbicycle", 3, 1), ("???\rperson\rbicycle\r", 3, 1),
      ("background\nperson\nbicycle\n\n\n", 3, 1), ("  person \n\tbicycle\t\n", 2, 0),
      ("person\nbicycle", 2, 0),
      ("0: person\n1: bicycle\n", 2, 0), ("0:person\n1:bicycle", 2, 0), ("0  person\n1  bicycle\n", 2, 0),
      ("0 person\n1 bicycle\n", 2, 0), ("0\tperson\n1\tbicycle\n", 2, 0), ("0,person\n1,bicycle\n", 2, 0),
      ("0:background\n1:person\n2:bicycle\n", 3, 1), ("1 person\n2 bicycle\n", 3, 1),
      ("# a comment\n\n1: bicycle\n0: person\n", 2, 0),
      ("item {\n  id: 1\n  name: 'person'\n}\nitem {\n  id: 2\n  name: \"bicycle\"\n}\n", 3, 1),
      (
        "item { name: \"/m/01\" id: 1 display_name: \"person\" }\nitem: <id: 2, name: 'bi' 'cycle';>", 3, 1
      ),
      ("# made by hand\nitem{id:0 name:'person'}item{id:1 name:'\\x62icycl\\145'}", 2, 0),
      (
        "item { id: 1 name: 'person' frequency: 3 keypoints { id: 7 label: '}' } tags: [1, 2] }\n"
          + "extra { a { b: 1 } }\nitem { id: 2 name: 'bicycle' }", 3, 1
      ),
    ])
  func reads(text: String, rows: Int, offset: Int) throws {
    let labels = try LabelMap(parsing: text)
    #expect(labels.rowCount == rows)
    #expect(labels.offset == offset && labels.detectedOffset == offset)
    #expect(labels[0] == "person" && labels[1] == "bicycle")
    #expect(labels[2] == nil && labels[-2] == nil && labels[.max] == nil && labels[.min] == nil)
    #expect(labels.indices(named: "bicycle") == [1])
  }

  @Test func anExplicitOffsetWins() throws {
    let text = "???\nperson\nbicycle\n"
    #expect(try LabelMap(parsing: text, offset: 0)[1] == "person")
    #expect(try LabelMap(parsing: text, offset: 2)[0] == "bicycle")
    #expect(try LabelMap(parsing: text, offset: -1)[2] == "person")
    let far = try LabelMap(parsing: text, offset: .max)
    #expect(far[1] == nil && far[.max] == nil && far[.min] == nil && far.indices(named: "person").isEmpty)
    #expect(try LabelMap(parsing: text, offset: .min).indices(named: "person").isEmpty)
  }

  @Test func rowsWithoutANameAreUnlabeled() throws {
    let labels = try LabelMap(parsing: "person\n???\n\nbicycle\n")
    #expect((0..<5).map { labels[$0] } == ["person", nil, nil, "bicycle", nil])
    #expect(labels.offset == 0 && labels.rowCount == 4)
  }

  @Test func aClassifierThatScoresTheBackgroundNeedsNoOffset() throws {
    let labels = try LabelMap(parsing: "background\ntench\ngoldfish\n")
    #expect(labels[0] == "tench")
    #expect(labels.aligned(toClassCount: 3)[0] == "background")
    #expect(labels.aligned(toClassCount: 2)[0] == "tench")
  }

  @Test func numbersThatArePartOfNamesStay() throws {
    #expect(try LabelMap(parsing: "0\n1\n2\n")[2] == "2")
    #expect(try LabelMap(parsing: "7 eleven\nshop\n")[0] == "7 eleven")
    #expect(try LabelMap(parsing: "2 hearts\n2 spades\n")[1] == "2 spades")
    #expect(try LabelMap(parsing: "3d printer\n4k screen\n")[0] == "3d printer")
    #expect(try LabelMap(parsing: "0 person\n1 bicycle\n", format: .lines)[1] == "1 bicycle")
    #expect(try LabelMap(parsing: "item\nobject\n")[0] == "item")
  }

  @Test func plainNamesMayBeginWithAHash() throws {
    #expect(try LabelMap(parsing: "#one\n#two\n")[1] == "#two")
  }

  @Test func numbersMayHaveGaps() throws {
    let labels = try LabelMap(parsing: "90: toothbrush\n0: person\n")
    #expect(labels.rowCount == 91 && labels[90] == "toothbrush" && labels[45] == nil)
  }

  @Test func invalidUTF8IsReplaced() throws {
    let labels = try LabelMap(parsing: [0x61, 0xFF, 0x62, 0x0A, 0xC3])
    #expect(labels[0] == "a\u{FFFD}b" && labels[1] == "\u{FFFD}")
  }

  @Test(
    "damage is refused with its line",
    arguments: [
      ("", 1), ("\n\n  \n", 1), ("person\nbi\u{0}cycle\n", 2), ("0: person\nbicycle\n", 2),
      ("0: person\n1: bicycle\n1: car\n", 3), ("0: person\n9999999999999999999999: x\n", 2),
      ("0: person\n1048576: x\n", 2), ("item {\n  id: 1\n  name: 'x'\n", 3), ("item {\n  name: 'x'\n}\n", 3),
      ("item { id: -1 name: 'x' }", 1), ("item {\n id: 1\n name: x\n}", 3),
      ("item {\n id: 1\n name: 'x\n}", 3),
      ("item { id: 1 }\nitem { id: 1 }", 2), ("item {\n  id 1 }", 2), ("item { id: 1 }\n%", 2),
      ("item { id: 1 name: '\\xZZ' }", 1), ("item { id: 1 name: '\\777' }", 1),
      ("item { id: 1 a " + String(repeating: "{", count: 100_000), 1),
      (String(repeating: "x", count: 5_000), 1),
    ])
  func refuses(text: String, line: Int) {
    let error = #expect(throws: ApusError.self) { try LabelMap(parsing: text) }
    #expect(error?.code == .malformedLabels)
    #expect(error?.message.hasPrefix("line \(line):") == true, "\(error?.message ?? "")")
  }

  @Test func halfACharacterOfUTF16IsNamed() throws {
    #expect(try LabelMap(parsing: [0xFF, 0xFE, 0x61, 0])[0] == "a")
    let error = #expect(throws: ApusError.self) { try LabelMap(parsing: [0xFF, 0xFE, 0x61, 0, 0x62]) }
    #expect(error?.code == .malformedLabels && error?.message.contains("UTF-16") == true)
  }

  @Test func anExplicitFormMustHold() {
    #expect(throws: ApusError.self) { try LabelMap(parsing: "person", format: .numberedLines) }
    #expect(throws: ApusError.self) { try LabelMap(parsing: "person", format: .protobufText) }
    #expect(throws: ApusError.self) { try LabelMap(parsing: "# only", format: .numberedLines) }
  }

  @Test func tooMuchTextIsRefusedByItsSize() {
    let long = [UInt8](repeating: 0x0A, count: LabelMap.maximumFileSize + 1)
    let error = #expect(throws: ApusError.self) { try LabelMap(parsing: long) }
    #expect(error?.code == .resourceLimit)
    let lines = #expect(throws: ApusError.self) {
      try LabelMap(parsing: Array(String(repeating: "a\n", count: LabelMap.maximumRowCount + 1).utf8))
    }
    #expect(lines?.code == .malformedLabels)
  }

  @Test func aMissingFileIsNamed() {
    let error = #expect(throws: ApusError.self) { try LabelMap(contentsOfFile: "/nowhere/labels.txt") }
    #expect(error?.code == .unreadableFile && error?.message.contains("/nowhere/labels.txt") == true)
    let folder = #expect(throws: ApusError.self) { try LabelMap(contentsOfFile: "/") }
    #expect(folder?.code == .unreadableFile)
  }

  @Test("any bytes are labels or an error", arguments: 0..<8)
  func survivesMutants(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let samples = [
      "???\nperson\n", "0: a\n1: b\n", "0 a\n1 b\n", "item { id: 1 name: 'x' display_name: \"Person\" }\n",
      "item { id: 2 tags: [1, 2] more { a: <b: 1> } name: 'a\\n\\x41\\101' 'b' }\n",
    ]
    for _ in 0..<1_000 {
      var bytes = Array(samples.randomElement(using: &random)!.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.insert(Array("{}<>[]:'\"\\#,;\n 09i".utf8).randomElement(using: &random)!, at: at)
        default: bytes.removeSubrange(at..<min(bytes.count, at + 3))
        }
        if bytes.isEmpty { bytes = [0x41] }
      }
      do throws(ApusError) {
        let labels = try LabelMap(parsing: bytes)
        #expect(labels.rowCount > 0 && labels[labels.rowCount] == nil)
      } catch {
        #expect(error.code == .malformedLabels)
      }
    }
  }

  @Test("names that leave out the background begin at class 1 of a classifier's scores")
  func alignsToScores() throws {
    let names = try LabelMap(parsing: "cat\ndog\n")
    #expect((0..<3).map { names.aligned(toScoreCount: 3)[$0] } == [nil, "cat", "dog"])
    #expect((0..<2).map { names.aligned(toScoreCount: 2)[$0] } == ["cat", "dog"])
    // Names with a background have an offset of their own, numbers say which class is meant, and an offset that was chosen stays.
    let background = try LabelMap(parsing: "background\ncat\ndog\n")
    #expect((0..<3).map { background.aligned(toScoreCount: 3)[$0] } == ["background", "cat", "dog"])
    #expect((0..<2).map { background.aligned(toScoreCount: 2)[$0] } == ["cat", "dog"])
    #expect(try LabelMap(parsing: "0 cat\n1 dog\n").aligned(toScoreCount: 3)[0] == "cat")
    #expect(try LabelMap(parsing: "cat\ndog\n", offset: 1).aligned(toScoreCount: 3)[0] == "dog")
  }

  @Test(.enabled(if: dataFolder != nil, "APUS_TEST_DATA names no folder"))
  func readsTheLabelFilesOfRealModels() throws {
    let folder = try #require(dataFolder) + "/labels/"
    let classic = try LabelMap(contentsOfFile: folder + "coco_labelmap_classic.txt")
    let support = try LabelMap(contentsOfFile: folder + "coco_labelmap_90_tflite-support.txt")
    #expect(classic.offset == 1 && support.offset == 0)
    #expect((0..<90).allSatisfy { classic[$0] == support[$0] })
    #expect(classic[0] == "person" && classic[89] == "toothbrush" && classic[11] == nil && classic[90] == nil)
    let imageNet = try LabelMap(contentsOfFile: folder + "imagenet_labels.txt")
    #expect(imageNet.aligned(toClassCount: 1_001)[1] == "tench, Tinca tinca")
    #expect(try LabelMap(contentsOfFile: folder + "yamnet_521_labels.txt").rowCount == 521)
  }
}
