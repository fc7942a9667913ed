// SPDX-License-Identifier: Apache-2.0

/// Decisions taken from bytes; zeros once they are used up.
struct ByteSource {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  /// A number below `count`.
  mutating func below(_ count: Int) -> Int { count <= 1 ? 0 : Int(byte()) % count }

  mutating func int32() -> Int32 {
    (0..<4).reduce(0) { sum, shift in sum | Int32(byte()) << Int32(8 * shift) }
  }

  /// A number that is mostly small, sometimes at an edge, seldom anything.
  mutating func number() -> Int32 {
    let choice = byte()
    switch choice {
    case 0..<200: return Int32(choice % 10)
    case 200..<215: return -Int32(choice - 199)
    case 215..<240: return Int32(1) << Int32(choice - 212)
    case 240: return .max
    case 241: return .min
    case 242: return .max - 1
    default: return int32()
    }
  }

  mutating func float() -> Float {
    let choice = byte()
    let edges: [Float] = [0, -0.0, 1, -1, .nan, .infinity, -.infinity, 1e-38, 1e38, .leastNonzeroMagnitude]
    if Int(choice) < edges.count { return edges[Int(choice)] }
    return choice < 240 ? Float(choice) / 64 : Float(bitPattern: UInt32(bitPattern: int32()))
  }

  mutating func rest(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
}
