// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials
import Synchronization

/// `apus gallery`: names by example.
struct GalleryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gallery", abstract: "Learns names by example, and finds them again.",
    discussion: """
      For example:
        apus gallery add Grace grace1.jpg grace2.jpg --gallery people.gallery \\
          --model facenet.tflite --faces blazeface.tflite
        apus gallery find party.jpg --gallery people.gallery --distance 0.9 \\
          --model facenet.tflite --faces blazeface.tflite --annotate named.png
        apus gallery add victory v1.jpg v2.jpg --gallery signs.gallery \\
          --hands hand_landmarker.task
      """,
    subcommands: [Add.self, Remove.self, List.self, Find.self])
}

/// The file of a gallery.
struct GalleryFile: ParsableArguments {
  @Option(name: .long, help: "The file of the gallery.")
  var gallery: String

  /// The gallery, empty if there is no file yet and that is allowed.
  func read(isNewAllowed: Bool = false) throws -> EmbeddingGallery {
    if isNewAllowed, !FileManager.default.fileExists(atPath: gallery) { return EmbeddingGallery() }
    return try EmbeddingGallery(contentsOfFile: gallery)
  }

  /// Changes the gallery as it is now: another command may have changed it since it was read. Commands that change galleries of one
  /// folder wait for each other.
  func update(
    isNewAllowed: Bool = false, _ change: (inout EmbeddingGallery) throws -> Void
  ) throws -> EmbeddingGallery {
    let lock = try FolderLock(ofFile: gallery)
    defer { withExtendedLifetime(lock) {} }
    var contents = try read(isNewAllowed: isNewAllowed)
    try change(&contents)
    try writeWholeFile(contents.bytes, to: gallery)
    return contents
  }
}

/// The models that turn pictures into the embeddings of a gallery.
struct GalleryModels: ParsableArguments {
  @Option(name: .long, help: "The .tflite embedder.")
  var model: String?

  @Option(
    name: .long,
    help:
      "A .tflite face detector: faces are found, aligned, then embedded. Each model may take half of --memory-limit."
  )
  var faces: String?

