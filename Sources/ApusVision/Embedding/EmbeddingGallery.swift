// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Names by example: embeddings of known things or people, and a search for the nearest ones.
///
/// ```swift
/// var gallery = EmbeddingGallery()
/// try gallery.add("Grace", try embedder.embed(portrait).embeddings[0])
/// let who = gallery.nearest(to: face, distance: 0.9).first?.name ?? "unknown"
/// ```
public struct EmbeddingGallery: Hashable, Sendable {
  /// A known embedding.
  public struct Entry: Hashable, Sendable {
    /// The name; several entries may share it.
    public let name: String
    /// The coordinates.
    public let values: [Float]
  }

  /// A known embedding near a new one.
  public struct Match: Hashable, Sendable {
    /// The name; nil beyond the requested distance.
    public let name: String?
    /// The Euclidean distance.
    public let distance: Double

    /// Makes a match.
    public init(name: String?, distance: Double) {
      self.name = name
      self.distance = distance
    }
  }

  /// The known embeddings, in the order in which they were added.
  public private(set) var entries: [Entry] = []
  /// The bytes of the entries in a file.
  private var entryByteCount = 0
  /// The bytes of a file beside those of its entries, at most.
  private static let maximumHeadByteCount = 4096

  /// The maximum length of a name, in bytes of UTF-8.
  public static let maximumNameLength = 1024
  /// The maximum number of coordinates.
  public static let maximumDimension = 1 << 16
  /// The maximum size of a file, in bytes.
  public static let maximumFileSize = 1 << 28
  /// The maximum number of embeddings of a file.
  public static let maximumEntryCount = 1 << 20

  private static let magic = Array("ApusGallery1\n".utf8)
  /// A file that says how pictures became embeddings.
  private static let magicWithPreparation = Array("ApusGallery2\n".utf8)

  /// How pictures became embeddings, such as `pixels unit, channels rgb`; nil if that is not known. Distances mean something only between
  /// embeddings that were made alike.
  public var preparation: String?

  /// Makes an empty gallery.
  public init() {}

  // MARK: Entries

  /// The number of coordinates; nil in an empty gallery.
  public var dimension: Int? { entries.first?.values.count }

  /// The names, each once, in the order in which they came.
  public var names: [String] {
    var seen: Set<String> = []
    return entries.map(\.name).filter { seen.insert($0).inserted }
  }

  /// Refuses what cannot be a name.
  ///
  /// - Throws: `invalidArgument` for an empty or too long name, or for `unknown`.
  package static func check(name: String) throws(ApusError) {
    try checkLength(of: name)
    guard name != "unknown" else {
      throw ApusError(
        .invalidArgument, "results call those who are not in the gallery 'unknown': choose another name")
    }
  }

  private static func checkLength(of name: String) throws(ApusError) {
    guard !name.isEmpty, name.utf8.count <= maximumNameLength else {
      throw ApusError(.invalidArgument, "a name has 1 to \(maximumNameLength) bytes, not \(name.utf8.count)")
    }
  }

  /// Enrolls an embedding under a name.
  ///
  /// - Throws: `invalidArgument` for an empty or too long name, for the name `unknown`, for coordinates that are not finite or all zero, or
  ///   if their number differs from the other entries'; `resourceLimit` for more than a file may have.
  public mutating func add(_ name: String, _ embedding: Embedding) throws(ApusError) {
    try Self.check(name: name)
    guard embedding.values.isEmpty || !embedding.isZero else {
      throw ApusError(
        .invalidArgument,
        "every coordinate of the embedding is zero, so it has no direction and would match strangers: use another picture or model"
      )
    }
    let byteCount = Self.byteCount(name, embedding.values.count)
    guard entryByteCount + byteCount <= Self.maximumFileSize - Self.maximumHeadByteCount else {
      throw ApusError(
        .resourceLimit, "with this embedding, the gallery would have more than \(Self.maximumFileSize) bytes")
    }
    try insert(name, embedding)
  }

  private static func byteCount(_ name: String, _ dimension: Int) -> Int {
    4 + name.utf8.count + 4 * dimension
  }

