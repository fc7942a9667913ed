// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// The models of a task with landmarks: a bundle, or two files.
struct BundleOptions: ParsableArguments {
  @Option(name: .long, help: "The bundle of both models, a .task file.")
  var model: String?

  @Option(name: .long, help: "Instead of a bundle: the .tflite model that finds regions.")
  var detector: String?

  @Option(name: .long, help: "Instead of a bundle: the .tflite model that finds landmarks in a region.")
  var landmarks: String?

  func validate() throws { try Self.check(model, detector, landmarks) }

  /// Throws wrong usage unless there is a bundle, or a pair of models.
  static func check(_ model: String?, _ detector: String?, _ landmarks: String?) throws {
    switch (model, detector, landmarks) {
    case (.some, nil, nil), (nil, .some, .some): break
    case (.some, _, _): throw ValidationError("--model excludes --detector and --landmarks")
    default: throw ValidationError("the models are missing: --model, or --detector and --landmarks")
    }
  }

  /// The bundle's path.
  var bundle: String { model ?? "" }

  /// Both models; nil if there is a bundle.
  var pair: (detector: Model, landmarks: Model)? {
    get throws(ApusError) { try Self.pair(detector, landmarks) }
  }

  /// The models of two files; nil if there are none.
  static func pair(_ detector: String?, _ landmarks: String?) throws(ApusError)
    -> (detector: Model, landmarks: Model)?
  {
    guard let detector, let landmarks else { return nil }
    return (try Model(contentsOfFile: detector), try Model(contentsOfFile: landmarks))
  }
}

/// Pictures as frames of one video.
struct FrameOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      The pictures are the frames of one video at this rate, those of a folder in the order of the numbers in their names: what is found is \
      tracked from one to the next.
      """,
      valueName: "RATE"))
  var fps: Double?

  @Option(
    name: .long,
    help: "With --fps, the overlap above which something detected in a frame is tracked already; 0.5.")
  var trackingThreshold: Float?

  @Flag(help: "Do not smooth the landmarks of frames.")
  var noSmoothing = false

  func validate() throws {
    try Self.check(fps: fps)
    if trackingThreshold != nil, fps == nil {
      throw ValidationError("--tracking-threshold is for frames: --fps is missing")
    }
    if noSmoothing, fps == nil { throw ValidationError("--no-smoothing is for frames: --fps is missing") }
  }

  /// Throws wrong usage for a rate that no video has.
  static func check(fps: Double?) throws {
    if let fps, !(fps >= 1e-6 && fps <= 1e6) {
      throw ValidationError("--fps is \(fps), not 0.000001 to 1000000")
    }
  }
}

/// How the models of a task with landmarks run, and where they look.
struct RegionInputOptions: ParsableArguments {
  @Option(name: .long, help: "The part of each picture to look at: X,Y,WIDTH,HEIGHT in pixels.")
  var region: PixelRect?

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  /// The interpreters' options.
  ///
  /// - Parameter count: For how many pictures the task is used.
  func interpreterOptions(pictures count: Int) throws(ApusError) -> Interpreter.Options {
    var options = try engine.interpreterOptions
    limits.apply(to: &options, isShared: count > 1)
    return options
  }
}

extension PixelRect: ExpressibleByArgument {
  /// Reads `X,Y,WIDTH,HEIGHT`; nil for other text.
  public init?(argument: String) {
    let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Float($0) ?? .nan }
    guard numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[2] > 0, numbers[3] > 0 else {
      return nil
    }
    self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
  }
}

/// A table of points for people.
func landmarkTable(_ landmarks: [Landmark]) -> String {
  let hasVisibility = landmarks.contains { $0.visibility != nil }
  var rows = [["  point", "x", "y", "z"] + (hasVisibility ? ["visibility"] : [])]
  rows += landmarks.enumerated().map { index, point in
    ["  " + (point.name ?? "\(index)")]
      + [point.x, point.y, point.z].map { decimal(Double($0), 1) }
      + (hasVisibility ? [decimal(point.visibility.map(Double.init), 3)] : [])
  }
  return table(rows, rightAligned: [1, 2, 3, 4])
}
