// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Reads a dictionary that an exporter appended, written as JSON or as a Python literal.
@_spi(Fuzzing) public func fuzzExportMetadata(_ bytes: [UInt8]) {
  guard let literal = try? Literal(parsing: bytes) else { return }
  let metadata = ExportMetadata(literal)
  _ = (metadata.names.count, metadata.task, metadata.imageSize?.height, metadata.keypoints?.count)
}
