// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
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

  @Test("names come and go")
  func addsAndRemoves() throws {
    var gallery = try gallery()
    #expect(gallery.names == ["Ada", "Grace"] && gallery.dimension == 2)
    #expect(gallery.remove("Ada") == 2 && gallery.remove("Ada") == 0)
    #expect(gallery.names == ["Grace"])
    for (name, values) in [("", [1, 0]), ("x", [1]), ("x", []), ("x", [.nan, 0])] as [(String, [Float])] {
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
}
