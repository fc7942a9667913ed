// SPDX-License-Identifier: Apache-2.0

extension TestModel {
  /// A map of options in the FlexBuffers format: 32-bit integers and floats, keys sorted.
  static func flexBuffer(_ options: [String: Double]) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: UInt32) { withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) } }
    let keys = options.keys.sorted()
    var places: [Int] = []
    for key in keys {
      places.append(bytes.count)
      bytes += Array(key.utf8) + [0]
    }
    while bytes.count % 4 != 0 { bytes.append(0) }
    append(UInt32(keys.count))
    let keyVector = bytes.count
    for place in places { append(UInt32(bytes.count - place)) }
    append(UInt32(bytes.count - keyVector))
    append(4)
    append(UInt32(keys.count))
    let values = bytes.count
    var types: [UInt8] = []
    for key in keys {
      let value = options[key] ?? 0
      if let integer = Int32(exactly: value) {
        append(UInt32(bitPattern: integer))
        types.append(1 << 2 | 2)
      } else {
        append(Float(value).bitPattern)
        types.append(3 << 2 | 2)
      }
    }
    bytes += types
    while bytes.count % 4 != 0 { bytes.append(0) }
    append(UInt32(bytes.count - values))
    return bytes + [9 << 2 | 2, 4]
  }
}