  @Option(
    name: .long,
    help:
      "Instead of --model: the .task bundle of a hand landmarker. The names are those of gestures of hands.")
  var hands: String?

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    guard hands != nil else {
      if model == nil { throw ValidationError("a model is missing: --model, or --hands for gestures") }
      if faces != nil, input.reduced {
        throw ValidationError("--reduced is for whole pictures: --faces excludes it")
      }
      return
    }
    if model != nil { throw ValidationError("--hands excludes --model") }
    if faces != nil { throw ValidationError("--hands excludes --faces") }
    if let given = input.givenForModel ?? (input.reduced ? "--reduced" : nil) {
      throw ValidationError("\(given) says how an embedder reads pictures: --hands excludes it")
    }
  }

  /// The subject of a name in messages: a hand or a face.
  var subject: String { hands != nil ? "hand" : "face" }

  /// The faces or hands of a picture, or itself, the surest first, and the time that finding them took.
  struct Findings: Sendable {
    let embeddings: [(embedding: Embedding, box: PixelRect?)]
    let timings: StageTimings
  }

  /// Finds what there is in a picture: its faces, or itself.
  struct Finder {
    /// How pictures become embeddings, the model included.
    let preparation: String
    /// The number of coordinates of an embedding.
    let dimension: Int
    /// How far files may be reduced while they are read.
    var reduction = ImageReduction.none
    /// Warnings about the models.
    let warnings: TaskWarnings
    /// Whether the next picture may decide how faces or hands are found in all later ones.
    let isUndecided: @Sendable () -> Bool
    let find: @Sendable (ImageBuffer) throws(ApusError) -> Findings

    /// Warns if the embeddings of a gallery were made in another way.
    ///
    /// - Throws: `invalidArgument` if another model made them, as far as the gallery says: distances between them mean nothing.
    func check(_ gallery: EmbeddingGallery, _ file: GalleryFile) throws(ApusError) {
      let warning: String?
      do { warning = try gallery.check(dimension: dimension, preparation: preparation) } catch {
        throw ApusError(error.code, "the gallery '\(file.gallery)': \(oneLine(error.message))")
      }
      if let warning { Output.writeError("warning: \(oneLine(warning))") }
    }
  }

  /// Prepares the models.
  func finder(pictures count: Int) throws -> Finder {
    if let hands {
      let model = try GestureModel(bundle: hands, input: input, pictures: count)
      return Finder(
        preparation: LandmarkClassifier.preparation, dimension: 3 * Hand.landmarkNames.count,
        warnings: TaskWarnings { model.landmarker.assumptions.warnings },
        isUndecided: { model.landmarker.isUndecided },
        find: { image throws(ApusError) in try model.findings(in: image) })
    }
    var options = ImageEmbedder.Options(baseOptions: try input.baseOptions(pictures: count))
    options.normalizesEmbeddings = true
    // The two models share the memory.
    if faces != nil { options.interpreter.memoryLimit /= 2 }
    let embedder = try ImageEmbedder(model: Model(contentsOfFile: model ?? ""), options: options)
    let region = try input.regionRect
    let preparation = try embedder.preparation(alignsFaces: faces != nil)
    let dimension = embedder.dimensions.reduce(0, +)
    guard let faces else {
      return Finder(
        preparation: preparation, dimension: dimension, reduction: input.reduction(for: embedder),
        warnings: TaskWarnings { embedder.assumptions.warnings }, isUndecided: { false },
        find: { image throws(ApusError) in
          let result = try embedder.embed(image, in: region)
          let embedding = Embedding(result.embeddings.flatMap(\.values)).l2Normalized()
          return Findings(embeddings: [(embedding, nil)], timings: result.timings)
        })
    }
    // How pictures are fitted and read, and their size, are the embedder's.
    var detection = FaceDetector.Options(baseOptions: try input.baseOptions(pictures: count))
    detection.fit = nil
    detection.normalization = nil
    detection.channels = nil
    detection.inputSize = nil
    detection.interpreter.memoryLimit /= 2
    let task = FaceEmbedder(
      detector: try FaceDetector(model: Model(contentsOfFile: faces), options: detection), embedder: embedder)
    return Finder(
      preparation: preparation, dimension: dimension,
      warnings: TaskWarnings { task.assumptions.warnings }, isUndecided: { task.isUndecided },
      find: { [limits = input.limits] image throws(ApusError) in
        let result = try task.embed(image, in: region) {
          limits.time.watch("embedding \($0) faces", isShared: count > 1)
        }
        return Findings(
          embeddings: result.faces.map { ($0.embedding, $0.face.rect) }, timings: result.timings)
      })
  }
}

extension GalleryModels {
  /// A runner that answers about many pictures with these models.
  func runner(
    of finder: Finder, _ sources: PictureSources, _ pictures: PictureOptions,
    answer: @escaping @Sendable (ImageBuffer, Int) throws(ApusError) -> GalleryResult,
    text: (@Sendable (GalleryResult) -> String)?
  ) -> PictureRunner<GalleryResult> {
    PictureRunner(
      sources: sources, options: pictures, reduction: finder.reduction,
      copiesPicture: faces != nil || hands != nil, warnings: finder.warnings,
      isUndecided: finder.isUndecided, answer: answer, text: text)
  }
}

