// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import Dispatch
import FoundationEssentials
import Synchronization

/// Answers for many files, several at once.
///
/// A file that fails is a line on standard error, in the order of the files, and the others continue.
struct EvaluationRunner<Answer: Codable & Sendable>: Sendable {
  /// An answer, or why there is none.
  enum Outcome: Sendable {
    case answer(Answer)
    case failure(String)
  }

  let items: [EvaluationItem]
  /// How many at once; nil for one for each processor.
  let jobs: Int?
  let isQuiet: Bool
  /// Where answers are kept.
  let results: ResultsFile<Answer>?
  /// Whether the next answer may decide how all later ones are read: then files are processed in their order.
  var isUndecided: @Sendable () -> Bool = { false }
  /// Warnings, printed once on standard error.
  let warnings: TaskWarnings
  /// The answer for a file; from several threads.
  let answer: @Sendable (EvaluationItem) throws(ApusError) -> Answer

  /// The state that threads share.
  private struct Progress {
    var next = 0
    var printed = 0
    var done = 0
    var outcomes: [Outcome?]
    var fatal: ApusError?
    var bar: ProgressBar
  }

  /// The outcome for each file, in order.
  ///
  /// - Throws: What ends the work, such as results that cannot be written.
  func run() throws(ApusError) -> [Outcome] {
    let known = items.map { item in results.flatMap { $0.answer(of: item) } }
    let progress = Mutex(
      Progress(
        outcomes: known.map { $0.map { .answer($0) } }, bar: ProgressBar(total: items.count, isQuiet: isQuiet)
      ))
    progress.withLock { progress in
      warnings.write()
      progress.done = progress.outcomes.count { $0 != nil }
    }
    // Files with an answer decide again as they did before.
    var first = 0
    while isUndecided(), first < items.count, progress.withLock({ $0.fatal == nil }) {
      process(first, progress)
      first += 1
    }
    progress.withLock { $0.next = first }
    let jobs = min(jobs ?? ProcessInfo.processInfo.activeProcessorCount, items.count)
    DispatchQueue.concurrentPerform(iterations: max(jobs, 1)) { _ in
      while let place = take(progress) { process(place, progress) }
    }
    let (fatal, outcomes) = progress.withLock { progress in
      progress.bar.clear()
      warnings.write()
      return (progress.fatal, progress.outcomes)
    }
    if let fatal { throw fatal }
    return outcomes.compactMap(\.self)
  }

  /// The next file without an outcome; nil if there is none, or the work ended early.
  private func take(_ progress: borrowing Mutex<Progress>) -> Int? {
    progress.withLock { progress in
      while progress.fatal == nil, progress.next < items.count {
        progress.next += 1
        if progress.outcomes[progress.next - 1] == nil { return progress.next - 1 }
      }
      return nil
    }
  }

  private func process(_ place: Int, _ progress: borrowing Mutex<Progress>) {
    let item = items[place]
    let isNew = progress.withLock { $0.outcomes[place] == nil }
    var outcome: Outcome
    var fatal: ApusError?
    // Only for answers that are kept: the file as it was before it was read.
    let state = isNew && results != nil ? item.state : nil
    do throws(ApusError) {
      let answer = try answer(item)
      outcome = .answer(answer)
      do throws(ApusError) { if let state { try results?.add(answer, of: item, state) } } catch {
        fatal = error
      }
    } catch {
      outcome = .failure(Self.message(error, item))
    }
    progress.withLock { progress in
      if let fatal, progress.fatal == nil { progress.fatal = fatal }
      progress.outcomes[place] = outcome
      if isNew { progress.done += 1 }
      while progress.printed < items.count, let next = progress.outcomes[progress.printed] {
        if case .failure(let message) = next {
          progress.bar.clear()
          let line = "error: \(items[progress.printed].name): \(message)"
          Output.writeError(line.split(whereSeparator: \.isNewline).joined(separator: " "))
        }
        progress.printed += 1
      }
      progress.bar.update(progress.done)
    }
  }

  /// Why a file has no answer, without the name that stands before it.
  private static func message(_ error: ApusError, _ item: EvaluationItem) -> String {
    let message = error.message(isPicture: true)
    let prefixes = [
      "cannot read the file '\(item.path)': ", "the picture '\(item.path)': ", "the sound '\(item.path)': ",
    ]
    let reason = prefixes.reduce(message) { $0.hasPrefix($1) ? String($0.dropFirst($1.count)) : $0 }
    guard item.isRelativeToList, !FileManager.default.fileExists(atPath: item.path) else { return reason }
    return reason + "; names are relative to the list, so that it would be '\(item.path)'"
  }
}