  private mutating func insert(_ name: String, _ embedding: Embedding) throws(ApusError) {
    try Self.checkLength(of: name)
    let count = embedding.values.count
    guard count > 0, count <= Self.maximumDimension, count == dimension ?? count else {
      throw ApusError(
        .invalidArgument,
        "the embedding has \(count) coordinates, not \(dimension.map { "\($0)" } ?? "1 to \(Self.maximumDimension)")"
      )
    }
    guard embedding.values.allSatisfy(\.isFinite) else {
      throw ApusError(.invalidArgument, "the embedding has a coordinate that is not finite")
    }
    guard entries.count < Self.maximumEntryCount else {
      throw ApusError(
        .resourceLimit, "the gallery has \(entries.count) embeddings, the most that there can be")
    }
    entries.append(Entry(name: name, values: embedding.values))
    entryByteCount += Self.byteCount(name, count)
  }

  /// Removes all embeddings with a name; returns how many there were.
  @discardableResult
  public mutating func remove(_ name: String) -> Int {
    let before = entries.count
    entries.removeAll { $0.name == name }
    let count = before - entries.count
    entryByteCount = dimension.map { entryByteCount - count * Self.byteCount(name, $0) } ?? 0
    return count
  }

  // MARK: Search

  /// The nearest known embeddings, nearest first; equal distances in the order of adding.
  ///
  /// - Parameters:
  ///   - embedding: The new one; one with another number of coordinates, with one that is not finite, or with zeros alone has no neighbors.
  ///   - k: The maximum number of matches.
  ///   - limit: The maximum distance of a match with a name; nil for no limit, so that a stranger gets the nearest name, however far it is.
  public func nearest(to embedding: Embedding, k: Int = 1, distance limit: Double? = nil) -> [Match] {
    guard k > 0, !embedding.isZero else { return [] }
    // The nearest so far, in order. Where there are many, all are sorted at the end of each stretch.
    var nearest: [(place: Int, distance: Double)] = []
    func keep() {
      nearest.sort { $0.distance < $1.distance || $0.distance == $1.distance && $0.place < $1.place }
      if nearest.count > k { nearest.removeSubrange(k...) }
    }
    let most = k > 1 << 20 ? .max : max(2 * k, 256)
    for (place, entry) in entries.enumerated() {
      let known = Embedding(entry.values)
      // Files may have embeddings of zeros, which no longer can be added.
      guard let distance = known.euclideanDistance(to: embedding), distance.isFinite, !known.isZero else {
        continue
      }
      nearest.append((place, distance))
      if nearest.count >= most { keep() }
    }
    keep()
    return nearest.map { place, distance in
      let isKnown = limit.map { distance <= $0 } ?? true
      return Match(name: isKnown ? entries[place].name : nil, distance: distance)
    }
  }

  /// The nearest names, nearest first, each once with its nearest embedding; or the nearest embedding without its name, if none is near
  /// enough.
  ///
  /// - Parameters:
  ///   - embedding: The new one.
  ///   - k: The maximum number of names.
  ///   - limit: The maximum distance of a name; nil for no limit.
  package func nearestNames(to embedding: Embedding, k: Int, distance limit: Double?) -> [Match] {
    var seen: Set<String?> = []
    let matches = nearest(to: embedding, k: k > 1 ? entries.count : k, distance: limit).filter {
      seen.insert($0.name).inserted
    }
    let known = matches.filter { $0.name != nil }
    return Array((known.isEmpty ? matches : known).prefix(k))
  }

  /// The most frequent name among the `k` nearest, or on a tie the nearest one's; nil if none is near enough.
  ///
  /// - Parameters:
  ///   - embedding: The new one.
  ///   - k: The number of neighbors that vote.
  ///   - distance: The maximum distance of a neighbor; nil for no limit, so that every stranger gets a name. Measure it with faces of
  ///     strangers: it depends on the model.
  public func name(of embedding: Embedding, k: Int = 1, distance: Double? = nil) -> String? {
    let matches = nearest(to: embedding, k: k, distance: distance)
    var votes: [String: Int] = [:]
    for match in matches { if let name = match.name { votes[name, default: 0] += 1 } }
    let most = votes.values.max() ?? 0
    return matches.lazy.compactMap(\.name).first { votes[$0] == most }
  }