extension GalleryCommand {
  /// `apus gallery add`.
  struct Add: PictureCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Enrolls pictures under a name.",
      usage: "apus gallery add <name> <image> ... --gallery <file> (--model <model> | --hands <bundle>)")

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var file: GalleryFile
    @OptionGroup var models: GalleryModels

    func run() throws {
      try EmbeddingGallery.check(name: name)
      let sources = try pictures.sources()
      let known = try file.read(isNewAllowed: true)
      try checkWritable(file.gallery)
      let finder = try models.finder(pictures: sources.count)
      try finder.check(known, file)
      let embeddings = Mutex<[Int: Embedding]>([:])
      let (find, name, subject) = (finder.find, name, models.subject)
      let failure = try models.runner(
        of: finder, sources, pictures,
        answer: { image, place throws(ApusError) in
          let found = try find(image)
          // Of several faces or hands, the best one gets the name.
          guard let best = found.embeddings.first else {
            throw ApusError(.invalidArgument, "there is no \(subject)")
          }
          // An embedding that a gallery refuses is an error of its picture.
          var alone = EmbeddingGallery()
          try alone.add(name, best.embedding)
          embeddings.withLock { $0[place] = best.embedding }
          return GalleryResult(
            imageWidth: image.uprightWidth, imageHeight: image.uprightHeight,
            matches: [.init(name: name, box: best.box)],
            timings: found.timings)
        }, text: nil
      ).runToEnd()
      let added = embeddings.withLock { $0.sorted { $0.key < $1.key } }
      // A gallery of nothing has no names, where a missing one is an error.
      if added.isEmpty, known.entries.isEmpty, let failure { throw failure }
      let gallery = try file.update(isNewAllowed: true) { gallery in
        if gallery.entries != known.entries { try finder.check(gallery, file) }
        if gallery.entries.isEmpty { gallery.preparation = finder.preparation }
        for (_, embedding) in added { try gallery.add(name, embedding) }
      }
      if !pictures.json {
        Output.write("\(oneLine(name)): \(added.count) added, \(gallery.entries.count) in all")
      }
      if let failure { throw failure }
    }
  }

  /// `apus gallery remove`.
  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Forgets a name.")

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var file: GalleryFile

    func run() throws {
      var count = 0
      let gallery = try file.update { gallery in
        count = gallery.remove(name)
        guard count > 0 else {
          throw ApusError(.invalidArgument, "the gallery '\(file.gallery)' has no \(name)")
        }
      }
      Output.write("\(oneLine(name)): \(count) removed, \(gallery.entries.count) in all")
    }
  }

  /// `apus gallery list`.
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the names.")

    @OptionGroup var file: GalleryFile

    @Flag(help: "Print one JSON document.")
    var json = false

    private struct Name: Encodable {
      let name: String
      let embeddings: Int
    }

    func run() throws {
      let gallery = try file.read()
      var counts: [String: Int] = [:]
      for entry in gallery.entries { counts[entry.name, default: 0] += 1 }
      let names = gallery.names.map { Name(name: $0, embeddings: counts[$0] ?? 0) }
      if json { return try Output.writeJSON(names) }
      Output.write(
        table([["name", "embeddings"]] + names.map { [$0.name, "\($0.embeddings)"] }, rightAligned: [1]))
    }
  }

  /// `apus gallery find`.
  struct Find: PictureCommand {
    static let configuration = CommandConfiguration(
      commandName: "find", abstract: "Finds who is in pictures.",
      usage: "apus gallery find <image> ... --gallery <file> (--model <model> | --hands <bundle>)")

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var file: GalleryFile
    @OptionGroup var models: GalleryModels
    @OptionGroup var annotation: AnnotationOptions

    @Option(name: .long, help: "The maximum number of names per face, hand or picture.")
    var k = 1

    @Option(name: .long, help: "The distance beyond which a face, hand or picture is unknown.")
    var distance: Double?

    func validate() throws {
      guard k >= 1 else { throw ValidationError("--k is \(k), not 1 or more") }
      if let distance, !(distance >= 0) {
        throw ValidationError("--distance is \(distance), not 0 or more")
      }
    }

    func run() throws {
      let sources = try pictures.sources()
      let files = try annotation.files(for: sources)
      let gallery = try file.read()
      let finder = try models.finder(pictures: sources.count)
      try finder.check(gallery, file)
      let find = finder.find
      let (k, distance, limits, isShared) = (k, distance, models.input.limits, sources.count > 1)
      let subject = models.subject
      var runner = models.runner(
        of: finder, sources, pictures,
        answer: { image, _ throws(ApusError) in
          var matches: [GalleryResult.Match] = []
          let found = try find(image)
          var time = found.timings
          let start = ContinuousClock.now
          let watch = limits.time.watch("finding \(found.embeddings.count) \(subject)s", isShared: isShared)
          for (embedding, box) in found.embeddings {
            try watch()
            let nearest = gallery.nearestNames(to: embedding, k: k, distance: distance)
            matches += nearest.map { .init(name: $0.name, distance: $0.distance, box: box) }
            if nearest.isEmpty { matches.append(.init(name: nil, distance: nil, box: box)) }
          }
          time.postprocess += ContinuousClock.now - start
          return GalleryResult(
            imageWidth: image.uprightWidth, imageHeight: image.uprightHeight, matches: matches, timings: time)
        },
        text: { result in
          let names = result.matches.map { match in
            "\(match.name ?? "unknown") (\(decimal(match.distance, 3)))"
          }
          return names.isEmpty ? "nobody" : oneLine(names.joined(separator: ", "))
        })
      (runner.annotations, runner.annotationFolder) = (files, annotation.annotateDir)
      runner.draw = { image, result throws(ApusError) in try image.drawing(matches: result.matches) }
      try runner.run()
    }
  }
}
