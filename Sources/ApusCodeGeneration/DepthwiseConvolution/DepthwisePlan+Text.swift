// SPDX-License-Identifier: Apache-2.0

import ApusKernels

// The plan in the output of `apus inspect --plan`.

extension DepthwisePlan {
  /// Why taps are multiplied one group at a time for a few pixels, rather than by rows of taps.
  enum SingleTaps {
    /// Merged pixels have several phases.
    case phases
    /// Bytes are widened to `int16` as they are gathered.
    case words
    /// There is no code for filters of this shape.
    case shape
  }

  /// The blocks, and whether they are read in place or gathered.
  var text: String {
    let columns = maximumColumns > 0 ? blocks(columnCount).columns : min(Self.maximumPixels, columnCount)
    let block =
      runs.first.map { "\($0.columns) columns" } ?? "\(columns) \(maximumColumns > 0 ? "columns" : "pixels")"
    let source =
      !runs.isEmpty
      ? "read in place"
      : interior.isEmpty ? "gathered" : "read in place, but for \(counted(edgeCount, "column")) at the edges"
    let together = pixelsTogether > 1 ? ["\(pixelsTogether) pixels as one"] : []
    let blocks =
      "\(blockCount) \(blockCount == 1 ? "block" : "blocks") of \(block) × \(blockChannels) channels"
    return ([blocks] + together + [source]).joined(separator: ", ")
  }

  /// Why a faster layout was not used.
  var notes: [String] {
    let c = convolution
    let taps: [String] =
      switch singleTaps {
      case nil: []
      case .phases:
        [
          "taps one by one: \(pixelsTogether) pixels as one, with a stride of \(c.strideWidth), lie in \(phases) phases"
        ]
      case .words: ["taps one by one: bytes become 16-bit integers as they are gathered"]
      case .shape:
        [
          """
          taps one by one: there is no code for rows of a filter of \(c.filterHeight)×\(c.filterWidth) taps, \
          \(c.dilationWidth) apart, for outputs \(columnStep) pixels apart
          """
        ]
      }
    return taps + (gathered.map { ["gathered: \($0)"] } ?? [])
  }
}
