// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// `apus evaluate`: how often a model is right.
struct EvaluateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate", abstract: "Measures a model's accuracy on files whose truth is known.",
    usage: "apus evaluate <folder or list> --model <model> --task <task> [--truth <file>] [<options>]",
    discussion: """
      classify: top-1 and top-5. Each subfolder is a class; or a list has name,class lines, names being relative to the list; or --truth is such a \
      list for a folder. A class is a label, a name of --class-names, or a number. Files are pictures, raw tensors (.npy, .bin) or sounds (.wav).
      detect: the twelve numbers of COCO. --truth is a file in COCO's format. Boxes count from a score of 0.001 on, at most 300 of a picture, unless \
      --score-threshold and --max-results say otherwise.
      segment: mean intersection over union. --truth is a folder of masks, picture.png for picture.jpg; or a list has picture,mask lines. Masks have \
      the number of a class in each pixel; with two classes and --ignore -1, they may be black and white.
      anomaly: the area under the curve of an autoencoder's mean squared error, or of a single score. Classes are as for classify: normal, good, ok and 0 are \
      normal, all others anomalies.

      For example:
        apus evaluate flowers --model flowers.tflite --task classify
        apus evaluate val --model detect.tflite --task detect --truth instances.json
        apus evaluate y_labels.csv --model kws.tflite --task classify --type int8
      """)

  @Argument(help: "A folder of files, a list of them, or - for a list on standard input.")
  var data: String

  @Option(name: .long, help: "The .tflite model.")
  var model: String

  @Option(name: .long, help: "What to measure: classify, detect, segment or anomaly.")
  var task: EvaluationTask

  @Option(
    name: .long,
    help: "What is right: a list of name,class lines, a file in COCO's format, or a folder of masks.")
  var truth: String?

  @Option(
    name: .long,
    help: "A file of the names that the truth uses for classes, in the model's order, if labels differ.")
  var classNames: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: "What to add to numbers of classes in the truth, such as -1 where they start at 1.")
  var classOffset = 0

  @Option(name: .long, parsing: .unconditional, help: "The value in masks that stands for no class.")
  var ignore = usualIgnored

  /// The value in masks that usually stands for no class.
  private static let usualIgnored = 255

  @Flag(help: "Leave out files without a truth, and truths without a file, which are errors otherwise.")
  var common = false

  @Option(name: .long, help: "The shape of raw tensors where the model leaves it open, such as 1x49x10x1.")
  var shape: String?

  @Option(
    name: .long, help: "The element type of .bin files, such as uint8; by default that of the model's input.")
  var type: String?

  @Option(
    name: .long,
    help: """
      From one window of a file to the next, in elements, for anomaly; by default a window's length. What is behind the last whole \
      window is not looked at.
      """)
  var step: Int?

  @Option(
    name: .long, help: "A file that keeps what is done: an evaluation that was ended goes on from there.")
  var resume: String?

  @Option(name: .long, help: "Files at once; by default one for each processor.")
  var jobs: Int?

  @OptionGroup var detector: DetectorOptions

  @OptionGroup var size: PictureLimitOptions

  @OptionGroup var input: ModelInputOptions

  @OptionGroup var hearing: SoundOptions

  @OptionGroup var mask: MaskOptions

  @Flag(help: "Show no progress bar.")
  var quiet = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func validate() throws {
    if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs is \(jobs), not 1 to 256") }
    if let step, step < 1 { throw ValidationError("--step is \(step), not 1 or more") }
    try refuseOptions()
    guard (-1...65_535).contains(ignore) else {
      throw ValidationError("--ignore is \(ignore), not a value of a mask of 0 to 65535, or -1 for none")
    }
    if let region = input.region {
      throw ValidationError("--region \(region) is given, but an evaluation is about whole pictures")
    }
    if task == .segment, input.fit == .centerCrop {
      throw ValidationError(
        "--fit center-crop cuts away pixels that the masks have: --fit stretch or letterbox shows the model all of them"
      )
    }
    if task == .detect, truth == nil {
      throw ValidationError("--truth is missing: detect takes a file in COCO's format")
    }
    if task == .segment, truth == nil, FolderEntry.isFolder(data) {
      throw ValidationError("--truth is missing: the folder of masks, picture.png for picture.jpg")
    }
    _ = try tensorShape
    _ = try elementType
  }

  /// Refuses options that say nothing about the task.
  private func refuseOptions() throws {
    let categories = detector.categories
    let options: [TaskOption<EvaluationTask>] = [
      TaskOption("--step", step != nil, for: [.anomaly]),
      TaskOption("--shape", shape != nil, for: [.classify, .anomaly]),
      TaskOption("--type", type != nil, for: [.classify, .anomaly]),
      TaskOption("--ignore", ignore != Self.usualIgnored, for: [.segment]),
      TaskOption("--output-index", mask.outputIndex != nil, for: [.segment]),
      TaskOption("--class-names", classNames != nil, for: [.classify, .detect]),
      TaskOption("--class-offset", classOffset != 0, for: [.classify]),
      TaskOption("--labels", categories.labels != nil, for: [.classify, .detect, .segment]),
      TaskOption("--label-offset", categories.labelOffset != nil, for: [.classify, .detect]),
      TaskOption("--allow", !categories.allow.isEmpty, for: [.classify, .detect]),
      TaskOption("--deny", !categories.deny.isEmpty, for: [.classify, .detect]),
      TaskOption("--score-threshold", detector.scoreThreshold != nil, for: [.classify, .detect]),
      TaskOption("--scores", detector.scores.scores != nil, for: [.classify, .detect, .segment]),
      TaskOption(hearing.given ?? "--rate", hearing.given != nil, for: [.classify]),
      TaskOption("--max-results", detector.maxResults != nil, for: [.detect]),
      TaskOption("--iou-threshold", detector.iouThreshold != nil, for: [.detect]),
      TaskOption("--class-agnostic", detector.classAgnostic, for: [.detect]),
      TaskOption("--multi-label", detector.multiLabel, for: [.detect]),
      TaskOption("--layout", detector.layout != nil, for: [.detect]),
      TaskOption("--box-units", detector.units.boxUnits != nil, for: [.detect]),
      TaskOption("--candidates", detector.units.candidates != nil, for: [.detect]),
      TaskOption("--anchors", detector.anchors.anchors != nil, for: [.detect]),
      TaskOption("--box-order", detector.order.boxOrder != nil, for: [.detect]),
    ]
    for option in options { try option.check(task) }
    if categories.locale != nil {
      throw ValidationError("--locale is given, but an evaluation compares labels, not display names")
    }
  }

  /// Refuses options that say nothing about files of a kind.
  private func refuseOptions(for kind: EvaluationItem.Kind) throws(ApusError) {
    let options: [(name: String?, kind: EvaluationItem.Kind)] = [
      (input.givenForModel ?? (input.reduced ? "--reduced" : nil), .picture),
      (shape != nil ? "--shape" : type != nil ? "--type" : step != nil ? "--step" : nil, .tensor),
      (hearing.given, .sound),
    ]
    for option in options where option.kind != kind {
      guard let name = option.name else { continue }
      throw ApusError(
        .invalidArgument, "\(name) says nothing about \(kind.rawValue): it is for \(option.kind.rawValue)")
    }
  }

  func run() throws {
    switch task {
    case .classify: try evaluateClasses()
    case .detect: try evaluateObjects()
    case .segment: try evaluateMasks()
    case .anomaly: try evaluateAnomalies()
    }
  }

  // MARK: What the parts share

  /// The shape of raw tensors; nil if it is not given.
  var tensorShape: [Int]? {
    get throws {
      guard let shape else { return nil }
      let sizes = shape.split(omittingEmptySubsequences: false) { "x,×".contains($0) }.map { Int($0) ?? 0 }
      guard sizes.allSatisfy({ (1...1 << 30).contains($0) }), sizes.count <= 8 else {
        throw ValidationError("--shape \(shape) is no shape such as 1x49x10x1")
      }
      return sizes
    }
  }

  /// The type of raw elements; nil if it is not given.
  var elementType: ElementType? {
    get throws {
      guard let type else { return nil }
      guard let found = ElementType(rawValue: type), TensorFile.types.contains(found) else {
        throw ValidationError("--type \(type) is no element type such as uint8, int8, int16 or float32")
      }
      return found
    }
  }

  /// The kind of all files.
  func kind(of items: [EvaluationItem]) throws(ApusError) -> EvaluationItem.Kind {
    var kinds: [EvaluationItem.Kind: String] = [:]
    for item in items {
      guard let kind = EvaluationItem.Kind(name: item.name) else {
        throw ApusError(
          .invalidArgument, "\(item.place): '\(item.name)' is no picture, .npy, .bin or .wav file by its name"
        )
      }
      if kinds[kind] == nil { kinds[kind] = item.name }
    }
    guard kinds.count == 1, let kind = kinds.keys.first else {
      let names = kinds.map { "'\($0.value)'" }.sorted().joined(separator: " and ")
      throw ApusError(
        .invalidArgument,
        "files are of several kinds, such as \(names); evaluate pictures, tensors and sounds each on their own"
      )
    }
    try refuseOptions(for: kind)
    return kind
  }

  /// Answers for all files, in their order.
  ///
  /// - Parameter reading: How answers are read, by names, where neither the model nor an option says it: results that were read in
  ///   another way are refused.
  func outcomes<Answer: Codable & Sendable>(
    for items: [EvaluationItem], reading: [String: String] = [:],
    isUndecided: @escaping @Sendable () -> Bool = { false },
    warnings: @escaping @Sendable () -> [String] = { [] },
    answer: @escaping @Sendable (EvaluationItem) throws(ApusError) -> Answer
  ) throws -> [EvaluationRunner<Answer>.Outcome] {
    let results: ResultsFile<Answer>? = try resume.map { path in
      try ResultsFile(
        path,
        header: .init(
          task: task.rawValue, model: fileSHA256(model), settings: settings().merging(reading) { $1 }))
    }
    return try EvaluationRunner(
      items: items, jobs: jobs, isQuiet: quiet, results: results, isUndecided: isUndecided,
      warnings: TaskWarnings(warnings), answer: answer
    ).run()
  }

  /// Reads pictures with the limits of the command.
  func pictureReader() -> EvaluationPictures { EvaluationPictures(limits: size.limits) }

  /// Ends with status 2 if a file failed, or folders have files that are not read.
  func end(failures: [EvaluationFailure], _ files: EvaluationFiles) throws {
    if !failures.isEmpty || files.leaveOutFiles { throw ExitCode(2) }
  }

  /// The options that decide answers.
  private func settings() throws(ApusError) -> [String: String] {
    var settings: [String: String] = [:]
    func set(_ name: String, _ value: (some Any)?) { if let value { settings[name] = "\(value)" } }
    func setList(_ name: String, _ values: [String]) {
      if !values.isEmpty { settings[name] = values.joined(separator: "\n") }
    }
    set("--score-threshold", detector.scoreThreshold)
    set("--max-results", detector.maxResults)
    set("--iou-threshold", detector.iouThreshold)
    set("--class-agnostic", detector.classAgnostic ? true : nil)
    set("--multi-label", detector.multiLabel ? true : nil)
    set("--layout", detector.layout?.rawValue)
    set("--scores", detector.scores.scores?.rawValue)
    set("--box-units", detector.units.boxUnits?.rawValue)
    set("--candidates", detector.units.candidates?.rawValue)
    set("--anchors", detector.anchors.anchors)
    set("--box-order", detector.order.boxOrder?.rawValue)
    set("--label-offset", detector.categories.labelOffset)
    setList("--allow", detector.categories.allow)
    setList("--deny", detector.categories.deny)
    if let labels = detector.categories.labels { settings["--labels"] = try fileSHA256(labels) }
    set("--fit", input.fit?.rawValue)
    set("--resampling", input.resampling.rawValue)
    set("--pixels", input.reading.pixels)
    set("--channels", input.reading.channels?.rawValue)
    set("--reduced", input.reduced ? true : nil)
    set("--input-size", input.inputSize)
    set("--kernels", input.engine.kernels)
    if input.engine.precision != .float32 { set("--precision", input.engine.precision) }
    set("--rate", hearing.waveform.rate)
    set("--window", hearing.waveform.window)
    set("--samples", hearing.waveform.samples?.rawValue)
    set("--overlap", hearing.overlap == 0 ? nil : hearing.overlap)
    set("--output-index", mask.outputIndex)
    set("--shape", shape)
    set("--type", type)
    set("--step", step)
    if task == .segment { set("--ignore", ignore) }
    return settings
  }
}

/// A file without an answer.
struct EvaluationFailure: Encodable {
  let file: String
  let error: String
}
