// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The commands of the tasks: the form of their answers, and where these go. What they find is tested with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct TaskCommandTests {
  /// A folder with `picture.png` of 640 × 480 pixels and, for each task, `<task>.tflite`.
  private func withFiles(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      #expect(try apus("detect --annotate picture.png", in: folder).status == 0)
      for (task, name) in [
        ("classifier", "labels in the model"), ("embedder", "one embedding"), ("faces", "short range, 64x64"),
        ("segmenter", "scores, 8x8"), ("keypoints", "MoveNet, 32x32"),
      ] {
        try TaskModel.write(task, name, to: folder.appending(path: "\(task).tflite"))
      }
      try body(folder)
    }
  }

  /// Whether a command says nothing but that the small map of the segmenter is taken for scores, a guess.
  private func isSilent(_ errors: String) -> Bool {
    errors.split(separator: "\n").allSatisfy { $0.contains("taken for scores of classes, which is a guess") }
  }

  /// The keys of the only JSON object that a command prints.
  private func keys(_ arguments: String, in folder: URL) throws -> Set<String> {
    let answer = try apus(arguments, in: folder)
    #expect(answer.status == 0 && isSilent(answer.errors), "\(arguments): \(answer.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
    return try Set(#require(object as? [String: Any]).keys)
  }

  @Test("one JSON object a picture, in the form of the contract")
  func printsJSON() throws {
    try withFiles { folder throws in
      for (arguments, expected) in [
        ("classify picture.png --model classifier.tflite", ["image", "classes", "milliseconds"]),
        (
          "classify picture.png --model classifier.tflite --decide 0.9",
          ["image", "classes", "decision", "milliseconds"]
        ),
        ("embed picture.png --model embedder.tflite", ["image", "embeddings", "milliseconds"]),
        ("compare picture.png picture.png --model embedder.tflite", ["euclidean", "cosine"]),
        ("faces picture.png --model faces.tflite", ["image", "faces", "milliseconds"]),
        ("segment picture.png --model segmenter.tflite", ["image", "classes", "milliseconds"]),
        ("keypoints picture.png --model keypoints.tflite", ["image", "poses", "milliseconds"]),
      ] as [(String, Set<String>)] {
        #expect(try keys(arguments + " --json", in: folder) == expected, "\(arguments)")
        // People get lines, of whatever form.
        if !arguments.hasPrefix("embed") { #expect(try apus(arguments, in: folder).status == 0) }
      }
    }
  }

  @Test(
    "an embedding of zeros has no direction: it is neither compared nor enrolled",
    arguments: [
      "compare picture.png picture.png --model origin.tflite --json",
      "gallery add Ada picture.png --gallery people.gallery --model origin.tflite",
    ])
  func refusesZeros(command: String) throws {
    try withFiles { folder throws in
      try TaskModel.write("embedder", "the origin", to: folder.appending(path: "origin.tflite"))
      let refused = try apus(command, in: folder)
      #expect(refused.status == 2)
      #expect(refused.errors.contains("error: picture.png: every coordinate of"), "\(refused.errors)")
      #expect(!refused.output.contains("cosine") && !refused.output.contains("1 added"))
    }
  }

  @Test(
    "what a task assumes can be asked for",
    arguments: [
      ("classifier", "classify"), ("embedder", "embed"), ("faces", "faces"), ("segmenter", "segment"),
      ("keypoints", "keypoints"),
    ])
  func inspects(task: String, command: String) throws {
    try withFiles { folder throws in
      let found = try keys("inspect \(task).tflite --as \(task) --json", in: folder)
      #expect(found.isSuperset(of: ["task", "kind", "reason", "input", "outputs", "steps", "warnings"]))
      #expect(
        try apus("inspect \(task).tflite --as \(task)", in: folder).output.contains("value of a pixel v"))
      #expect(
        try apus("inspect \(task).tflite --as \(command)", in: folder).output
          == apus("inspect \(task).tflite --as \(task)", in: folder).output)
      #expect(try apus("inspect classifier.tflite --as faces", in: folder).status == 1)
    }
  }

  @Test("files are written where they are asked for")
  func writesFiles() throws {
    try withFiles { folder throws in
      func size(_ name: String) throws -> Int { try Data(contentsOf: folder.appending(path: name)).count }
      #expect(
        try apus("segment picture.png --model segmenter.tflite --output mask.npy", in: folder).status == 0)
      // NumPy's header takes 128 bytes.
      #expect(try size("mask.npy") == 128 + 640 * 480)
      #expect(
        try apus(
          "segment picture.png picture.png --model segmenter.tflite --output-dir masks --annotate-dir drawn",
          in: folder
        ).status == 0)
      for name in ["masks/picture.png", "masks/picture.png.png", "drawn/picture.png"] {
        #expect(try size(name) > 0)
      }
      #expect(try apus("embed picture.png --model embedder.tflite --output e.npy", in: folder).status == 0)
      #expect(try size("e.npy") == 128 + 16 * 4)
      #expect(
        try apus("faces picture.png --model faces.tflite --align-dir faces --annotate f.png", in: folder)
          .status == 0)
      for name in ["faces/picture-0.png", "f.png"] { #expect(try size(name) > 0) }
      #expect(
        try apus("keypoints picture.png --model keypoints.tflite --annotate k.png", in: folder).status == 0)
      #expect(try size("k.png") > 0)
      #expect(
        try apus("classify picture.png --model classifier.tflite --annotate c.png", in: folder).status == 0)
      #expect(try size("c.png") > 0)
    }
  }

  @Test("of pictures that are read at a smaller scale, masks are those of the whole picture")
  func reduces() throws {
    try withFiles { folder throws in
      #expect(try apus("detect --annotate picture.jpg", in: folder).status == 0)
      func file(_ arguments: String, _ name: String) throws -> Data {
        let answer = try apus(arguments, in: folder)
        #expect(answer.status == 0 && isSilent(answer.errors), "\(arguments): \(answer.errors)")
        return try Data(contentsOf: folder.appending(path: name))
      }
      // A mask has the size of the whole picture.
      let mask = try file("segment picture.jpg --model segmenter.tflite --output m.npy --reduced", "m.npy")
      #expect(mask.count == 128 + 640 * 480)
    }
  }

  @Test("a picture is filtered by a chain; what is no chain is told with status 64")
  func filters() throws {
    try withFiles { folder throws in
      let chain = "prewitt:0.7,closing:1,invert,gaussian:1,erosion:1"
      let answer = try apus("filter picture.png out.ppm --chain \(chain)", in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty)
      #expect(answer.output == "picture.png, 640 × 480 pixels, filtered → out.ppm\n")
      let written = try Data(contentsOf: folder.appending(path: "out.ppm"))
      #expect(written.count == "P6\n640 480\n255\n".utf8.count + 640 * 480 * 3)
      for (arguments, status, message) in [
        ("picture.png out.ppm --chain sharpen", 64, "--chain: the filter 'sharpen' is not prewitt"),
        ("picture.png out.ppm --chain erosion:0.5", 64, "--chain: the filter 'erosion:0.5' is not"),
        ("picture.png out.ppm", 64, "Missing expected argument '--chain <chain>'"),
        ("picture.png out.gif --chain invert", 64, "out.gif is not a .png, .jpg or .ppm file"),
        ("picture.png out.ppm --chain erosion --time-limit 1e-9", 2, "picture.png: filtering takes longer"),
        ("nowhere.png out.ppm --chain invert", 2, "nowhere.png: No such file or directory"),
        ("picture.png nowhere/out.ppm --chain invert", 1, "cannot write the file 'nowhere/out.ppm'"),
      ] as [(String, Int32, String)] {
        let answer = try apus("filter \(arguments)", in: folder)
        #expect(answer.status == status && answer.output.isEmpty, "\(arguments)")
        #expect(answer.errors.hasPrefix("error: \(message)"), "\(arguments): \(answer.errors)")
      }
    }
  }

  @Test("a gallery is refused with another model than its own")
  func refusesGalleriesOfOtherModels() throws {
    try withFiles { folder throws in
      #expect(
        try apus("gallery add Ada picture.png --gallery g --model embedder.tflite", in: folder).status == 0)
      let before = try Data(contentsOf: folder.appending(path: "g"))
      // The classifier's answer is a row of numbers, too; the other embedder's has as many as the gallery's.
      var other = try Data(contentsOf: folder.appending(path: "embedder.tflite"))
      other.append(0)
      try other.write(to: folder.appending(path: "other.tflite"))
      for (model, message) in [
        ("classifier", "coordinates, but the model gives"), ("other", "a model whose SHA-256 begins with"),
      ] {
        for command in ["find picture.png --json", "find picture.png", "add Ada picture.png"] {
          let answer = try apus("gallery \(command) --gallery g --model \(model).tflite", in: folder)
          #expect(answer.status == 1 && answer.output.isEmpty, "\(answer)")
          #expect(answer.errors.contains(message) && answer.errors.split(separator: "\n").count == 1)
        }
      }
      #expect(try Data(contentsOf: folder.appending(path: "g")) == before)
      let own = try apus("gallery find picture.png --gallery g --model embedder.tflite", in: folder)
      #expect(own.status == 0 && own.errors.isEmpty && own.output.contains("Ada"))
    }
  }

  @Test("names are learned and found again")
  func keepsGalleries() throws {
    try withFiles { folder throws in
      let models = "--gallery people.gallery --model embedder.tflite"
      #expect(
        try apus("gallery add Ada picture.png \(models)", in: folder).output == "Ada: 1 added, 1 in all\n")
      #expect(try apus("gallery list --gallery people.gallery", in: folder).output.contains("Ada"))
      #expect(try keys("gallery find picture.png \(models) --json", in: folder) == ["image", "matches"])
      let found = try apus("gallery find picture.png \(models) --distance 0.1 --json", in: folder)
      #expect(found.output.contains(#"{"box":null,"distance":0,"name":"Ada"}"#))
      #expect(try apus("gallery find picture.png \(models) --annotate named.ppm", in: folder).status == 0)
      let other = try apus("gallery find picture.png \(models) --channels bgr", in: folder)
      #expect(
        other.status == 0 && other.errors.contains("channels rgb") && other.errors.contains("channels bgr"))
      // The frame around the whole picture has the color of the name: FNV-1a of "Ada", halved, is 17 modulo 20.
      let named = try Data(contentsOf: folder.appending(path: "named.ppm"))
      #expect(named.suffix(3) == Data([0xFF, 0xD8, 0xB1]))
      let two = "gallery find picture.png picture.png \(models)"
      #expect(try apus("\(two) --annotate named.png", in: folder).status == 64)
      #expect(try apus("\(two) --annotate-dir named", in: folder).status == 0)
      for name in ["picture.png", "picture.png.png"] {
        #expect(try !Data(contentsOf: folder.appending(path: "named/\(name)")).isEmpty)
      }
      #expect(try apus("gallery remove Ada --gallery people.gallery", in: folder).status == 0)
      #expect(try apus("gallery remove Ada --gallery people.gallery", in: folder).status == 1)
      #expect(try apus("gallery find picture.png \(models) --json", in: folder).output.contains("unknown"))
      try Data("nothing".utf8).write(to: folder.appending(path: "people.gallery"))
      let damaged = try apus("gallery list --gallery people.gallery", in: folder)
      #expect(damaged.status == 1 && damaged.errors.hasPrefix("error: the gallery 'people.gallery': "))
    }
  }

  @Test("pictures are enrolled several at once, in their order, each with its line of JSON")
  func enrollsInOrder() throws {
    try withFiles { folder in
      try Data("no picture".utf8).write(to: folder.appending(path: "broken.png"))
      let models = "--model embedder.tflite"
      let pictures = "picture.png broken.png picture.png"
      let lines = try apus("gallery add Ada \(pictures) --gallery g \(models) --json --jobs 3", in: folder)
      #expect(lines.status == 2 && lines.errors.hasPrefix("error: broken.png: "))
      let found = lines.output.split(separator: "\n")
      try #require(found.count == 3)
      #expect(found[0].contains(#""matches":[{"box":null,"distance":null,"name":"Ada"}]"#))
      #expect(found[1].contains(#""error":""#) && found[1].contains("broken.png"))
      let text = try apus("gallery add Ada \(pictures) --gallery other \(models) --jobs 1", in: folder)
      #expect(text.status == 2 && text.output == "Ada: 2 added, 2 in all\n")
      #expect(
        try Data(contentsOf: folder.appending(path: "g"))
          == Data(contentsOf: folder.appending(path: "other")))
      // Ada is one name, however many pictures she has.
      let names = try apus("gallery find picture.png --gallery g \(models) --k 3", in: folder)
      #expect(names.output.contains(": Ada (0.000)\n"), "\(names.output)")
    }
  }

  @Test("what is suspicious about a model is said by every command that uses it, once")
  func warnsEverywhere() throws {
    try withFiles { folder in
      try Data("a\nb\n".utf8).write(to: folder.appending(path: "two.txt"))
      let labels = "there are 2 labels for"
      let pixels = "picture.png --model embedder.tflite --pixels 0.5:0.5"
      for (arguments, warning) in [
        ("generate classifier.tflite --labels two.txt", labels),
        ("inspect classifier.tflite --labels two.txt", labels),
        ("watch test:testsrc2:64x48:1 --task classify --model classifier.tflite --labels two.txt", labels),
        ("compare picture.png \(pixels)", "warning: "),
        ("gallery add Ada \(pixels) --gallery g", "warning: "),
        ("gallery find \(pixels) --gallery g", "warning: "),
        ("classify picture.png --model classifier.tflite --locale xx", "the model has no names in 'xx'"),
        (
          "classify picture.png --model classifier.tflite --labels two.txt --locale de",
          "--locale de changes nothing: names that are given have no language"
        ),
        ("detect picture.png --locale xx", "--locale xx changes nothing"),
        ("segment picture.png --model segmenter.tflite --scores byte", "--scores changes nothing"),
      ] {
        // Without ffmpeg, nothing is watched.
        if arguments.hasPrefix("watch"), !FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") {
          continue
        }
        let answer = try apus(arguments, in: folder)
        #expect(answer.status == 0, "\(arguments): \(answer.errors)")
        #expect(answer.errors.components(separatedBy: warning).count == 2, "\(arguments): \(answer.errors)")
      }
    }
  }

  @Test(
    "a file that cannot be written is told before pictures are looked at",
    arguments: [
      "gallery add somebody no.png --gallery no/people.gallery --model embedder.tflite",
      "embed no.png --model embedder.tflite --output no/rows.npy",
    ])
  func outputIsCheckedFirst(arguments: String) throws {
    try withFiles { folder in
      let answer = try apus(arguments, in: folder)
      #expect(answer.status == 1 && answer.output.isEmpty)
      let lines = answer.errors.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].hasPrefix("error: cannot write the file 'no/"), "\(answer.errors)")
    }
  }

  @Test("a result never replaces a model, and endings are read in any case of letters")
  func keepsModels() throws {
    try withFiles { folder in
      let model = folder.appending(path: "m.npy")
      try FileManager.default.copyItem(at: folder.appending(path: "embedder.tflite"), to: model)
      let before = try Data(contentsOf: model)
      let answer = try apus("embed picture.png --model m.npy --output m.npy", in: folder)
      #expect(
        answer.status == 1 && answer.errors.hasPrefix("error: 'm.npy' is a .tflite model"), "\(answer.errors)"
      )
      #expect(try Data(contentsOf: model) == before)
      #expect(try apus("embed picture.png --model m.npy --output m.txt", in: folder).status == 64)
      #expect(try apus("segment picture.png --model segmenter.tflite --output M.PNG", in: folder).status == 0)
      #expect(try Data(contentsOf: folder.appending(path: "M.PNG")).starts(with: [0x89, 0x50]))
      let shades = try apus("filter picture.png shades.pgm --chain invert", in: folder)
      #expect(
        shades.status == 1 && shades.errors.contains("write the picture to a .ppm file"), "\(shades.errors)")
    }
  }

  @Test(
    "a pose is among watch's detections from --score-threshold on, also that of a model that always reports one",
    arguments: [("0.3", true), ("0.5", true), ("0.51", false), ("1", false)])
  func watchesPoses(threshold: String, isFound: Bool) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") else { return }
    try withTemporaryFolder { folder in
      let values = (0..<51).map { (index: Int) -> Float in index % 3 == 2 ? 0.5 : Float(10 + index) / 100 }
      try Data(constantModel(side: 32, [([1, 1, 17, 3], values)])).write(
        to: folder.appending(path: "movenet.tflite"))
      let answer = try apus(
        """
        watch test:testsrc2:64x48:0.5 --task keypoints --model movenet.tflite --score-threshold \(threshold) --json \
        --zone all:0,0,1,0,1,1,0,1
        """, in: folder)
      #expect(answer.status == 0 && answer.output.contains("\"label\":\"pose\"") == isFound, "\(answer)")
      #expect(answer.output.contains("\"entries\":1") == isFound, "\(answer.output.suffix(300))")
      let printed = try apus("keypoints --help", in: folder)
      #expect(printed.output.contains("MoveNet's single pose is"))
    }
  }

  @Test("a mask and a picture with the mask are two files")
  func outputsAreApart() throws {
    try withFiles { folder in
      for options in ["--output out.png --annotate ./out.png", "--output-dir out --annotate-dir out/"] {
        let answer = try apus("segment picture.png --model segmenter.tflite \(options)", in: folder)
        #expect(answer.status == 64 && answer.errors.contains("choose two places"), "\(answer.errors)")
      }
    }
  }

  @Test("a classifier that is taken for a detector is named")
  func namesTheTask() throws {
    try withFiles { folder throws in
      let answer = try apus("detect picture.png --model classifier.tflite", in: folder)
      #expect(answer.status == 1 && answer.output.isEmpty)
      #expect(answer.errors.contains("such rows are the outputs of a classifier or an embedder"))
    }
  }

  @Test("usage that cannot be is told with status 64")
  func refusesUsage() throws {
    try withFiles { folder throws in
      for (arguments, message) in [
        ("classify picture.png", "Missing expected argument '--model <model>'"),
        ("classify --model classifier.tflite", "no picture is given"),
        ("embed picture.png --model embedder.tflite", "--output or --json is needed"),
        ("compare picture.png --model embedder.tflite", "two pictures are compared, not 1"),
        (
          "segment picture.png --model segmenter.tflite --output mask.jpg",
          "--output mask.jpg is not a .png or .npy file"
        ),
        (
          "segment picture.png picture.png --model segmenter.tflite --output m.png",
          "--output takes one picture, not 2"
        ),
        ("gallery find picture.png --gallery g --model embedder.tflite --k 0", "--k is 0, not 1 or more"),
        (
          "gallery find picture.png --gallery g --hands h.task --resampling area",
          "--resampling says how an embedder reads pictures: --hands excludes it"
        ),
        (
          "faces picture.png --model faces.tflite --align-size 64",
          "--align-size is for faces: --align-dir is missing"
        ),
      ] {
        let answer = try apus(arguments, in: folder)
        #expect(answer.status == 64 && answer.output.isEmpty, "\(arguments)")
        #expect(answer.errors.hasPrefix("error: \(message)"), "\(arguments): \(answer.errors)")
      }
    }
  }
}
