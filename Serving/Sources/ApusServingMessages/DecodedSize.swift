// SPDX-License-Identifier: Apache-2.0
import ApusServing

/// The memory that a request's message takes once it is decoded, estimated from its bytes.
///
/// A field of two bytes becomes a structure of hundreds, a number of one byte eight. Without this check, a message
/// within the limit for bodies could take a hundred times that limit.
public struct DecodedSize {
  /// The contents of a field with a known number.
  private indirect enum Field {
    /// Bytes or text.
    case bytes
    /// Numbers, one or packed.
    case numbers
    /// A message.
    case message([UInt64: Field])
  }

  /// The messages that it knows.
  public enum Message: Sendable {
    /// `ModelInferRequest`.
    case inference
    /// `RepositoryModelLoadRequest` and `RepositoryModelUnloadRequest`.
    case repositoryChange
    /// Any other: names and flags, each once.
    case other
  }

  private static let parameter = Field.message([2: .message([:])])

  /// `ModelInferRequest`, by its field numbers; other fields are kept as bytes.
  private static let request: [UInt64: Field] = {
    let contents = Field.message([1: .numbers, 2: .numbers, 3: .numbers, 4: .numbers, 5: .numbers])
    let input = Field.message([3: .numbers, 4: parameter, 5: contents])
    return [4: parameter, 5: input, 6: .message([2: parameter])]
  }()

  /// A structure with its names, and a reference to bytes.
  private static let messageCost = 512
  private static let bytesCost = 32

  private var total = 0
  private let limit: Int

  private init(limit: Int) { self.limit = limit }

  /// Checks the bytes of a message.
  ///
  /// Bytes that are no message are left to the decoder, which stops at the same place.
  /// - Throws: `tooLarge` where the decoded message would take more than `limit` bytes.
  /// - Returns: The bytes that it would take.
  @discardableResult
  public static func check(
    _ bytes: Span<UInt8>, of message: Message = .inference, limit: Int
  ) throws(ServingError) -> Int {
    var size = DecodedSize(limit: limit)
    let fields: [UInt64: Field] =
      switch message {
      case .inference: request
      case .repositoryChange: [3: parameter]
      case .other: [:]
      }
    _ = try size.add(bytes, 0..<bytes.count, fields)
    return size.total
  }

  /// Adds the fields within a range; false where they are malformed.
  private mutating func add(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ fields: [UInt64: Field]
  ) throws(ServingError) -> Bool {
    var place = range.lowerBound
    while place < range.upperBound {
      guard let tag = Self.number(bytes, &place, range.upperBound) else { return false }
      switch tag & 7 {
      case 0:
        guard Self.number(bytes, &place, range.upperBound) != nil else { return false }
        try add(8)
      case 1, 5:
        place += tag & 7 == 1 ? 8 : 4
        try add(8)
      case 2:
        guard let length = Self.number(bytes, &place, range.upperBound),
          length <= UInt64(range.upperBound - place)
        else { return false }
        let part = place..<place + Int(length)
        place = part.upperBound
        switch fields[tag >> 3] ?? .bytes {
        case .bytes: try add(Self.bytesCost + part.count)
        case .numbers:
          // A number ends with a byte below 128.
          var count = 0
          for index in part where bytes[index] < 0x80 { count += 1 }
          try add(8 * count)
        case .message(let inner):
          try add(Self.messageCost)
          guard try add(bytes, part, inner) else { return false }
        }
      default: try add(8)  // the ends of groups, which no message of ours has
      }
    }
    return place == range.upperBound
  }

  private mutating func add(_ bytes: Int) throws(ServingError) {
    total += bytes
    guard total <= limit else {
      throw ServingError(.tooLarge, "the request would take more than \(limit) bytes of memory")
    }
  }

  /// A number of seven bits a byte; nil where it does not end.
  private static func number(_ bytes: Span<UInt8>, _ place: inout Int, _ end: Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while place < end, shift < 64 {
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }
}
