// SPDX-License-Identifier: Apache-2.0
import Apus

/// Filters, one after the other.
///
/// ```swift
/// let reveal: FilterChain = [
///   .prewitt(strength: 0.7), .closing(radius: 1), .inversion, .gaussianBlur(radius: 1), .erosion(radius: 1),
/// ]
/// let shapes = try detector.detect(reveal.apply(picture))
/// ```
///
/// Add filters of your own with ``append(_:)`` or ``init(_:)``. A chain is itself a filter.
public struct FilterChain: ImageFilter {
  /// The filters, in order.
  public private(set) var filters: [any ImageFilter]

  /// The maximum number of filters in a text.
  public static let maximumCount = 256

  /// Makes a chain from filters of this library or your own.
  public init(_ filters: [any ImageFilter] = []) { self.filters = filters }

  /// Adds a filter at the end.
  public mutating func append(_ filter: some ImageFilter) { filters.append(filter) }

  /// The picture after all filters; without any, the picture itself.
  public func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer {
    try apply(image) { () throws(ApusError) in }
  }

  /// The picture after all filters; `checkTime` is called before each filter, and often within those of this
  /// library.
  package func apply(
    _ image: ImageBuffer, checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    var image = image
    for filter in filters {
      try checkTime()
      if let standard = filter as? StandardFilter {
        image = try standard.apply(image, checkTime)
      } else {
        image = try filter.apply(image)
      }
    }
    return image
  }
}

extension FilterChain: ExpressibleByArrayLiteral {
  /// Makes a chain from this library's filters.
  public init(arrayLiteral elements: StandardFilter...) { self.init(elements) }
}

extension FilterChain {
  /// Reads a chain from text, such as `prewitt:0.7,closing:1,invert,gaussian:1,erosion:1`.
  ///
  /// Filters are `prewitt` and `sobel` with a strength and perhaps `luminance`, `erosion`, `dilation` and `closing` with a radius,
  /// `invert`, and `gaussian` with a radius. A number that is left out is 1.
  ///
  /// - Throws: `invalidArgument` with the filter that is not understood.
  public init(parsing text: String) throws(ApusError) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= Self.maximumCount else {
      throw ApusError(.invalidArgument, "the chain has \(parts.count) filters, at most \(Self.maximumCount)")
    }
    self.init()
    for part in parts { append(try StandardFilter(parsing: part)) }
  }
}

extension StandardFilter {
  /// Reads a filter with its parameters.
  init(parsing text: Substring) throws(ApusError) {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
    func failure(_ expected: String) -> ApusError {
      ApusError(.invalidArgument, "the filter '\(text)' is not \(expected)")
    }
    func number(upTo count: Int) throws(ApusError) -> Double {
      guard fields.count <= count else { throw failure("a name and \(count - 1) of its parameters at most") }
      guard fields.count > 1 else { return 1 }
      guard let value = Double(fields[1]), value >= 0, value.isFinite else {
        throw failure("a name, a colon and a number from 0 on")
      }
      return value
    }
    func radius() throws(ApusError) -> Int {
      guard let radius = Int(exactly: try number(upTo: 2)) else { throw failure("one with a whole radius") }
      return radius
    }
    func source() throws(ApusError) -> EdgeSource {
      guard fields.count > 2 else { return .red }
      guard let source = EdgeSource(rawValue: fields[2]) else { throw failure("one of red or luminance") }
      return source
    }
    switch fields[0] {
    case "prewitt": self = .prewitt(strength: try number(upTo: 3), of: try source())
    case "sobel": self = .sobel(strength: try number(upTo: 3), of: try source())
    case "erosion": self = .erosion(radius: try radius())
    case "dilation": self = .dilation(radius: try radius())
    case "closing": self = .closing(radius: try radius())
    case "invert":
      guard fields.count == 1 else { throw failure("'invert' alone") }
      self = .inversion
    case "gaussian": self = .gaussianBlur(radius: try number(upTo: 2))
    default:
      throw failure("prewitt, sobel, erosion, dilation, closing, invert or gaussian")
    }
    try check()
  }
}
