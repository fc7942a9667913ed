// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

/// Matrices of heads, against the rule in NumPy, which agrees with MediaPipe's matrices within 5e-5.
@Suite struct FaceGeometryTests {
  /// A field of a message: a number and bytes.
  private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    var length = bytes.count
    var result = [number << 3 | 2]
    while length >= 0x80 {
      result.append(UInt8(length & 0x7F) | 0x80)
      length >>= 7
    }
    return result + [UInt8(length)] + bytes
  }

  private static func float(_ number: UInt8, _ value: Float) -> [UInt8] {
    [number << 3 | 5] + (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
  }

  private static func vertices(_ places: [Float]) -> [Float] {
    let texture: [Float] = [0.5, 0.25]
    return stride(from: 0, to: places.count, by: 3).flatMap { places[$0..<$0 + 3] + texture }
  }

  /// The metadata of a geometry, each coordinate a field of its own or all packed into one.
  private static func metadata(
    _ places: [Float], _ weights: [(index: Int, weight: Float)], isPacked: Bool = false, source: UInt8 = 1
  ) -> [UInt8] {
    let numbers = vertices(places)
    let packed: [UInt8] = numbers.flatMap { Array(float(0, $0).dropFirst()) }
    let buffer: [UInt8] = isPacked ? field(3, packed) : numbers.flatMap { float(3, $0) }
    let kinds: [UInt8] = [1 << 3, 0, 2 << 3, 0]
    let triangles: [UInt8] = [4 << 3, 7]
    var bytes = field(1, kinds + buffer + triangles)
    for weight in weights {
      let index: [UInt8] = [1 << 3, UInt8(weight.index)]
      bytes += field(2, index + float(2, weight.weight))
    }
    return bytes + [3 << 3, source]
  }

  /// The metadata of a golden's face.
  static func metadata(_ golden: LandmarkGolden, isPacked: Bool = false) throws -> [UInt8] {
    let weights = zip(try #require(golden.rows), try #require(golden.logits)).map { (index: $0, weight: $1) }
    return metadata(try #require(golden.worldPoints), weights, isPacked: isPacked)
  }

  private func landmarks(_ values: [Float]) -> [Landmark] {
    stride(from: 0, to: values.count, by: 3).map {
      Landmark(x: values[$0], y: values[$0 + 1], z: values[$0 + 2])
    }
  }

  @Test("a head is where the rule says", arguments: LandmarkGolden.of("geometry"))
  func findsHeads(golden: LandmarkGolden) throws {
    let picture = try #require(golden.picture)
    for isPacked in [false, true] {
      let geometry = try FaceGeometry(bytes: Self.metadata(golden, isPacked: isPacked))
      #expect(geometry.pointCount == 12)
      let points = landmarks(try #require(golden.points))
      let matrix = try #require(
        geometry.matrix(of: points, imageWidth: picture[0], imageHeight: picture[1]))
      #expect(agree(matrix, try #require(golden.matrix), within: 1e-4))
    }
  }

  @Test("there are cases")
  func hasCases() { #expect(LandmarkGolden.of("geometry").count == 3) }

  @Test("points without the extent of a face have no matrix")
  func refusesPoints() throws {
    let golden = try #require(LandmarkGolden.of("geometry").first)
    let geometry = try FaceGeometry(bytes: Self.metadata(golden))
    let points = landmarks(try #require(golden.points))
    func matrix(_ points: [Landmark], _ width: Int = 640, _ height: Int = 480) -> [Float]? {
      geometry.matrix(of: points, imageWidth: width, imageHeight: height)
    }
    #expect(matrix(points) != nil)
    #expect(matrix(Array(points.dropLast())) == nil)
    #expect(matrix(points, 0, 480) == nil && matrix(points, 640, 0) == nil)
    #expect(matrix([Landmark](repeating: points[0], count: 12)) == nil)
    for odd in [Float.nan, .infinity, -.infinity] {
      var others = points
      others[2].y = odd
      #expect(matrix(others) == nil)
    }
    _ = matrix(points.map { Landmark(x: $0.x * 1e30, y: $0.y * 1e30, z: $0.z * 1e30) })
  }

  @Test("metadata that is not that of a face is refused")
  func refusesMetadata() throws {
    let places = (0..<12).map { Float($0 * $0 % 7) }
    let good = Self.metadata(places, [(0, 1), (1, 1), (2, 1)])
    _ = try FaceGeometry(bytes: good)
    var bad: [[UInt8]] = [[], [0xFF], Array("a text".utf8), Self.metadata([], []), Self.metadata(places, [])]
    let weights: [[(index: Int, weight: Float)]] = [
      [(0, 1), (1, 1)], [(0, 1), (1, 1), (9, 1)], [(0, 1), (1, 1), (2, -1)], [(0, 1), (1, 1), (2, .nan)],
      [(0, 0), (1, 0), (2, 0)],
    ]
    bad += weights.map { Self.metadata(places, $0) }
    bad += [UInt8(2), 9].map { Self.metadata(places, [(0, 1), (1, 1), (2, 1)], source: $0) }
    var odd = places
    odd[9] = .nan
    bad.append(Self.metadata(odd, [(0, 1), (1, 1), (2, 1)]))
    for bytes in bad {
      let error = #expect(throws: ApusError.self) { try FaceGeometry(bytes: bytes) }
      #expect(error?.code == .malformedModel && error?.message.contains("the face geometry") == true)
    }
    // Cut off or changed anywhere, it is an error or other numbers, never a trap.
    for place in good.indices {
      _ = try? FaceGeometry(bytes: Array(good.prefix(place)))
      var changed = good
      changed[place] ^= 0x5D
      let geometry = try? FaceGeometry(bytes: changed)
      _ = geometry?.matrix(of: landmarks(places + places), imageWidth: 640, imageHeight: 480)
    }
  }
}
