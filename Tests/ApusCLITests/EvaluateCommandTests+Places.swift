// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Which file, truth and answer belong together, and what a picture's orientation does to that.
extension EvaluateCommandTests {
  @Test("a list's file that is missing is named with the place where it was looked for")
  func saysPlaces() throws {
    try withFiles { folder in
      try FileManager.default.createDirectory(
        at: folder.appending(path: "lists"), withIntermediateDirectories: true)
      let command = "evaluate lists/l.csv --model classifier.tflite --task classify"
      try write("set/0/0.png,0\nset/1/1.png,1\n", to: "lists/l.csv", in: folder)
      let other = try apus(command, in: folder)
      #expect(
        other.status == 1 && other.errors.contains("but the current folder has all of them"), "\(other)")
      try write("set/0/0.png,0\nnone.png,1\n", to: "lists/l.csv", in: folder)
      let missing = try apus(command, in: folder)
      #expect(missing.status == 2 && missing.errors.contains("it would be 'lists/none.png'"), "\(missing)")
      try write("set/0/0.png,0\nset/1/1.png,1\n", to: "lists/l.csv", in: folder)
      let options = "--model classifier.tflite --task classify"
      let piped = try shell("cat lists/l.csv | $APUS evaluate - \(options) | grep -q '2 files'", in: folder)
      #expect(piped.status == 0, "\(piped)")
      let substituted = try shell(
        "bash -c \"$APUS evaluate <(cat lists/l.csv) \(options)\" | grep -q '2 files'", in: folder)
      #expect(substituted.status == 0, "\(substituted)")
    }
  }

  @Test("names that are equal belong together before parts of them do")
  func matchesNames() throws {
    try withFiles { folder in
      for name in ["data/train/a.png", "data/val/a.png"] { try copy("picture.png", to: name, in: folder) }
      try write(
        """
        {"images": [{"id": 1, "file_name": "val/a.png"}], "annotations": [],
         "categories": [{"id": 1, "name": "circle"}]}
        """, to: "truth.json", in: folder)
      let command = "evaluate data --truth truth.json --model classifier.tflite --task detect"
      #expect(try apus(command, in: folder).errors.contains("the picture 'train/a.png' has no image"))
      // The classifier is no detector: names are compared before that.
      let common = try apus(command + " --common", in: folder)
      #expect(common.errors.contains("not those of a detector"), "\(common)")
      #expect(
        try apus("segment picture.png --model segmenter.tflite --output mask.png", in: folder).status == 0)
      for name in ["two/a.png", "two/a.jpg"] { try copy("picture.png", to: name, in: folder) }
      try copy("mask.png", to: "masks/a.png", in: folder)
      let two = try apus(
        "evaluate two --truth masks --model segmenter.tflite --task segment --common", in: folder)
      #expect(
        two.status == 1
          && two.errors.contains("'two/a.jpg' and 'two/a.png' are both pictures of 'masks/a.png'"), "\(two)")
    }
  }

  @Test("orientations that turn a picture away from its truth are said", arguments: [(3, 0), (6, 2)])
  func saysOrientations(orientation: UInt8, status: Int32) throws {
    try withFiles { folder in
      #expect(
        try apus("segment picture.png --model segmenter.tflite --output mask.png", in: folder).status == 0)
      try copy("mask.png", to: "masks/a.png", in: folder)
      var picture = Array(try Data(contentsOf: folder.appending(path: "picture.png")))
      let exif: [UInt8] = [
        0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
      ]
      let chunk = Array("eXIf".utf8) + exif
      // Behind the signature and the header.
      picture.insert(
        contentsOf: [0, 0, 0, UInt8(exif.count)] + chunk
          + withUnsafeBytes(of: chunk.crc32.bigEndian, Array.init), at: 33)
      try FileManager.default.createDirectory(
        at: folder.appending(path: "pictures"), withIntermediateDirectories: true)
      try Data(picture).write(to: folder.appending(path: "pictures/a.png"))
      let answer = try apus(
        "evaluate pictures --truth masks --model segmenter.tflite --task segment", in: folder)
      #expect(answer.status == status && answer.errors.contains("(EXIF \(orientation))"), "\(answer)")
    }
  }

  @Test("an answer that is kept is of one file and mask, not of others with equal names, sizes and times")
  func resumesPlaces() throws {
    try withFiles { folder in
      try copy("picture.png", to: "pictures/a.png", in: folder)
      #expect(
        try apus("segment picture.png --model segmenter.tflite --output mask.npy", in: folder).status == 0)
      var mask = try Data(contentsOf: folder.appending(path: "mask.npy"))
      for name in ["own", "other"] {
        let file = folder.appending(path: "\(name)/a.npy")
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try mask.write(to: file)
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: file.path)
        for index in mask.indices.suffix(mask.count / 4) { mask[index] = mask[index] == 0 ? 1 : 0 }
      }
      let command = "evaluate pictures --model segmenter.tflite --task segment --resume done.jsonl"
      for path in ["own", "./own/", folder.appending(path: "own").path] {
        #expect(try report(command + " --truth \(path)", in: folder)["miou"] as? Double == 1)
      }
      let kept = try String(contentsOf: folder.appending(path: "done.jsonl"), encoding: .utf8)
      #expect(kept.split(separator: "\n").count == 2)
      #expect(try report(command + " --truth other", in: folder)["miou"] as? Double != 1)
    }
  }
}