  // MARK: Files

  /// The gallery as the bytes of a file, with a checksum at the end.
  public var bytes: [UInt8] {
    var bytes = preparation == nil ? Self.magic : Self.magicWithPreparation
    func append(_ value: UInt32, to bytes: inout [UInt8]) {
      for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
    func append(_ text: String, to bytes: inout [UInt8]) {
      append(UInt32(text.utf8.count), to: &bytes)
      bytes += Array(text.utf8)
    }
    if let preparation {
      append(String(decoding: preparation.utf8.prefix(Self.maximumNameLength), as: UTF8.self), to: &bytes)
    }
    append(UInt32(dimension ?? 0), to: &bytes)
    append(UInt32(entries.count), to: &bytes)
    for entry in entries {
      append(entry.name, to: &bytes)
      for value in entry.values { append(value.bitPattern, to: &bytes) }
    }
    append(CRC32.checksum(bytes), to: &bytes)
    return bytes
  }

  /// Reads a gallery from the bytes of a file.
  ///
  /// - Throws: `malformedGallery` with the place of the damage, or `resourceLimit` for too many entries.
  public init(bytes: [UInt8]) throws(ApusError) {
    let isPrepared = bytes.starts(with: Self.magicWithPreparation)
    guard isPrepared || bytes.starts(with: Self.magic), bytes.count >= Self.magic.count + 12 else {
      throw ApusError(.malformedGallery, "\(bytes.count) bytes are not a gallery")
    }
    let end = bytes.count - 4
    func number(_ offset: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
    }
    let found = CRC32.checksum(Array(bytes[..<end]))
    guard found == number(end) else {
      throw ApusError(.malformedGallery, "the checksum is \(found), not \(number(end))")
    }
    var position = Self.magic.count
    if isPrepared {
      let length = Int(number(position))
      guard length <= 2 * Self.maximumNameLength, position + 4 + length + 8 <= end else {
        throw ApusError(.malformedGallery, "the preparation of pictures ends outside the file")
      }
      preparation = String(decoding: bytes[position + 4..<position + 4 + length], as: UTF8.self)
      position += 4 + length
    }
    let (dimension, count) = (Int(number(position)), Int(number(position + 4)))
    guard dimension <= Self.maximumDimension else {
      throw ApusError(
        .malformedGallery, "embeddings have \(dimension) coordinates, at most \(Self.maximumDimension)")
    }
    guard count <= Self.maximumEntryCount else {
      throw ApusError(
        .resourceLimit, "the gallery has \(count) entries, at most \(Self.maximumEntryCount)")
    }
    position += 8
    for index in 0..<count {
      guard position <= end - 4 else {
        throw ApusError(.malformedGallery, "entry \(index): begins outside the file")
      }
      let length = Int(number(position))
      guard length <= Self.maximumNameLength, position + 4 + length + 4 * dimension <= end else {
        throw ApusError(.malformedGallery, "entry \(index): ends outside the file")
      }
      let name = String(decoding: bytes[position + 4..<position + 4 + length], as: UTF8.self)
      position += 4 + length
      let values = (0..<dimension).map { Float(bitPattern: number(position + 4 * $0)) }
      position += 4 * dimension
      do { try insert(name, Embedding(values)) } catch {
        throw ApusError(.malformedGallery, "entry \(index): \(error.message)")
      }
    }
    guard position == end else {
      throw ApusError(.malformedGallery, "\(end - position) bytes follow the last entry")
    }
  }

  /// Reads a gallery from a file.
  ///
  /// - Throws: `unreadableFile`, `resourceLimit` for a file that is too long or has too many entries, or `malformedGallery`.
  public init(contentsOfFile path: String) throws(ApusError) {
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    do { try self.init(bytes: bytes) } catch {
      throw ApusError(error.code, "the gallery '\(path)': \(error.message)")
    }
  }
}

extension ApusError.Code {
  /// A file of known embeddings is damaged.
  public static let malformedGallery = ApusError.Code(rawValue: "malformedGallery")
}
