// SPDX-License-Identifier: Apache-2.0

extension FlexBufferValue {
  /// Decodes a whole FlexBuffer.
  ///
  /// Throws if a reference leaves the bytes, a type or width is unknown, or values are nested or shared so
  /// much that they would be far larger than the bytes.
  package init(bytes: [UInt8]) throws(FormatError) {
    // The annotated local function gives the closure's error its type.
    func decode(_ raw: UnsafeRawBufferPointer) throws(FormatError) -> FlexBufferValue {
      try unsafe FlexBufferValue(reader: ByteReader(raw))
    }
    let result = unsafe bytes.withUnsafeBytes { raw -> Result<FlexBufferValue, FormatError> in
      do throws(FormatError) { return unsafe .success(try decode(raw)) } catch { return .failure(error) }
    }
    self = try result.get()
  }

  /// Decodes a FlexBuffer that is a part of a file.
  package init(_ file: FileBytes, _ range: Range<Int>) throws(FormatError) {
    self = try file.withReader { (reader) throws(FormatError) in
      try FlexBufferValue(reader: reader.slice(range))
    }
  }

  private init(reader: ByteReader) throws(FormatError) {
    do throws(FormatError) {
      var decoder = FlexBufferDecoder(reader)
      self = try decoder.root()
    } catch {
      throw error.inside("FlexBuffer")
    }
  }
}

/// Walks a FlexBuffer from its end: the root's width, its type, its value.
private struct FlexBufferDecoder {
  private let reader: ByteReader
  /// How many values and bytes can still be decoded: references may share parts without limit.
  private var remaining: Int

  private static let maximumDepth = 32

  init(_ reader: ByteReader) {
    self.reader = reader
    remaining = min(16 * reader.count + 4096, max(2 * reader.count, 1 << 20))
  }

  mutating func root() throws(FormatError) -> FlexBufferValue {
    guard reader.count >= 3 else { throw FormatError("\(reader.count) bytes are too few") }
    let width = Int(try reader.integer(UInt8.self, at: reader.count - 1))
    let type = try reader.integer(UInt8.self, at: reader.count - 2)
    guard [1, 2, 4, 8].contains(width) else { throw FormatError("the root's width is \(width)") }
    return try value(at: reader.count - 2 - width, parentWidth: width, packedType: type, depth: 0)
  }

  private mutating func value(
    at position: Int, parentWidth: Int, packedType: UInt8, depth: Int
  ) throws(FormatError) -> FlexBufferValue {
    guard depth <= Self.maximumDepth else {
      throw FormatError("values are nested more than \(Self.maximumDepth) deep")
    }
    try charge(1)
    let width = 1 << Int(packedType & 3)
    let type = Int(packedType >> 2)
    switch type {
    case 0: return .null
    case 1: return .int(try signed(at: position, parentWidth))
    case 2: return .uint(try unsigned(at: position, parentWidth))
    case 3: return .float(try float(at: position, parentWidth))
    case 26: return .bool(try unsigned(at: position, parentWidth) != 0)
    default: break
    }
    let target = try reference(at: position, parentWidth)
    switch type {
    case 4: return .key(try key(at: target))
    case 5:
      let count = try self.count(at: target, width)
      try charge(count)
      return .string(try reader.text(at: target, length: count))
    case 6: return .int(try signed(at: target, width))
    case 7: return .uint(try unsigned(at: target, width))
    case 8: return .float(try float(at: target, width))
    case 9: return .map(try map(at: target, width, depth))
    case 10: return .vector(try vector(at: target, width, depth))
    case 11...15, 36:
      let count = try self.count(at: target, width)
      return .vector(try typedVector(at: target, width, type == 36 ? 26 : type - 10, count, depth))
    case 16...24:
      // Two, three or four elements of each of three types, without a count in the bytes.
      return .vector(try typedVector(at: target, width, (type - 16) % 3 + 1, (type - 16) / 3 + 2, depth))
    case 25:
      let count = try self.count(at: target, width)
      try charge(count)
      return .blob(try reader.integers(at: target, count: count))
    default:
      throw FormatError("the type \(type) is unknown")
    }
  }

