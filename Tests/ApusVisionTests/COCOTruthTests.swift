// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Foundation
import Testing

/// Truths in COCO's format: what is read, and what is refused.
@Suite struct COCOTruthTests {
  private func truth(
    images: String = #"{"id": 7, "file_name": "a.jpg", "width": 640, "height": 480}"#,
    categories: String = #"{"id": 1, "name": "person"}, {"id": 18, "name": "dog"}"#,
    annotations: String =
      #"{"id": 3, "image_id": 7, "category_id": 18, "bbox": [1, 2.5, 3e1, 4], "area": 99.5}"#
  ) -> String {
    #"{"info": {"year": 2017}, "images": [\#(images)], "annotations": [\#(annotations)], "categories": [\#(categories)]}"#
  }

  private func parse(_ text: String) throws(ApusError) -> COCOTruth {
    try COCOTruth(parsing: Array(text.utf8))
  }

  private func message(_ text: String) -> String {
    do throws(ApusError) {
      _ = try parse(text)
      return ""
    } catch {
      #expect(error.code == .invalidData)
      return error.message
    }
  }

  @Test("pictures, categories and boxes are read, in the file's order")
  func reads() throws {
    let found = try parse(
      truth(
        images:
          #"{"file_name": "b\u00e9\ud83d\ude00\/\"x.jpg", "id": 8}, {"id": 7, "file_name": "a.jpg", "height": 480, "width": 640, "x": [[{}], null]}"#,
        annotations: """
          {"segmentation": [[1, 2, 3]], "id": 5, "image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 3]},
          {"segmentation": {"counts": [1, 2], "size": [4, 5]}, "id": 4, "image_id": 7, "category_id": 18, "iscrowd": 1, "area": 4,
           "bbox": [-1.5, 2, 3, 4], "note": NaN, "others": [Infinity, -Infinity]}
          """))
    #expect(found.images.map(\.id) == [8, 7])
    #expect(found.images[0].fileName == "bé😀/\"x.jpg" && found.images[0].width == nil)
    #expect(found.images[1].width == 640 && found.images[1].height == 480)
    #expect(found.categories.map(\.name) == ["person", "dog"])
    #expect(found.truthCount == 2 && !found.hasObjectZero)
    let objects = found.truths(ofImage: 7)
    #expect(objects.map(\.id) == [5, 4] && objects.map(\.isCrowd) == [false, true])
    // Without an area, that of the box counts.
    #expect(objects.map(\.area) == [6, 4])
    #expect(objects[1].box == .init(x: -1.5, y: 2, width: 3, height: 4))
    #expect(found.truths(ofImage: 8).isEmpty)
  }

  @Test("boxes as corners or fractions are doubted, as far as pictures have sizes")
  func doubtsBoxes() throws {
    for (box, word) in [
      ("[300, 200, 600, 400]", "corners"), ("[0.1, 0.2, 0.3, 0.4]", "fractions"), ("[600, 400, 40, 80]", nil),
    ] as [(String, String?)] {
      let annotation = #"{"id": 3, "image_id": 7, "category_id": 18, "bbox": \#(box)}"#
      let found = try parse(truth(annotations: annotation)).boxWarning
      #expect(found?.contains(word ?? "") ?? (word == nil), "\(box): \(found ?? "")")
      #expect((found == nil) == (word == nil))
      // 0 and −1 stand for sizes that are not known.
      let image = #"{"id": 7, "file_name": "a.jpg", "width": 0, "height": -1}"#
      let unknown = try parse(truth(images: image, annotations: annotation))
      #expect(unknown.boxWarning == nil && unknown.images[0].width == nil && unknown.images[0].height == nil)
      #expect(unknown.usedCategories == [18])
    }
  }

  @Test("of categories with one name, the one with objects counts")
  func leavesOutNamesakes() throws {
    for categories in [
      #"{"id": 0, "name": "dog"}, {"id": 1, "name": "cat"}, {"id": 18, "name": "dog"}"#,
      #"{"id": 1, "name": "cat"}, {"id": 18, "name": "dog"}, {"id": 0, "name": "dog"}"#,
    ] {
      #expect(try parse(truth(categories: categories)).categories.map(\.id) == [1, 18])
    }
    let unused = #"{"id": 18, "name": "dog"}, {"id": 1, "name": "cat"}, {"id": 2, "name": "cat"}"#
    #expect(try parse(truth(categories: unused)).categories.map(\.id) == [18, 1])
  }

