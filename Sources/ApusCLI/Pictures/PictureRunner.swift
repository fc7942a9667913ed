// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusRuntime
import ApusVision
import ArgumentParser
import Dispatch
import FoundationEssentials
import Synchronization

/// Processes many pictures, several at once, and prints the results in the order of the pictures.
///
/// A picture that fails is a line on standard error, and the others continue; the final status is 2. An error that
/// concerns all of them, such as a folder that cannot be written to, ends the work.
struct PictureRunner<Answer: VisionResult>: Sendable {
  let sources: PictureSources
  let options: PictureOptions
  /// Where annotated pictures go; empty for nowhere, else one for each source.
  var annotations: [String] = []
  /// The folder that is made for them.
  var annotationFolder: String?
  /// The files that `finish` writes into a folder, one for each source, which the results name; otherwise empty.
  var outputs: [String] = []
  /// How far files may be reduced while they are read; those of pictures that are annotated may not.
  var reduction = ImageReduction.none
  /// Whether `answer` or `finish` copies the picture, which then takes as much memory as one that is drawn on.
  var copiesPicture = false
  /// Warnings, printed once on standard error.
  var warnings: TaskWarnings?
  /// Whether the next answer may decide how all later ones are read: then pictures are processed in their order.
  var isUndecided: @Sendable () -> Bool = { false }
  /// The result for a picture, given its position among the sources.
  let answer: @Sendable (ImageBuffer, Int) throws(ApusError) -> Answer
  /// The result for people, without the name of the picture; nil if results are only for programs.
  let text: (@Sendable (Answer) -> String)?
  /// Draws the result on its picture.
  var draw: (@Sendable (ImageBuffer, Answer) throws(ApusError) -> ImageBuffer)?
  /// Further work on a result, given the picture's position among the sources; from several threads.
  var finish: (@Sendable (Int, ImageBuffer, Answer) throws(ApusError) -> Void)?

  /// Whether results name the files that were made of a picture: of one picture alone, they are known.
  private var isOneOfMany: Bool { sources.count > 1 }

  /// The outcome for a picture.
  private enum Outcome {
    /// The text is nil if nothing is printed, and the flaw if the picture has none.
    case answer(String?, flaw: String?)
    case failure(line: String, json: String?)
  }

  /// The state that threads share.
  private struct Progress {
    var next = 0
    var printed = 0
    var done = 0
    var outcomes: [Int: Outcome] = [:]
    var failures = 0
    var fatal: (any Error)?
    var bar: ProgressBar
  }

  /// Processes all pictures.
  ///
  /// - Throws: The error that ended the work early, or the exit code 2 if a picture failed.
  func run() throws {
    guard !sources.isEmpty else { return }
    guard reduction == .none || annotations.isEmpty else {
      throw ValidationError("--reduced is for pictures that nothing is drawn on: leave it out, or --annotate")
    }
    try makeFolder()
    let progress = Mutex(Progress(bar: ProgressBar(total: sources.count, isQuiet: options.quiet)))
    warnings?.write()
    let budget = PictureBudget()
    while isUndecided(), let place = take(progress) { process(place, progress, budget) }
    let jobs = min(options.jobs ?? ProcessInfo.processInfo.activeProcessorCount, sources.count)
    DispatchQueue.concurrentPerform(iterations: max(jobs, 1)) { _ in
      while let place = take(progress) { process(place, progress, budget) }
    }
    let (fatal, failures) = progress.withLock { progress in
      progress.bar.clear()
      warnings?.write()
      return (progress.fatal as (any Error)?, progress.failures)
    }
    if let fatal { throw fatal }
    if failures > 0 || sources.leaveOutPictures { throw ExitCode(2) }
  }

  /// Processes all pictures for a caller that has something to do afterwards, even if some have failed.
  ///
  /// - Returns: The exit code to throw at the end; nil if every picture has an answer.
  /// - Throws: The error that ended the work early.
  func runToEnd() throws -> ExitCode? {
    do { try run() } catch let code as ExitCode { return code }
    return nil
  }