  private mutating func vector(at start: Int, _ width: Int, _ depth: Int) throws(FormatError)
    -> [FlexBufferValue]
  {
    let count = try self.count(at: start, width)
    try require(count, width + 1, at: start)
    var result: [FlexBufferValue] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      let type = try reader.integer(UInt8.self, at: start + count * width + index)
      result.append(
        try value(at: start + index * width, parentWidth: width, packedType: type, depth: depth + 1))
    }
    return result
  }

  private mutating func typedVector(
    at start: Int, _ width: Int, _ type: Int, _ count: Int, _ depth: Int
  ) throws(FormatError) -> [FlexBufferValue] {
    try require(count, width, at: start)
    // The elements of a typed vector have no type bytes; what they refer to has counts of one byte.
    let packedType = UInt8(type << 2)
    var result: [FlexBufferValue] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      result.append(
        try value(at: start + index * width, parentWidth: width, packedType: packedType, depth: depth + 1))
    }
    return result
  }

  private mutating func map(at start: Int, _ width: Int, _ depth: Int) throws(FormatError) -> FlexBufferMap {
    // Before the values: where the keys are, how wide they are, how many values there are.
    let keys = try reference(at: start - 3 * width, width)
    let keyWidth = Int(clamping: try unsigned(at: start - 2 * width, width))
    guard [1, 2, 4, 8].contains(keyWidth) else {
      throw FormatError("a map's keys have the width \(keyWidth)")
    }
    let values = try vector(at: start, width, depth)
    guard try count(at: keys, keyWidth) == values.count else {
      throw FormatError("a map has \(values.count) values and another number of keys")
    }
    var entries: [FlexBufferMap.Entry] = []
    entries.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      let target = try reference(at: keys + index * keyWidth, keyWidth)
      entries.append(FlexBufferMap.Entry(key: try key(at: target), value: value))
    }
    return FlexBufferMap(entries: entries)
  }

  /// A key ends at its first zero byte.
  private mutating func key(at start: Int) throws(FormatError) -> String {
    var end = start
    while try reader.integer(UInt8.self, at: end) != 0 {
      end += 1
      try charge(1)
    }
    return try reader.text(at: start, length: end - start)
  }

  /// A reference counts back from where it stands.
  private func reference(at position: Int, _ width: Int) throws(FormatError) -> Int {
    let distance = try unsigned(at: position, width)
    guard distance <= UInt64(position) else {
      throw FormatError("a reference at byte \(position) leads \(distance) bytes back")
    }
    return position - Int(distance)
  }

  /// The number of elements, which stands before the first.
  private func count(at start: Int, _ width: Int) throws(FormatError) -> Int {
    let count = try unsigned(at: start - width, width)
    guard count <= UInt64(reader.count) else {
      throw FormatError("\(count) elements at byte \(start) do not fit \(reader.count) bytes")
    }
    return Int(count)
  }

  private mutating func require(_ count: Int, _ elementSize: Int, at start: Int) throws(FormatError) {
    // No overflow: the count is at most that of the bytes, the element size at most 9.
    guard reader.contains(count * elementSize, at: start) else {
      throw FormatError("\(count) elements at byte \(start) do not fit \(reader.count) bytes")
    }
    try charge(count)
  }

  private mutating func charge(_ amount: Int) throws(FormatError) {
    guard amount <= remaining else { throw FormatError("values are shared so often that they are too many") }
    remaining -= amount
  }

  private func unsigned(at position: Int, _ width: Int) throws(FormatError) -> UInt64 {
    switch width {
    case 1: UInt64(try reader.integer(UInt8.self, at: position))
    case 2: UInt64(try reader.integer(UInt16.self, at: position))
    case 4: UInt64(try reader.integer(UInt32.self, at: position))
    default: try reader.integer(UInt64.self, at: position)
    }
  }

  private func signed(at position: Int, _ width: Int) throws(FormatError) -> Int64 {
    switch width {
    case 1: Int64(try reader.integer(Int8.self, at: position))
    case 2: Int64(try reader.integer(Int16.self, at: position))
    case 4: Int64(try reader.integer(Int32.self, at: position))
    default: try reader.integer(Int64.self, at: position)
    }
  }

  private func float(at position: Int, _ width: Int) throws(FormatError) -> Double {
    switch width {
    case 2: Self.half(try reader.integer(UInt16.self, at: position))
    case 4: Double(Float(bitPattern: try reader.integer(UInt32.self, at: position)))
    case 8: Double(bitPattern: try reader.integer(UInt64.self, at: position))
    default: throw FormatError("a floating-point number at byte \(position) has one byte")
    }
  }

  /// A 16-bit number's value; Swift's own type is missing on Intel Macs.
  private static func half(_ bits: UInt16) -> Double {
    let significand = Double(bits & 0x3FF)
    let exponent = Int(bits >> 10 & 0x1F)
    let magnitude =
      switch exponent {
      case 0: significand * 0x1p-24
      case 31: significand == 0 ? Double.infinity : .nan
      default: Double(sign: .plus, exponent: exponent - 25, significand: significand + 1024)
      }
    return bits >> 15 == 0 ? magnitude : -magnitude
  }
}
