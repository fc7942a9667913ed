// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem
import ArgumentParser

/// How long a command may take.
struct TimeLimitOptions: ParsableArguments {
  @Option(
    name: .long,
    help:
      "The maximum wall time of a command, in seconds; with several pictures, sounds or files, of preparing the model, and of each one. 0 means no limit."
  )
  var timeLimit = 15.0

  func validate() throws {
    guard timeLimit >= 0, timeLimit <= 1e9 else {
      throw ValidationError("--time-limit is \(timeLimit), not 0 to 1000000000 seconds")
    }
  }

  /// When the command began.
  fileprivate static let start = Moment.now

  /// A function that throws once the time limit is over: for what follows a model's run. It counts from the command's beginning, or, where
  /// there are several pictures, sounds or files, from now.
  func watch(_ what: String, isShared: Bool) -> () throws(ApusError) -> Void {
    guard timeLimit > 0 else { return { () throws(ApusError) in } }
    let end = (isShared ? .now : Self.start) + .seconds(timeLimit)
    return { [timeLimit] () throws(ApusError) in
      guard Moment.now < end else {
        throw ApusError(
          .resourceLimit,
          "\(what) takes longer than the limit of \(timeLimit) seconds; --time-limit changes it")
      }
    }
  }
}

/// The limits on a model's time and memory that commands share.
struct LimitOptions: ParsableArguments {
  @OptionGroup var time: TimeLimitOptions

  @Option(name: .long, help: "The maximum memory of a model's tensors and packed weights, in MiB.")
  var memoryLimit = 1024

  func validate() throws {
    guard (1...1 << 40).contains(memoryLimit) else {
      throw ValidationError("--memory-limit is \(memoryLimit), not 1 to \(1 << 40) MiB")
    }
  }

  /// Sets the limits.
  ///
  /// - Parameter isShared: Whether a model is for several pictures, each of which may take the whole time. Otherwise it is for
  ///   everything that the command does.
  func apply(to options: inout Interpreter.Options, isShared: Bool = false) {
    let limit = time.timeLimit
    options.timeLimit = limit > 0 ? .seconds(limit) : nil
    options.deadline = limit > 0 && !isShared ? TimeLimitOptions.start + .seconds(limit) : nil
    options.memoryLimit = memoryLimit << 20
  }
}
