// SPDX-License-Identifier: Apache-2.0

import ApusConsole

/// A command that answers about pictures; its work can be traced.
protocol PictureCommand: TracedCommand {
  /// Which pictures, and how many at once.
  var pictures: PictureOptions { get }
}

extension PictureCommand {
  var traceOptions: TraceOptions { pictures.traceOptions }
}
