// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Reads an archive with all of its files, and the same bytes as TensorFlow Lite's metadata and as a deflated stream.
@_spi(Fuzzing) public func fuzzArchive(_ bytes: [UInt8]) {
  _ = try? ModelMetadata(bytes)
  _ = try? Inflate.inflate(bytes, expectedSize: 1 << 12)
  guard let archive = try? ZipArchive(bytes) else { return }
  var left = 1 << 20
  for entry in archive.entries {
    left -= (try? archive.contents(of: entry, maximumSize: max(left, 0)).count) ?? 0
  }
}