  @Test("objects of pictures that are not listed are left out")
  func leavesOutStrays() throws {
    let object = #"{"id": 3, "image_id": 7, "category_id": 18, "bbox": [1, 2, 3, 4]}"#
    let found = try parse(
      truth(annotations: object + "," + object.replacing("3,", with: "0,").replacing("7", with: "9")))
    #expect(found.truthCount == 1 && found.truths(ofImage: 7).map(\.id) == [3] && !found.hasObjectZero)
    #expect(found.truths(ofImage: 9).isEmpty && found.strayCount == 1)
  }

  @Test("what contradicts itself names its place")
  func refusesContradictions() {
    #expect(
      message(truth(images: #"{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}"#)).contains(
        "the images 0 and 1"))
    #expect(
      message(truth(images: #"{"id": 7, "file_name": "a"}, {"id": 8, "file_name": "a"}"#)).contains(
        "are both 'a'"))
    #expect(
      message(truth(categories: #"{"id": 18, "name": "a"}, {"id": 18, "name": "b"}"#)).contains(
        "the categories 0 and 1"))
    let object = #"{"id": 3, "image_id": 7, "category_id": 18, "bbox": [1, 2, 3, 4]}"#
    #expect(message(truth(annotations: object + "," + object)).contains("the annotations 0 and 1"))
    #expect(
      message(
        truth(
          categories: #"{"id": 18, "name": "a"}, {"id": 2, "name": "a"}"#,
          annotations: object + "," + object.replacing("18", with: "2").replacing("3,", with: "4,")
        )
      ).contains("the categories 0 and 1 (counted from 0) are both 'a', and both have objects"))
    #expect(message(truth(annotations: object.replacing("18", with: "2"))).contains("has the category 2"))
  }

  @Test(
    "values of another kind name their place",
    arguments: [
      (#""bbox": [1, 2, 3]"#, "the bbox has 3 numbers"),
      (#""bbox": [1, 2, 3, 4, 5]"#, "more than four numbers"),
      (#""bbox": [1, 2, -3, 4]"#, "a negative size"),
      (#""bbox": [1, 2, NaN, 4]"#, "a number was expected, not 'N'"),
      (#""bbox": [1, 2, 1e999, 4]"#, "'1e999' is not a finite number"),
      (#""bbox": null"#, "a list was expected"),
      (#""bbox": {"x": 1}"#, "a list was expected, not an object"), (#""area": 5"#, "there is no 'bbox'"),
      (#""bbox": [1, 2, 3, 4], "image_id": 1.5"#, "a whole number was expected, not 1.5"),
      (#""bbox": [1, 2, 3, 4], "image_id": "7""#, "a number was expected, not a text"),
      (#""bbox": [1, 2, 3, 4], "image_id": 1e300"#, "a whole number was expected"),
    ])
  func refusesOtherValues(member: String, expected: String) {
    let text = message(truth(annotations: #"{"id": 3, "image_id": 7, "category_id": 18, \#(member)}"#))
    #expect(text.hasPrefix("annotations[0], byte ") && text.contains(expected), "\(text)")
  }

  @Test("files of another kind are refused")
  func refusesOtherFiles() {
    #expect(message("").contains("an object was expected, but the file ends"))
    #expect(
      message(#"[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]"#).contains(
        "COCO's results"))
    #expect(message("{}").contains("there is no 'images'"))
    #expect(message(#"{"images": [], "annotations": []}"#).contains("there is no 'categories'"))
    #expect(message(truth() + "x").contains("more text after the end"))
    #expect(message(#"{"images": {}}"#).contains("a list was expected, not an object"))
    #expect(message(#"{"info": "# + String(repeating: "[", count: 100_000)).contains("nested too deeply"))
    #expect(
      message(#"{"images": ["# + String(repeating: "[", count: 100_000)).contains("an object was expected"))
    #expect(message("\u{FFFD}PNG").contains("an object was expected"))
  }

  @Test("a file that ends anywhere is an error")
  func refusesEveryBeginning() throws {
    let bytes = Array(truth().utf8)
    for count in bytes.indices {
      #expect(throws: ApusError.self) { try COCOTruth(parsing: Array(bytes[..<count])) }
    }
    _ = try COCOTruth(parsing: [0xEF, 0xBB, 0xBF] + bytes + [0x0A])
  }

  @Test("any byte changed gives a truth or an error")
  func survivesChanges() {
    let bytes = Array(truth().utf8)
    for place in bytes.indices {
      for byte: UInt8 in [0, 0x22, 0x5C, 0x5B, 0x7D, 0x2D, 0x65, 0xFF] {
        var changed = bytes
        changed[place] = byte
        _ = try? COCOTruth(parsing: changed)
      }
    }
  }
}
