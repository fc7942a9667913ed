// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ApusVision
import ArgumentParser
import Foundation

/// `apus-worker`: a child process that other engines keep, pictures in, lines of JSON out.
@main
struct ApusWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus-worker",
    abstract: "Answers encoded pictures on standard input with lines of JSON on standard output.",
    discussion: """
      A frame is a little-endian length of four bytes, a number of four bytes, and that many bytes of a picture. Its \
      answer is one line, {"id":NUMBER,…} as `apus TASK --json` prints it, or {"id":NUMBER,"error":…}; answers have the \
      order of the frames. The end of the input is the end of the process.
      """)

  @Argument(help: "The task: \(Self.tasks).")
  var task: String

  @Argument(help: "A .tflite file, or 'shapes' for the embedded model.")
  var model: String

  @Option(help: "The label file; without it, the labels inside the model.")
  var labels: String?

  @Option(help: "The minimum score.")
  var scoreThreshold: Float?

  @Option(
    help:
      "The minimum score of what hands, face-mesh, pose and holistic detect, before they look at the region.")
  var detectionThreshold: Float?

  @Option(help: "The maximum number of results.")
  var maxResults: Int?

  @Option(help: "The overlap above which the better of two boxes stays.")
  var iouThreshold: Float?

  @Flag(help: "Let boxes of different classes suppress each other.")
  var classAgnostic = false

  @Flag(help: "Let one box have several classes.")
  var multiLabel = false

  @Option(help: "A label to answer with, and no others but those of further --allow.")
  var allow: [String] = []

  @Option(help: "A label to leave out.")
  var deny: [String] = []

  @Option(help: "How pictures of other proportions are fitted in: stretch, center-crop or letterbox.")
  var fit: Fit?

  @Option(
    help:
      "How pixels are computed when a picture is resized: automatic, area, bilinear, mediapipe or nearest.",
    transform: named)
  var resampling: Resampling?

  @Option(help: "How pixels become numbers: unit (0 to 1), signed (-1 to 1), raw (0 to 255) or MEAN:STD.")
  var pixels: String?

  @Option(help: "The order of the model's channels: rgb, bgr or gray.", transform: named)
  var channels: ImageProcessor.Channels?

  @Option(help: "The unit of the model's boxes and points: fraction or pixel.", transform: named)
  var boxUnits: BoxUnits?

  @Option(
    help: "The order of a box's numbers in a model with suppression inside: ltrb, tlbr, xywh or cxcywh.",
    transform: named)
  var boxOrder: BoxOrder?

  @Option(help: "What the model's scores are: probability, logit, raw or byte.", transform: named)
  var scores: ScoreForm?

  @Option(
    help: "The kind of a model with boxes or poses, see `apus detect`; recognized by default.",
    transform: named)
  var layout: DetectorLayout?

  @Option(
    help:
      "Whether the rows or the columns of YOLO's output are candidates, where it is square: rows or columns.",
    transform: named)
  var candidates: CandidateAxis?

  @Option(
    help: "The anchors of a raw YOLO head: widths and heights in pixels with commas, the finest grid first.")
  var anchors: String?

  @Option(help: "The keypoints of a YOLO pose, and the numbers of each: 21x3, or 4x2 without scores.")
  var keypoints: String?

  @Option(help: "The output that has a segmenter's mask, counted from 0; by default the likeliest.")
  var outputIndex: Int?

  @Option(help: "How the numbers of a picture that the model makes were made of pixels, as --pixels.")
  var outputPixels: String?

  @Flag(help: "Resize a picture that the model makes to the picture that it was given.")
  var fitOutput = false

  @Option(help: "The direction of the middle finger in a palm's region, in degrees.")
  var palmAngle: Float?

  @Option(help: "How many cells a side of a body's heat map a point is moved to the mean of.")
  var refinementCells: Int?

  @Option(help: "A .tflite face detector, for embed: each of its faces is aligned and embedded.")
  var faces: String?

  @Option(help: "Threads that one run may use.")
  var threads = 1

  @Option(help: "How long a picture may take, in seconds; 0 for any time.")
  var deadline = 0.0

  enum Fit: String, ExpressibleByArgument, CaseIterable {
    case stretch
    case centerCrop = "center-crop"
    case letterbox
  }

  private var kind: VisionTaskKind? { VisionTaskKind(rawValue: task) }

  func validate() throws {
    guard let kind else {
      throw ValidationError("there is no task '\(task)', only: \(Self.tasks)")
    }
    guard labels == nil || kind.readsLabels else {
      throw ValidationError("--labels says nothing to the task '\(task)'")
    }
    guard labels == nil || !isEmbedded else {
      throw ValidationError("--labels is for a file: the embedded model has its own")
    }
    guard maxResults ?? 1 >= 1 else {
      throw ValidationError("--max-results is \(maxResults ?? 0), not 1 or more")
    }
    guard refinementCells ?? 1 >= 1 else {
      throw ValidationError("--refinement-cells is \(refinementCells ?? 0), not 1 or more")
    }
    do throws(ApusError) { _ = try settings } catch { throw ValidationError(error.message) }
    guard (1...64).contains(threads) else { throw ValidationError("--threads is \(threads), not 1 to 64") }
    guard (0...86_400).contains(deadline) else {
      throw ValidationError("--deadline is \(deadline), not 0 to 86400")
    }
  }

  func run() throws {
    do throws(ApusError) {
      var settings = try settings
      if let faces {
        settings.faces = .init(
          try ServedModel(ModelSource(name: "faces", path: faces), maximumBatch: 1))
      }
      try FrameLoop(
        worker: PictureWorker(
          kind ?? .detect, source: source, settings: settings, threads: threads, timeLimit: timeLimit,
          warn: { Self.writeError("warning: \($0.text)") }),
        deadline: deadline > 0 ? deadline : nil
      ).run()
    } catch {
      Self.writeError("error: \(error.message)")
      throw ExitCode(1)
    }
  }

  /// Writes one line to standard error. Names in models may have characters that command terminals.
  private static func writeError(_ text: String) {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    FileHandle.standardError.write(Data("\(PrintableText.escaped(line))\n".utf8))
  }

  /// The least time that the model may take to be prepared, however soon pictures must be answered.
  private static let minimumTimeLimit = 60.0

  private var timeLimit: Duration? {
    deadline > 0 ? .seconds(max(deadline, Self.minimumTimeLimit)) : nil
  }

  private static let tasks = VisionTaskKind.allCases.map(\.rawValue).joined(separator: ", ")

  private var isEmbedded: Bool {
    model == ModelSource.embedded.name && !FileManager.default.fileExists(atPath: model)
  }

  private var source: ModelSource {
    isEmbedded ? .embedded : ModelSource(name: "model", path: model, labelPath: labels)
  }

  private var settings: PictureTask.Settings {
    get throws(ApusError) {
      var settings = PictureTask.Settings()
      settings.scoreThreshold = scoreThreshold
      settings.detectionThreshold = detectionThreshold
      settings.maximumResults = maxResults
      settings.iouThreshold = iouThreshold
      settings.isClassAgnostic = classAgnostic
      settings.isMultiLabel = multiLabel
      settings.allowed = allow
      settings.denied = deny
      settings.fit =
        switch fit {
        case .stretch: .stretch
        case .centerCrop: .centerCrop
        case .letterbox: .letterbox()
        case nil: nil
        }
      settings.resampling = resampling
      settings.pixels = try pixels.map { text throws(ApusError) in try Normalization(parsing: text) }
      settings.channels = channels
      settings.boxUnits = boxUnits
      settings.boxOrder = boxOrder
      settings.scores = scores
      settings.layout = layout
      settings.candidates = candidates
      settings.anchors = try anchors.map { text throws(ApusError) in
        try ObjectDetector.Options.anchors(parsing: text)
      }
      settings.keypoints = try keypoints.map { text throws(ApusError) in
        try PictureTask.KeypointShape(parsing: text)
      }
      settings.outputIndex = outputIndex
      settings.outputPixels = try outputPixels.map { text throws(ApusError) in
        try Normalization(parsing: text)
      }
      settings.fitsOutput = fitOutput
      settings.palmAngle = palmAngle
      settings.refinementCells = refinementCells
      return settings
    }
  }
}

/// The value of a type whose cases have names.
private func named<Value: RawRepresentable>(_ name: String) throws -> Value where Value.RawValue == String {
  guard let value = Value(rawValue: name) else { throw ValidationError("'\(name)' is none of the values") }
  return value
}
