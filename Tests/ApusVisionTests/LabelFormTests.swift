// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

/// Label files as exporters, notebooks and people write them: what each says in its own format.
@Suite struct LabelFormTests {
  @Test(
    "JSON, YAML and CSV say owl, elk and emu",
    arguments: [
      "[\"owl\", \"elk\", \"emu\"]", "[\n  \"owl\",\n  \"elk\",\n  \"emu\"\n]\n",
      "{\"0\": \"owl\", \"2\": \"emu\", \"1\": \"elk\"}",
      "{\"owl\": 0, \"emu\": 2, \"elk\": 1}", "{0: 'owl', 1: 'elk', 2: 'emu'}",
      "{\"labels\": [\"owl\", \"elk\", \"emu\"], \"v\": 1}",
      // The file that RF-DETR's export writes beside a model.
      "{\"artifact_sha256\": \"0a1b\", \"metadata\": {\"means\": [0.485], \"class_names\": [\"owl\", \"elk\", \"emu\"],"
        + " \"class_id_to_name\": {\"0\": \"owl\", \"1\": \"elk\", \"2\": \"emu\"}, \"num_classes\": 3}}",
      "{\"id2label\": {\"0\": \"owl\", \"1\": \"elk\", \"2\": \"emu\"}, \"label2id\": {\"owl\": 0, \"elk\": 1, \"emu\": 2}}",
      "{\"class_indices\": {\"owl\": 0, \"elk\": 1, \"emu\": 2}}",
      "{\"0\": [\"n1\", \"owl\"], \"1\": [\"n2\", \"elk\"], \"2\": [\"n3\", \"emu\"]}",
      "{\"categories\": [{\"id\": 0, \"name\": \"owl\"}, {\"id\": 1, \"name\": \"elk\"}, {\"name\": \"emu\", \"id\": 2}]}",
      "names: [owl, 'elk', \"emu\"]", "nc: 3\nnames:\n  [owl,\n   elk, emu]\n",
      "names: {0: owl, 1: elk, 2: emu}",
      "train: images\nnames:\n- owl\n- elk\n- emu\nnc: 3\n",
      "names:\n  - owl\n  - elk # the second\n  - emu\n",
      "# made by hand\ntask: detect\nnames:\n  0: owl\n\n  1: \"elk\"\n  2: 'emu'\nimgsz:\n- 8\n",
      "id2label:\n  0: owl\n  1: elk\n  2: emu\n",
      "names:\n  - id: 0\n    name: owl\n  - id: 1\n    name: elk\n  - name: emu\n    id: 2\n",
      "- owl\n- elk\n- emu\n", "0. owl\n1. elk\n2. emu\n", "0) owl\n1) elk\n2) emu\n",
      "index,name\n0,owl\n1,elk\n2,emu\n", "name,id\nelk,1\nowl,0\nemu,2\n",
      "class_id;class_name\r\n0;owl\r\n1;elk\r\n2;emu\r\n",
      "index,mid,display_name\n0,/m/1,\"owl\"\n1,/m/2,elk\n2,/m/3,emu\n", "owl,0\nelk,1\nemu,2\n",
      "Id\tLabel\n0\towl\n1\telk\n2\temu\n",
      "0=owl\n1=elk\n2=emu\n", "0 - owl\n1 - elk\n2 - emu\n", "0 -> owl\n1 -> elk\n2 -> emu\n",
      "0|owl\n1|elk\n2|emu\n",
      "owl\t0\nelk\t1\nemu\t2\n",
      // A program's list, or a part of it.
      "\"owl\",\n\"elk\",\n\"emu\"\n", "  'owl',\n  'elk', # the second\n\n  'emu',\n",
      "\"owl\"\n\"elk\"\n\"emu\"\n",
      "\"owl\", \"elk\", \"emu\"", "'owl', 'elk',\n'emu'\n", "owl,\nelk,\nemu\n", "owl;\r\nelk;\r\nemu;\r\n",
      "labels = [\"owl\", \"elk\", \"emu\"]\n",
      "CLASSES: tuple[str, ...] = (\n  'owl',\n  'elk',\n  'emu',\n)\n",
      "String[] names = {\"owl\", \"elk\", \"emu\"};", "\"0\",\"owl\"\n\"1\",\"elk\"\n\"2\",\"emu\"\n",
    ])
  func saysTheSame(text: String) throws {
    var utf16: [UInt8] = [0xFF, 0xFE]
    for unit in text.utf16 { utf16 += [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] }
    for bytes in [Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), utf16, Array(utf16[2...])] {
      let labels = try LabelMap(parsing: bytes)
      #expect((0..<4).map { labels.name(inRow: $0) } == ["owl", "elk", "emu", nil] && labels.rowCount == 3)
    }
  }

  @Test(
    "what is not understood is refused with its line, never read as names",
    arguments: [
      ("[\"owl\", \"elk\"", 1), ("[\n\"owl\"\n\"elk\"\n]", 3), ("[\"owl\"] 7", 1), ("{\"owl\": \"Eule\"}", 1),
      ("{\n\"0\": \"owl\",\n\"0\": \"elk\"\n}", 3), ("{\n\"0\": {\"x\": 1}\n}", 2), ("[\"\\uD800\"]", 1),
      ("[[[]]]", 1), ("{}", 1),
      ("[" + String(repeating: "[", count: 100_000), 1), ("names: [owl,\n elk\n", 2),
      ("names:\n  0: owl\n 1: elk\n", 3),
      ("names:\n  - owl\n  elk: 1\n", 3), ("names: [*anchor]\nnames:\n  0: *a\n  1: b\nnames: {0: [}", 5),
      ("index,name\n0,owl\nx,elk\n", 3), ("index,name\n0,owl\n1\n", 3), ("index,name\n0,\"owl\n", 2),
      ("id,name\n0,owl\n0,elk\n", 3),
      ("id,name\n0,owl\n9999999999999999999999,elk\n", 3), ("item { id: 1 name: '\\U00110000' }", 1),
      ("[{\"id\": 1, \"name\": \"owl\"},\n{\"name\": \"elk\"}]", 2),
      ("[{\"id\": -1, \"name\": \"owl\"},\n{\"id\": 0, \"name\": \"elk\"}]", 1),
      ("[\"owl\",\n{\"id\": 0, \"name\": \"elk\"}]", 1),
      ("---\nowl: 0\nelk: 9223372036854775807\n", 2), ("id,name\n-1,owl\n", 2),
      ("item { id: 08 name: 'a' }", 1),
      ("item { id: 0x name: 'a' }", 1),
      ("\"owl\",\n\"elk\"\n\"emu\",\n", 2), ("\"owl\"\n\"elk\" \"emu\"\n", 1), ("labels = ['owl', elk]\n", 1),
      ("labels = [\n'owl',\n'elk'\n", 3),
      ("val labels = listOf(\n\"owl\"\n)\n", 1), ("names = {\n'owl',\n'elk'}", 1),
    ])
  func refuses(text: String, line: Int) {
    let error = #expect(throws: ApusError.self) { try LabelMap(parsing: text) }
    #expect(
      error?.code == .malformedLabels && error?.message.hasPrefix("line \(line):") == true,
      "\(error?.message ?? "")")
  }

  @Test("indices that a tool writes as floats are indices")
  func readsWholeFloats() throws {
    let labels = try LabelMap(parsing: "[{\"id\": 1.0, \"name\": \"elk\"}, {\"id\": 0.0, \"name\": \"owl\"}]")
    #expect(labels[0] == "owl" && labels[1] == "elk" && labels.rowCount == 2)
    #expect(try LabelMap(parsing: "{\"elk\": 1.0, \"owl\": 0.0}")[0] == "owl")
    // In quotes, it is a name.
    #expect(try LabelMap(parsing: "{\"names\": {\"1.0\": 1, \"2.0\": 0}}")[0] == "2.0")
  }

  @Test(
    "lines of many cells are read in time that grows with their length", .timeLimit(.minutes(1)),
    arguments: [",", "id,", "no;"])
  func survivesManyCells(cell: String) throws {
    let text = String(repeating: cell, count: 200_000)
    // Names are shorter.
    #expect(throws: ApusError.self) { try LabelMap(parsing: text + "\nowl\n") }
  }

  @Test("a file's extension decides, and then its form must hold")
  func obeysExtensions() throws {
    try withTemporaryFolder { folder throws in
      func labels(_ name: String, _ text: String) throws -> LabelMap {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return try LabelMap(contentsOfFile: file.path)
      }
      #expect(try labels("a.yaml", "owl: 0\nelk: 1\n")[1] == "elk")
      #expect(try labels("a.csv", "name\nowl\nelk\n")[1] == "elk")
      #expect(try labels("a.csv", ",species\n0,owl\n1,elk\n")[1] == "elk")
      #expect(try labels("a.names", "0 owl\n1 elk\n")[1] == "1 elk")
      for (name, text) in [
        ("a.json", "owl\nelk\n"), ("a.yaml", "nc: 3\n"), ("a.yml", "names: coco.names\n"),
        ("a.csv", "image,label\na,owl\nb,owl\n"),
        ("a.csv", "a,b,c\n1,2,3\n"), ("a.pbtxt", "owl\nelk\n"),
      ] {
        let error = #expect(throws: ApusError.self) { try labels(name, text) }
        #expect(error?.code == .malformedLabels && error?.message.contains("line ") == true)
      }
    }
  }

  @Test(
    "files that are no labels are named",
    arguments: [
      ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 7\n", "Git LFS pointer"),
      ("<!DOCTYPE html>\n<html>\n", "HTML"), ("\u{8}\u{0}\u{0}\u{0}TFL3\u{0}", ".tflite"),
      ("PK\u{3}\u{4}\u{0}", "ZIP archive"),
    ])
  func namesOtherFiles(text: String, expected: String) throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "labels.txt")
      try Data(text.utf8).write(to: file)
      let error = #expect(throws: ApusError.self) { try LabelMap(contentsOfFile: file.path) }
      #expect(
        error?.code == .malformedLabels && error?.message.contains(expected) == true,
        "\(error?.message ?? "")")
    }
  }

  @Test("texts in quotes have the characters of their escapes")
  func resolvesEscapes() throws {
    #expect(try LabelMap(parsing: #"["caf\u00e9", "\ud83d\ude00", "a\tb\\", "\/"]"#)[0] == "café")
    #expect(try LabelMap(parsing: #"["caf\u00e9", "\ud83d\ude00", "a\tb\\", "\/"]"#)[1] == "😀")
    #expect(try LabelMap(parsing: #"["caf\u00e9", "\ud83d\ude00", "a\tb\\", "\/"]"#)[2] == "a\tb\\")
    #expect(try LabelMap(parsing: "names: ['it''s', \"x\\ty\", a:b]")[0] == "it's")
    // As protoc --encode reads them.
    let items =
      #"item { id: 0x0 name: "\303\251\x41\u00e9\U0001F600\?\"\n" } item { id: 010 name: 'b' } item { id: 1 name: 'o' 'wl' }"#
    let labels = try LabelMap(parsing: items)
    #expect(labels[0] == "éAé😀?\"\n" && labels[8] == "b" && labels[1] == "owl" && labels.rowCount == 9)
  }

  @Test(
    "a leading number is a row only if it can be one of the model",
    arguments: [
      ("20 DH\n50 DH\n", 2, ["20 DH", "50 DH"]),
      ("1 euro\n2 euro\n5 euro\n", 3, ["1 euro", "2 euro", "5 euro"]),
      ("5 plums\n10 pears\n15 figs\n", 3, ["5 plums", "10 pears", "15 figs"]),
      ("0 years\n1 years\n", 2, ["0 years", "1 years"]),
      ("0 - 2 years\n3 - 5 years\n", 2, ["0 - 2 years", "3 - 5 years"]),
      ("0 - 1\n1 - 2\n", 2, ["0 - 1", "1 - 2"]),
      ("(0-2)\n(4-6)\n", 2, ["(0-2)", "(4-6)"]), ("0,5 l\n1,5 l\n", 2, ["0,5 l", "1,5 l"]),
      ("10:30\n10:45\n", 2, ["10:30", "10:45"]),
      ("20: DH\n50: DH\n", 2, ["20: DH", "50: DH"]), ("0 owl\n1 elk\n", 2, ["owl", "elk"]),
      ("1 owl\n2 elk\n", 2, ["owl", "elk"]),
      ("1 elk\n0 owl\n", 2, ["owl", "elk"]), ("0 owl\n2 emu\n", 3, ["owl", nil, "emu"]),
      ("1 owl\n3 emu\n", 3, ["owl", nil, "emu"]),
      ("16 owl\n17 elk\n", 2, ["16 owl", "17 elk"]),
      ("3 men\n2 boats\n7 dogs\n", 9, ["3 men", "2 boats", "7 dogs"]),
    ])
  func judgesNumbers(text: String, classes: Int, expected: [String?]) throws {
    let labels = try LabelMap(parsing: text).aligned(toClassCount: classes)
    #expect(expected.indices.map { labels[$0] } == expected)
    // Asking again changes nothing, and a chosen offset stays.
    #expect(labels.aligned(toClassCount: classes) == labels)
    #expect(try LabelMap(parsing: text, offset: 7).aligned(toClassCount: 90).offset == 7)
  }

  @Test("an ordinal that belongs to a name stays there")
  func keepsOrdinals() throws {
    let labels = try LabelMap(parsing: "1. FC Union\n1. FC Kaiserslautern\nHSV\n")
    #expect(labels.name(inRow: 0) == "1. FC Union" && labels.rowCount == 3)
  }

  @Test("quotes, commas and brackets that belong to names stay there")
  func keepsQuotes() throws {
    for text in [
      "\"Weird Al\" Yankovic\nHSV\n", "'tis\nelk\n", "owl,\nelk\nemu\n", "Paris, France\nRome, Italy\n",
      "a = [b]\nf(x) = 'y'\n", "owl\n\"elk\"\n",
    ] {
      let labels = try LabelMap(parsing: text)
      let lines = text.split(separator: "\n").map(String.init)
      #expect(lines.indices.map { labels.name(inRow: $0) } == lines && labels.rowCount == lines.count)
    }
    // A blank line between names without commas is a row, as between names without quotes.
    #expect(try LabelMap(parsing: "'owl'\n\n'emu'\n").name(inRow: 2) == "emu")
    #expect(try LabelMap(parsing: #""caf\u00e9", "a, b", 'it\'s'"#).name(inRow: 0) == "café")
    #expect(try LabelMap(parsing: #""caf\u00e9", "a, b", 'it\'s'"#).name(inRow: 1) == "a, b")
    #expect(try LabelMap(parsing: #""caf\u00e9", "a, b", 'it\'s'"#).name(inRow: 2) == "it's")
    // As CSV writes quotes of names.
    #expect(try LabelMap(parsing: "'it''s',\n'so'\n").name(inRow: 0) == "it's")
  }

  @Test("a few equal names do not make numbers a part of names")
  func allowsAFewEqualNames() throws {
    let text = (0..<100).map { "\($0) name\($0 == 51 ? 17 : $0)" }.joined(separator: "\n")
    #expect(try LabelMap(parsing: text)[51] == "name17")
  }

  @Test("any bytes are labels or an error", arguments: 0..<8)
  func survivesMutants(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let samples = [
      "[\"a\", {\"id\": 1, \"name\": \"\\u00e9\"}]", "{\"names\": {\"0\": \"a\", \"1\": [\"b\", 'c']}}",
      "names:\n  0: a\n  1: 'b'\n",
      "names:\n- a\n- id: 1\n  name: b\n- [c]\n", "index,\"name\"\n0,\"a\"\"b\"\n1,c\n",
      "nc: 1\nnames: {0: a, \"1\": b c}\n",
    ]
    for _ in 0..<2_000 {
      var bytes = Array(samples.randomElement(using: &random)!.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.insert(Array("{}[]:'\"\\#,;-\n 09a".utf8).randomElement(using: &random)!, at: at)
        default: bytes.removeSubrange(at..<min(bytes.count, at + 3))
        }
        if bytes.isEmpty { bytes = [0x41] }
      }
      for format in LabelMap.Format.allCases {
        do throws(ApusError) {
          let labels = try LabelMap(parsing: bytes, format: format)
          #expect(labels.rowCount > 0 && labels.aligned(toClassCount: 2).rowCount > 0)
        } catch {
          #expect(error.code == .malformedLabels)
        }
      }
    }
  }
}
