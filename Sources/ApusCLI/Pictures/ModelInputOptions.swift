// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// How pictures reach a model: the options that all tasks share.
struct ModelInputOptions: ParsableArguments {
  @Option(
    name: .long,
    help:
      "How pictures of other proportions are fitted: stretch, center-crop or letterbox; by default as the model was trained."
  )
  var fit: PictureFit?

  @Option(
    name: .long,
    help:
      "How pixels are computed: automatic, area, bilinear, mediapipe (bilinear as MediaPipe's) or nearest.")
  var resampling = Resampling.automatic

  @OptionGroup var reading: ReadingOptions

  @Option(name: .long, help: "The part of each picture to look at: X,Y,WIDTH,HEIGHT in pixels.")
  var region: String?

  @Flag(
    help:
      "Read large JPEGs at a smaller scale: faster, with slightly different pixels. Not beside --region or --annotate."
  )
  var reduced = false

  @Option(
    name: .long,
    help:
      "The picture's size in a model that leaves it open, or takes all pixels in a row, for example 640x480.")
  var inputSize: String?

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  func validate() throws {
    _ = try regionRect
    _ = try size
    if reduced, region != nil {
      throw ValidationError("--reduced excludes --region: a part of a picture may need every pixel")
    }
  }

  /// The first option that was given and says how pictures reach one model, not a region of them.
  var givenForModel: String? {
    let all: [(String, Bool)] = [
      ("--fit", fit != nil), ("--resampling", resampling != .automatic), ("--pixels", reading.pixels != nil),
      ("--channels", reading.channels != nil), ("--input-size", inputSize != nil),
    ]
    return all.first { $0.1 }?.0
  }

  /// The options of a task.
  ///
  /// - Parameter count: For how many pictures the task is used.
  func baseOptions(pictures count: Int) throws -> BaseOptions {
    var options = BaseOptions()
    options.fit = fit?.policy
    options.resampling = resampling
    try reading.apply(to: &options)
    options.inputSize = try size
    options.interpreter = try engine.interpreterOptions
    limits.apply(to: &options.interpreter, isShared: count > 1)
    return options
  }

  /// How far a task lets files be reduced, if requested.
  func reduction(for task: some VisionTask) -> ImageReduction { reduced ? task.imageReduction : .none }

  /// The region, in pixels.
  var regionRect: PixelRect? {
    get throws {
      guard let region else { return nil }
      let numbers = region.split(separator: ",", omittingEmptySubsequences: false).map { Float($0) ?? .nan }
      guard numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[2] > 0, numbers[3] > 0 else {
        throw ValidationError("--region \(region) is not X,Y,WIDTH,HEIGHT")
      }
      return PixelRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
  }

  private var size: (width: Int, height: Int)? {
    get throws { try Self.size(inputSize) }
  }

  /// The sides that `--input-size` gives; nil without it.
  static func size(_ inputSize: String?) throws -> (width: Int, height: Int)? {
    guard let inputSize else { return nil }
    let parts = inputSize.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, parts.allSatisfy({ (1...1 << 16).contains($0) }) else {
      throw ValidationError("--input-size \(inputSize) is not WIDTHxHEIGHT")
    }
    return (parts[0], parts[1])
  }
}

extension Resampling: ExpressibleByArgument {}
