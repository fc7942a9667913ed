// SPDX-License-Identifier: Apache-2.0
import ApusFormat

/// A face in MediaPipe's message `GeometryPipelineMetadata`: its mesh, and the weights of its points.
struct GeometryMetadata {
  /// For which points it is.
  enum Source: UInt64 {
    case standard, mesh, detector
  }

  /// A point of the mesh with its weight.
  struct Reference {
    var index: UInt64 = 0
    var weight: Float = 0
  }

  /// How many numbers a point has: x, y, z, and its place in a texture.
  static let vertexLength = 5

  private(set) var source = Source.standard
  private(set) var vertices: [Float] = []
  private(set) var references: [Reference] = []

  /// Reads the message.
  init(_ bytes: ArraySlice<UInt8>) throws(FormatError) {
    var fields = ProtobufFields(bytes)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let mesh)): try readMesh(mesh)
      case (2, .bytes(let reference)): try readReference(reference)
      case (3, .varint(let value)):
        guard let source = Source(rawValue: value) else {
          throw FormatError("the source of points is \(value), not 0 to 2")
        }
        self.source = source
      default: break
      }
    }
  }

  private mutating func readMesh(_ bytes: ArraySlice<UInt8>) throws(FormatError) {
    var fields = ProtobufFields(bytes)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (1, .varint(let kind)):
        guard kind == 0 else { throw FormatError("the mesh has vertices of kind \(kind), not 0") }
      case (3, .fixed32(let bits)): vertices.append(Float(bitPattern: bits))
      case (3, .bytes(let packed)):
        guard packed.count.isMultiple(of: 4) else {
          throw FormatError("the mesh has vertices of \(packed.count) bytes, not a multiple of 4")
        }
        for first in stride(from: packed.startIndex, to: packed.endIndex, by: 4) {
          let bits = packed[first..<first + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
          vertices.append(Float(bitPattern: bits))
        }
      default: break
      }
    }
  }

  private mutating func readReference(_ bytes: ArraySlice<UInt8>) throws(FormatError) {
    var fields = ProtobufFields(bytes)
    var reference = Reference()
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (1, .varint(let index)): reference.index = index
      case (2, .fixed32(let bits)): reference.weight = Float(bitPattern: bits)
      default: break
      }
    }
    references.append(reference)
  }
}
