// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole

/// A child failed, and printed the reason on standard error, which it shares with its parent.
struct ChildFailure: Error {
  /// The status with which to exit: 1 to 64.
  let status: Int32

  /// The output of this program with other arguments, in a process of its own.
  static func output(arguments: [String]) throws -> [UInt8] {
    let ending = try OwnProcess.run(arguments)
    if ending.status == 0 { return ending.output }
    guard let status = ending.status, status <= 64 else {
      throw ApusError(.invalidArgument, "a measurement crashed: \(arguments.joined(separator: " "))")
    }
    throw ChildFailure(status: status)
  }
}
