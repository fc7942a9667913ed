// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVideo
import ApusVision
import ArgumentParser

/// `apus-picture-benchmark resize`: pictures in memory into a model's input.
struct ResizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resize", abstract: "Measures how long pictures take from memory into a model's input.")

  /// One measurement.
  struct Report: Encodable {
    let picture: String
    let format: String
    let input: String
    let resampling: String
    /// `uint8` in NHWC order, or `float32` in NCHW order.
    let type: String
    let medianMs: Double
    let minMs: Double
  }

  @Option(name: .long, help: "The picture's size, for example 1920x1080.")
  var size = "1920x1080"

  @Option(name: .long, help: "The input's size.")
  var input = "300x300"

  @Option(
    name: .long,
    help:
      "What pictures are: rgb, or a layout of luma and chroma: \(Self.layouts.map(\.rawValue).joined(separator: ", "))."
  )
  var format = "rgb"

  @Option(name: .long, help: "The most threads.")
  var threads = 1

  @Option(name: .long, help: "How often each is done.")
  var runs = 50

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    guard (1...1_000_000).contains(runs), (1...64).contains(threads) else {
      throw ApusError(.invalidArgument, "--runs is \(runs) and --threads \(threads), not 1 or more")
    }
    let (width, height) = try Self.size(size)
    let (inputWidth, inputHeight) = try Self.size(input)
    let image = try picture(width, height)
    var bytes = [UInt8](repeating: 0, count: inputWidth * inputHeight * 3)
    var floats = [Float](repeating: 0, count: inputWidth * inputHeight * 3)
    var reports: [Report] = []
    for resampling in Resampling.allCases where resampling != .automatic {
      let processor = try ImageProcessor(width: inputWidth, height: inputHeight, resampling: resampling)
      let ofBytes = try times {
        var span = bytes.mutableSpan
        _ = try processor.fill(&span, from: image, threads: threads)
      }
      let ofFloats = try times {
        var span = floats.mutableSpan
        _ = try processor.fill(&span, from: image, order: .planar, normalization: .unit, threads: threads)
      }
      for (type, times) in [("uint8", ofBytes), ("float32", ofFloats)] {
        reports.append(
          Report(
            picture: size, format: format, input: input, resampling: resampling.rawValue, type: type,
            medianMs: times.median,
            minMs: times.min() ?? 0))
      }
    }
    if json { return try Output.writeJSON(reports) }
    for report in reports {
      Output.write(
        "\(report.picture) \(report.format) to \(report.input) \(report.type), \(report.resampling): "
          + "\(decimal(report.medianMs, 3)) ms, at least \(decimal(report.minMs, 3))")
    }
  }

  private static let layouts = RawPicture.Layout.allCases.filter { ![.rgb24, .bgr24, .gray8].contains($0) }

  private func picture(_ width: Int, _ height: Int) throws(ApusError) -> ImageBuffer {
    let bytes = randomBytes(width * height * 3)
    if format == "rgb" { return try ImageBuffer(bytes: bytes, width: width, height: height, format: .rgb) }
    guard let layout = Self.layouts.first(where: { $0.rawValue == format }) else {
      throw ApusError(.invalidArgument, "--format is \(format), not rgb or the name of a layout")
    }
    return try RawPicture(bytes: bytes, width: width, height: height, layout: layout).converted()
  }

  private func times(_ body: () throws -> Void) throws -> [Double] {
    for _ in 0..<5 { try body() }
    return try (0..<runs).map { _ in
      let start = ContinuousClock.now
      try body()
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
  }

  /// Width and height, as in `640x480`.
  private static func size(_ text: String) throws(ApusError) -> (Int, Int) {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, parts.allSatisfy({ (1...ImageBuffer.maximumSide).contains($0) }) else {
      throw ApusError(.invalidArgument, "the size \(text) is not WIDTHxHEIGHT")
    }
    return (parts[0], parts[1])
  }

  /// Noise: what is in a picture makes no difference, but for one pixel in thirty.
  private func randomBytes(_ count: Int) -> [UInt8] {
    var state: UInt64 = 1
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }
}
