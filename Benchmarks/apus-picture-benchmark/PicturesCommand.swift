// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `apus-picture-benchmark pictures`: from a file to boxes, stage by stage.
struct PicturesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pictures",
    abstract: "Measures a detector on picture files, stage by stage, from reading to boxes.")

  @Argument(help: "Pictures: JPEG, PNG, BMP or PNM.")
  var pictures: [String]

  @Option(name: .long, help: "A .tflite detector.")
  var model: String

  @OptionGroup var engine: EngineOptions

  @Option(name: .long, help: "Runs on each picture before those that are measured.")
  var warmup = 2

  @Option(name: .long, help: "Runs on each picture that are measured.")
  var runs = 20

  @Option(name: .long, help: "How pictures are resized: automatic, area, bilinear or nearest.")
  var resampling = Resampling.automatic.rawValue

  @Flag(help: "Decode JPEG at the smallest scale above the model's input.")
  var reduced = false

  @Flag(help: "Print one JSON document, with the time of each run.")
  var json = false

  func run() throws {
    guard (0...1_000_000).contains(warmup), (1...1_000_000).contains(runs) else {
      throw ApusError(.invalidArgument, "--warmup is \(warmup) and --runs \(runs), not 0 and 1 to 1000000")
    }
    guard let resampling = Resampling(rawValue: resampling) else {
      throw ApusError(.invalidArgument, "--resampling is \(resampling), not the name of one")
    }
    var options = ObjectDetector.Options()
    options.interpreter = try engine.interpreterOptions
    options.resampling = resampling
    options.scoreThreshold = 0.3
    let detector = try ObjectDetector(modelFile: model, options: options)
    let processor = try ImageProcessor(width: detector.inputWidth, height: detector.inputHeight)
    var reports: [PictureReport] = []
    // Read again and again into the same memory, as in any loop over pictures.
    var image = try ImageBuffer(bytes: [0], width: 1, height: 1, format: .gray)
    for picture in pictures {
      var report = PictureReport(picture: picture)
      for run in 0..<warmup + runs {
        try measure(
          picture, detector, reduced ? .fitting(processor) : .none, &image, &report, counts: run >= warmup)
      }
      reports.append(report)
      if !json { Output.write(report.text) }
    }
    if json { try Output.writeJSON(reports) }
  }

  private func measure(
    _ path: String, _ detector: ObjectDetector, _ reduction: ImageReduction, _ image: inout ImageBuffer,
    _ report: inout PictureReport, counts: Bool
  ) throws {
    let start = Self.processorMilliseconds
    var bytes: [UInt8] = []
    let read = try milliseconds { () throws(ApusError) in
      bytes = try readWholeFile(at: path, limit: ImageLimits().maximumFileSize)
    }
    let decode = try milliseconds { () throws(ApusError) in
      try image.reload(decoding: bytes, reduction: reduction)
    }
    var found: DetectionResult?
    let detect = try milliseconds { () throws(ApusError) in found = try detector.detect(image) }
    let end = Self.processorMilliseconds
    guard let found else { return }
    let timings = found.timings
    report.width = image.originalWidth
    report.height = image.originalHeight
    report.reduction = image.reduction
    report.detections = found.detections.map {
      .init(
        index: $0.category.index, score: $0.score, x: $0.rect.x, y: $0.rect.y, width: $0.rect.width,
        height: $0.rect.height)
    }
    guard counts else { return }
    report.readMs.append(read)
    report.decodeMs.append(decode)
    report.prepareMs.append(timings.preprocess / .milliseconds(1))
    report.inferenceMs.append(timings.inference / .milliseconds(1))
    report.postprocessMs.append(timings.postprocess / .milliseconds(1))
    report.totalMs.append(read + decode + detect)
    report.cpuMs.append(end - start)
  }

  /// The time that processors have spent on this process.
  private static var processorMilliseconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
}