  private func makeFolder() throws {
    guard let folder = annotationFolder else { return }
    do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
      throw ApusError(.unwritableFile, "cannot make the folder '\(folder)'")
    }
  }

  /// The next picture to process; nil if there is none, or the work ended early.
  private func take(_ progress: borrowing Mutex<Progress>) -> Int? {
    progress.withLock { progress in
      guard progress.fatal == nil, progress.next < sources.count else { return nil }
      progress.next += 1
      return progress.next - 1
    }
  }

  /// Processes one picture, and keeps its outcome, or the error that ends the work.
  private func process(_ place: Int, _ progress: borrowing Mutex<Progress>, _ budget: PictureBudget) {
    do { complete(place, try outcome(place, budget), progress) } catch {
      progress.withLock { if $0.fatal == nil { $0.fatal = error } }
    }
  }

  /// The outcome for one picture; throws only errors that concern all of them.
  private func outcome(_ place: Int, _ budget: PictureBudget) throws -> Outcome {
    let source = sources[place]
    let traced = Trace.now
    let label = traced == 0 ? -1 : Trace.register([Trace.Label(source.name)])
    defer { Trace.record(.picture, since: traced, label: label) }
    do throws(ApusError) {
      let byteCount =
        try source.workingByteCount(
          options.size.limits, reduction, isDrawnOn: !annotations.isEmpty || copiesPicture) ?? budget.limit
      budget.take(byteCount)
      defer { budget.give(byteCount) }
      let reading = Trace.now
      let bytes = try source.bytes()
      let decoding = Trace.record(.read, since: reading)
      let picture = try ImageBuffer(decoding: bytes, limits: options.size.limits, reduction: reduction)
      Trace.record(.decode, since: decoding)
      let answer = try answer(picture, place)
      let finishing = Trace.now
      try finish?(place, picture, answer)
      let annotating = finish == nil ? finishing : Trace.record(.finish, since: finishing)
      var file: String?
      if annotations.indices.contains(place), let draw {
        try draw(picture, answer).write(toFile: annotations[place])
        file = annotations[place]
        Trace.record(.annotate, since: annotating)
      }
      let output = isOneOfMany && outputs.indices.contains(place) ? outputs[place] : nil
      return .answer(
        try printed(source, answer, output: output, annotation: file, warning: picture.flawWarning),
        flaw: picture.flawWarning(of: source.name))
    } catch {
      if error.code == .unwritableFile { throw error }
      let message = error.message(isPicture: true)
      let json = options.json ? try? Output.json(PictureFailure(image: source.name, error: message)) : nil
      return .failure(line: "\(source.name): \(message)", json: json)
    }
  }

  private func printed(
    _ source: PictureSource, _ answer: Answer, output: String?, annotation: String?, warning: String?
  ) throws(ApusError) -> String? {
    if options.json {
      let report = PictureReport(
        image: source.name, output: output,
        annotated: isOneOfMany && annotationFolder != nil ? annotation : nil, warning: warning,
        answer: answer)
      do { return try Output.json(report) } catch {
        throw ApusError(.invalidData, "the result cannot be written as JSON")
      }
    }
    guard let text else { return nil }
    var lines = [
      "\(oneLine(source.name)), \(answer.imageWidth) × \(answer.imageHeight) pixels: \(text(answer))"
    ]
    let timings = answer.timings
    lines.append(
      "\(decimal(timings.preprocess / .milliseconds(1), 1)) ms preprocessing, \(decimal(timings.inference / .milliseconds(1), 1)) ms inference, "
        + "\(decimal(timings.postprocess / .milliseconds(1), 1)) ms postprocessing")
    if let output { lines.append("written → \(oneLine(output))") }
    if let annotation { lines.append("annotated → \(oneLine(annotation))") }
    return lines.joined(separator: "\n")
  }

  /// Prints the outcomes that are next in order.
  private func complete(_ place: Int, _ outcome: Outcome, _ progress: borrowing Mutex<Progress>) {
    progress.withLock { progress in
      progress.outcomes[place] = outcome
      progress.done += 1
      while let next = progress.outcomes.removeValue(forKey: progress.printed) {
        progress.printed += 1
        progress.bar.clear()
        switch next {
        case .answer(let text, let flaw):
          if let flaw { Output.writeError("warning: " + flaw) }
          if let text { Output.write(text) }
        case .failure(let line, let json):
          progress.failures += 1
          Output.writeError("error: " + line.split(whereSeparator: \.isNewline).joined(separator: " "))
          if let json { Output.write(json) }
        }
      }
      progress.bar.update(progress.done)
    }
  }
}

/// A result with the picture's name, those of the files that were made of it, and a warning about the picture's file.
private struct PictureReport<Answer: VisionResult>: Encodable {
  let image: String
  let output: String?
  let annotated: String?
  let warning: String?
  let answer: Answer

  private enum CodingKeys: CodingKey {
    case image, output, annotated, warning
  }

  func encode(to encoder: any Encoder) throws {
    try answer.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(image, forKey: .image)
    try container.encodeIfPresent(output, forKey: .output)
    try container.encodeIfPresent(annotated, forKey: .annotated)
    try container.encodeIfPresent(warning, forKey: .warning)
  }
}

/// Why there is no result.
private struct PictureFailure: Encodable {
  let image: String
  let error: String
}
