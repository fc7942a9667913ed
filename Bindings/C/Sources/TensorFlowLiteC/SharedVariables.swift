// SPDX-License-Identifier: Apache-2.0

import Apus

/// The resource variables that all subgraphs of an interpreter share.
final class SharedVariables: @unchecked Sendable {
  /// The first engine that was made.
  var owner: Interpreter?
}
