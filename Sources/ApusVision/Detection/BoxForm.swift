// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The meaning and the order of the four numbers of a box.
struct BoxForm: Hashable, Sendable {
  /// The order of the operator `TFLite_Detection_PostProcess`.
  static let topLeftBottomRight = BoxForm(kind: .boundaries, places: [1, 0, 3, 2])

  /// The order that boxes in pixels usually have.
  static let leftTopRightBottom = BoxForm(kind: .boundaries, places: [0, 1, 2, 3])

  private let kind: TensorMetadata.BoundingBoxProperties.Kind
  /// Where the numbers of the kind stand, in the kind's order; see `TensorMetadata.BoundingBoxProperties.Kind`.
  private let places: [Int]

  private init(kind: TensorMetadata.BoundingBoxProperties.Kind, places: [Int]) {
    self.kind = kind
    self.places = places
  }

  /// The form of an order by name.
  init(_ order: BoxOrder) {
    self =
      switch order {
      case .ltrb: .leftTopRightBottom
      case .tlbr: .topLeftBottomRight
      case .xywh: BoxForm(kind: .upperLeft, places: [0, 1, 2, 3])
      case .cxcywh: BoxForm(kind: .center, places: [0, 1, 2, 3])
      }
  }

  /// Reads what the metadata says.
  ///
  /// - Parameters:
  ///   - properties: What the metadata says about boxes; nil for nothing.
  ///   - isOfOperator: Whether the operator `TFLite_Detection_PostProcess` gives the boxes.
  /// - Throws: `invalidArgument` for places that are not 0 to 3, each once, and for a kind that the operator does not give.
  init(_ properties: TensorMetadata.BoundingBoxProperties?, isOfOperator: Bool) throws(ApusError) {
    guard let properties else {
      self = .topLeftBottomRight
      return
    }
    let index = properties.index
    guard index.isEmpty || index.sorted() == [0, 1, 2, 3] else {
      throw ApusError(
        .invalidArgument,
        "the metadata gives the numbers of a box the places \(index.map(String.init).joined(separator: ", ")), not 0 to 3, each once"
      )
    }
    switch properties.type {
    case .unknown where index.isEmpty: self = .topLeftBottomRight
    case .unknown, .boundaries:
      // Without places, the operator's order is its own, and others have that of the kind.
      self =
        index.isEmpty && isOfOperator
        ? .topLeftBottomRight : BoxForm(kind: .boundaries, places: index.isEmpty ? [0, 1, 2, 3] : index)
    case .upperLeft, .center:
      guard !isOfOperator else {
        throw ApusError(
          .invalidArgument,
          """
          the metadata says that boxes are \(Self.names(properties.type).joined(separator: ", ")), but the operator \
          TFLite_Detection_PostProcess gives their edges: the metadata's type of boxes must be BOUNDARIES
          """)
      }
      self = BoxForm(kind: properties.type, places: index.isEmpty ? [0, 1, 2, 3] : index)
    }
  }

  private static func names(_ kind: TensorMetadata.BoundingBoxProperties.Kind) -> [String] {
    switch kind {
    case .unknown, .boundaries: ["left", "top", "right", "bottom"]
    case .upperLeft: ["left", "top", "width", "height"]
    case .center: ["center x", "center y", "width", "height"]
    }
  }

  /// The numbers' names, in their order.
  var names: [String] {
    zip(places, Self.names(kind)).sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The box of four numbers.
  func box(_ numbers: ArraySlice<Float>) -> BoundingBox {
    let start = numbers.startIndex
    let (x, y) = (numbers[start + places[0]], numbers[start + places[1]])
    let (third, fourth) = (numbers[start + places[2]], numbers[start + places[3]])
    return switch kind {
    case .unknown, .boundaries: BoundingBox(minX: x, minY: y, maxX: third, maxY: fourth)
    case .upperLeft: BoundingBox(minX: x, minY: y, maxX: x + third, maxY: y + fourth)
    case .center:
      BoundingBox(minX: x - third / 2, minY: y - fourth / 2, maxX: x + third / 2, maxY: y + fourth / 2)
    }
  }
}
