// SPDX-License-Identifier: Apache-2.0

import Apus
import ArgumentParser

/// What a model may take: the limits that commands share.
struct LimitOptions: ParsableArguments {
  @Option(
    name: .long,
    help: "The most seconds that preparing a model, or one run of it, may take; 0 for any number.")
  var timeLimit = 15.0

  @Option(name: .long, help: "The most MiB that a model's tensors and packed weights may take.")
  var memoryLimit = 1024

  func validate() throws {
    guard timeLimit >= 0, timeLimit <= 1e9 else {
      throw ValidationError("--time-limit is \(timeLimit), not 0 to 1000000000 seconds")
    }
    guard (1...1 << 40).contains(memoryLimit) else {
      throw ValidationError("--memory-limit is \(memoryLimit), not 1 to \(1 << 40) MiB")
    }
  }

  /// Sets the limits.
  func apply(to options: inout Interpreter.Options) {
    options.timeLimit = timeLimit > 0 ? .seconds(timeLimit) : nil
    options.memoryLimit = memoryLimit << 20
  }
}
