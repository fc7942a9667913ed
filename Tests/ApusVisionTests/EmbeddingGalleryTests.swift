// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

@Suite struct EmbeddingGalleryTests {
  private func gallery() throws -> EmbeddingGallery {
    var gallery = EmbeddingGallery()
    try gallery.add("Ada", Embedding([1, 0]))
    try gallery.add("Grace", Embedding([0, 1]))
    try gallery.add("Ada", Embedding([0.8, 0.6]))
    return gallery
  }

  @Test("the nearest come first, and beyond the distance nobody is known")
  func findsTheNearest() throws {
    let gallery = try gallery()
    let query = Embedding([0.9, 0])
    let found = gallery.nearest(to: query, k: 5)
    #expect(found.map(\.name) == ["Ada", "Ada", "Grace"])
    // 0.1, √(0.01 + 0.36) and √(0.81 + 1), in the floats' precision.
    for (match, distance) in zip(found, [0.1, 0.6082762, 1.3453624]) {
      #expect(abs(match.distance - distance) < 1e-6)
    }
    #expect(gallery.nearest(to: query, k: 3, distance: 0.5).map(\.name) == ["Ada", nil, nil])
    #expect(gallery.nearest(to: query, k: 0).isEmpty && gallery.nearest(to: Embedding([1])).isEmpty)
    #expect(gallery.name(of: Embedding([0.2, 0.9]), k: 1) == "Grace")
    #expect(gallery.name(of: Embedding([0.2, 0.9]), k: 3) == "Ada")
    #expect(gallery.name(of: Embedding([-1, -1]), k: 3, distance: 0.5) == nil)
    #expect(EmbeddingGallery().name(of: query) == nil)
  }

