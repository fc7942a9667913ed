// SPDX-License-Identifier: Apache-2.0

/// A zip archive of entries that are stored, not compressed.
///
/// - Parameter claimed: The size that the archive claims for each entry; nil for its own.
package func storedArchive(_ entries: [(name: String, bytes: [UInt8])], claimed: UInt32? = nil) -> [UInt8] {
  var (file, directory): ([UInt8], [UInt8]) = ([], [])
  for entry in entries {
    var common: [UInt8] = []
    for value in [20, 0, 0, 0, 0] as [UInt16] { common.appendLittleEndian(value) }
    let size = claimed ?? UInt32(entry.bytes.count)
    for value in [entry.bytes.crc32, size, size] { common.appendLittleEndian(value) }
    common.appendLittleEndian(UInt16(entry.name.utf8.count))
    common.appendLittleEndian(UInt16(0))
    directory += Array("PK\u{1}\u{2}".utf8) + [20, 0] + common + [UInt8](repeating: 0, count: 10)
    directory.appendLittleEndian(UInt32(file.count))
    directory += Array(entry.name.utf8)
    file += Array("PK\u{3}\u{4}".utf8) + common + Array(entry.name.utf8) + entry.bytes
  }
  var end = Array("PK\u{5}\u{6}".utf8) + [0, 0, 0, 0]
  for _ in 0..<2 { end.appendLittleEndian(UInt16(entries.count)) }
  end.appendLittleEndian(UInt32(directory.count))
  end.appendLittleEndian(UInt32(file.count))
  return file + directory + end + [0, 0]
}
