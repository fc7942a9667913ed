// SPDX-License-Identifier: Apache-2.0

// What is said of a plan, for people to read.

extension DepthwisePlan {
  /// Why taps are multiplied one by one, or group by group, each for some pixels, rather than by rows.
  enum SingleTaps {
    /// Pixels that are taken together have several phases.
    case phases
    /// Bytes become words before they are multiplied.
    case words
    /// There is no code for filters of this shape.
    case shape
  }

  /// Blocks and what they are read from.
  var text: String {
    let columns = mostColumns > 0 ? blocks(columnCount).columns : min(Self.mostPixels, columnCount)
    let block =
      runs.first.map { "\($0.columns) columns" } ?? "\(columns) \(mostColumns > 0 ? "columns" : "pixels")"
    let source =
      !runs.isEmpty
      ? "read in place"
      : interior.isEmpty ? "gathered" : "read in place, but for \(counted(edgeCount, "column")) at the edges"
    let together = pixelsTogether > 1 ? ["\(pixelsTogether) pixels as one"] : []
    let blocks =
      "\(blockCount) \(blockCount == 1 ? "block" : "blocks") of \(block) × \(blockChannels) channels"
    return ([blocks] + together + [source]).joined(separator: ", ")
  }

  /// What was passed over.
  var notes: [String] {
    let c = convolution
    return switch singleTaps {
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
  }
}