  @Test("each name is found once, the nearest first")
  func findsNamesOnce() throws {
    let (gallery, query) = (try gallery(), Embedding([0.9, 0]))
    let found = gallery.nearestNames(to: query, k: 3, distance: nil)
    #expect(found.map(\.name) == ["Ada", "Grace"] && abs((found.first?.distance ?? 1) - 0.1) < 1e-6)
    #expect(gallery.nearestNames(to: query, k: 1, distance: nil).map(\.name) == ["Ada"])
    #expect(gallery.nearestNames(to: query, k: 3, distance: 0.5).map(\.name) == ["Ada"])
    // No name is near enough: one unknown, at the nearest distance.
    #expect(
      gallery.nearestNames(to: query, k: 3, distance: 0.01) == gallery.nearest(to: query, distance: 0.01))
    #expect(EmbeddingGallery().nearestNames(to: query, k: 3, distance: nil).isEmpty)
  }

  @Test("a gallery does not grow beyond what can be read")
  func staysReadable() throws {
    var gallery = EmbeddingGallery()
    // The entries share their coordinates.
    let embedding = Embedding([Float](repeating: 0.5, count: EmbeddingGallery.maximumDimension))
    let most = (EmbeddingGallery.maximumFileSize - 4096) / (4 * EmbeddingGallery.maximumDimension + 4 + 3)
    for _ in 0..<most { try gallery.add("Ada", embedding) }
    let error = #expect(throws: ApusError.self) { try gallery.add("Ada", embedding) }
    #expect(error?.code == .resourceLimit)
    #expect(gallery.remove("Ada") == most)
    try gallery.add("Grace", embedding)
  }

  @Test("the name that results give to strangers is nobody's")
  func refusesUnknown() throws {
    var gallery = EmbeddingGallery()
    #expect(throws: ApusError.self) { try gallery.add("unknown", Embedding([1, 0])) }
    #expect(gallery.entries.isEmpty)
    try gallery.add("Unknown", Embedding([1, 0]))
  }

  @Test("names come and go")
  func addsAndRemoves() throws {
    var gallery = try gallery()
    #expect(gallery.names == ["Ada", "Grace"] && gallery.dimension == 2)
    #expect(gallery.remove("Ada") == 2 && gallery.remove("Ada") == 0)
    #expect(gallery.names == ["Grace"])
    for (name, values) in [
      ("", [1, 0]), ("x", [1]), ("x", []), ("x", [.nan, 0]), ("x", [0, 0]), ("x", [0, -0.0]),
    ]
      as [(String, [Float])]
    {
      #expect(throws: ApusError.self) { try gallery.add(name, Embedding(values)) }
    }
    #expect(gallery.entries.count == 1)
  }

  @Test(
    "a file gives back what was saved; any damage is an error", arguments: [nil, "pixels unit, channels rgb"])
  func survivesDamage(preparation: String?) throws {
    var gallery = try gallery()
    gallery.preparation = preparation
    let bytes = gallery.bytes
    #expect(try EmbeddingGallery(bytes: bytes) == gallery)
    #expect(try EmbeddingGallery(bytes: EmbeddingGallery().bytes) == EmbeddingGallery())
    for length in bytes.indices {
      #expect(throws: ApusError.self) { try EmbeddingGallery(bytes: Array(bytes[..<length])) }
    }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x10
      #expect(throws: ApusError.self) { try EmbeddingGallery(bytes: damaged) }
    }
  }

  @Test("zeros have no neighbors, and are none: former files may have them")
  func ignoresZeros() throws {
    var gallery = EmbeddingGallery()
    try gallery.add("Ada", Embedding([1, 0]))
    #expect(gallery.nearest(to: Embedding([0, 0])).isEmpty && gallery.name(of: Embedding([0, 0])) == nil)
    // The coordinates are the last numbers before the checksum.
    var bytes = Array(gallery.bytes.dropLast(12)) + [UInt8](repeating: 0, count: 8)
    let checksum = bytes.crc32
    bytes.appendLittleEndian(checksum)
    let former = try EmbeddingGallery(bytes: bytes)
    #expect(former.entries.map(\.values) == [[0, 0]] && former.nearest(to: Embedding([1, 0])).isEmpty)
    #expect(try former.check(dimension: 2, preparation: "any")?.contains("zero") == true)
    #expect(try gallery.check(dimension: 2, preparation: "any") == nil)
  }

  @Test("embeddings of other models and other things are refused, those of other readings warned of")
  func comparesPreparations() throws {
    var gallery = try gallery()
    let (own, hands) = ("pixels unit, whole pictures, model 0123", LandmarkClassifier.preparation)
    for (known, new, message) in [
      (nil, own, nil), (own, own, nil), ("pixels unit, whole pictures", own, nil), (hands, hands, nil),
      ("pixels unit, whole pictures, model 4567", own, "SHA-256 begins with 4567, not 0123"),
      (hands, own, "made with 'hand landmarks"), (own, hands, "not with 'hand landmarks"),
    ] as [(String?, String, String?)] {
      gallery.preparation = known
      if let message {
        let error = #expect(throws: ApusError.self) { try gallery.check(dimension: 2, preparation: new) }
        #expect(error?.code == .invalidArgument && error?.message.contains(message) == true)
      } else {
        #expect(try gallery.check(dimension: 2, preparation: new) == nil)
      }
      let error = #expect(throws: ApusError.self) { try gallery.check(dimension: 3, preparation: new) }
      #expect(error?.message.hasPrefix("the embeddings have 2 coordinates, but the model gives 3") == true)
    }
    gallery.preparation = "pixels signed, whole pictures, model 0123"
    #expect(try gallery.check(dimension: 2, preparation: own)?.contains("pixels signed") == true)
    #expect(try EmbeddingGallery().check(dimension: 2, preparation: own) == nil)
  }

  @Test("a preparation names the model by its file, whether that is in memory or read in parts")
  func namesTheModel() throws {
    let bytes = DetectorModel.answering([.rows([Float](repeating: 1, count: 100_000))]).bytes
    let path = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID().uuidString)").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let expected = "whole pictures, model \(try fileSHA256(path).prefix(16))"
    for model in [try Model(bytes: bytes), try Model(contentsOfFile: path)] {
      let embedder = try ImageEmbedder(model: model)
      #expect(try embedder.preparation().hasSuffix(expected))
      #expect(try embedder.preparation(alignsFaces: true).contains(", aligned faces, model "))
    }
  }
}
