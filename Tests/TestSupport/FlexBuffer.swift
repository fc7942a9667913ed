// SPDX-License-Identifier: Apache-2.0

/// A map of options in the FlexBuffers format: 32-bit integers and floats, keys sorted.
package func flexBuffer(_ options: [String: Double]) -> [UInt8] {
  var bytes: [UInt8] = []
  let keys = options.keys.sorted()
  var places: [Int] = []
  for key in keys {
    places.append(bytes.count)
    bytes += Array(key.utf8) + [0]
  }
  while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
  bytes.appendLittleEndian(UInt32(keys.count))
  let keyVector = bytes.count
  for place in places { bytes.appendLittleEndian(UInt32(bytes.count - place)) }
  bytes.appendLittleEndian(UInt32(bytes.count - keyVector))
  bytes.appendLittleEndian(UInt32(4))
  bytes.appendLittleEndian(UInt32(keys.count))
  let values = bytes.count
  var types: [UInt8] = []
  for key in keys {
    let value = options[key] ?? 0
    if let integer = Int32(exactly: value) {
      bytes.appendLittleEndian(UInt32(bitPattern: integer))
      types.append(1 << 2 | 2)
    } else {
      bytes.appendLittleEndian(Float(value).bitPattern)
      types.append(3 << 2 | 2)
    }
  }
  bytes += types
  while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
  bytes.appendLittleEndian(UInt32(bytes.count - values))
  return bytes + [9 << 2 | 2, 4]
}
