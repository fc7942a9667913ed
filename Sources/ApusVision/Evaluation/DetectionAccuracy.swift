// SPDX-License-Identifier: Apache-2.0

import Apus

/// Average precision and recall of a detector's boxes, as COCO defines them.
///
/// ```swift
/// let truth = try COCOTruth(contentsOfFile: "instances.json")
/// var accuracy = DetectionAccuracy(categories: truth.categories.map(\.id))
/// try accuracy.add(image: 139, truths: truth.truths(ofImage: 139), findings: found)
/// accuracy.summary.ap     // mAP@[.5:.95]
/// ```
///
/// A finding counts if its box overlaps that of an object of its category enough; each object counts once, and findings on crowds do not
/// count. At most a hundred findings of a category in a picture do, the best first. Every number is that of `COCOeval` of pycocotools.
/// Source: Lin et al., "Microsoft COCO: Common Objects in Context" (2014), and `cocoeval.py` of its API.
public struct DetectionAccuracy: Sendable {
  /// An upright rectangle in pixels, from the top left corner of the picture.
  public struct Box: Hashable, Sendable {
    /// The left edge.
    public var x: Double
    /// The top edge.
    public var y: Double
    /// The distance from the left to the right edge.
    public var width: Double
    /// The distance from the top to the bottom edge.
    public var height: Double

    /// Makes a box from its corner and size.
    public init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    /// The box of a detection.
    public init(_ rect: PixelRect) {
      self.init(x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
    }

    /// Width times height.
    public var area: Double { width * height }

    var isFinite: Bool { x.isFinite && y.isFinite && width.isFinite && height.isFinite }

    /// The overlap with an object's box as a share of both, or, for a crowd, as a share of this box.
    func overlap(with truth: Box, isCrowd: Bool) -> Double {
      let common = min(x + width, truth.x + truth.width) - max(x, truth.x)
      let rows = min(y + height, truth.y + truth.height) - max(y, truth.y)
      guard common > 0, rows > 0 else { return 0 }
      let both = common * rows
      return both / (isCrowd ? area : area + truth.area - both)
    }
  }

  /// An object that a picture has.
  public struct Truth: Hashable, Sendable {
    /// Its number in the file, 1 or more. pycocotools never counts an object of number 0 as found, and so does this.
    public var id: Int
    /// Its category.
    public var category: Int
    /// Where it is.
    public var box: Box
    /// The area in square pixels that decides whether it is small, medium or large: that of its outline, if the file has one.
    public var area: Double
    /// Whether it is a crowd: findings in it do not count, and it need not be found.
    public var isCrowd: Bool

    /// Makes an object; without an area, that of its box.
    public init(id: Int, category: Int, box: Box, area: Double? = nil, isCrowd: Bool = false) {
      (self.id, self.category, self.box, self.isCrowd) = (id, category, box, isCrowd)
      self.area = area ?? box.area
    }
  }

  /// A box that a detector found.
  public struct Finding: Hashable, Sendable {
    /// The category, as the truth counts it.
    public var category: Int
    /// Where it is.
    public var box: Box
    /// The detector's confidence.
    public var score: Double

    /// Makes a finding.
    public init(category: Int, box: Box, score: Double) {
      (self.category, self.box, self.score) = (category, box, score)
    }
  }

  /// The overlaps at which a finding counts: 0.5, 0.55, … 0.95.
  public static let overlaps: [Double] = {
    // The steps of NumPy's linspace.
    let step = (0.95 - 0.5) / 9
    return (0..<10).map { $0 == 9 ? 0.95 : 0.5 + Double($0) * step }
  }()
  /// The most objects of a picture.
  public static let maximumTruthCount = 1 << 14

  /// The categories that the mean is over, in order.
  public let categories: [Int]
  /// The results of each picture that has objects or findings of a category.
  private(set) var matches: [Int: [DetectionMatches]] = [:]
  private var images: Set<Int> = []

  /// Makes the accuracy of no pictures.
  ///
  /// - Parameter categories: The numbers of the categories that count. Those without objects are left out of means.
  public init(categories: [Int]) {
    self.categories = Set(categories).sorted()
    for category in categories { matches[category] = [] }
  }

  /// How many pictures were counted.
  public var imageCount: Int { images.count }

  /// Counts a picture.
  ///
  /// - Parameters:
  ///   - image: The picture's number. Among equal scores, findings in pictures with lower numbers come first.
  ///   - truths: The objects that it has.
  ///   - findings: What the detector found. Among equal scores, the order stays. Those of other categories do not count.
  /// - Throws: `invalidArgument` for a picture that was counted before; `invalidData` for an object of an unknown category, and for scores and
  ///   boxes that are not finite numbers; `resourceLimit` for too many objects.
  public mutating func add(image: Int, truths: [Truth], findings: [Finding]) throws(ApusError) {
    guard !images.contains(image) else {
      throw ApusError(.invalidArgument, "the image \(image) was counted already")
    }
    guard truths.count <= Self.maximumTruthCount else {
      throw ApusError(
        .resourceLimit,
        "the image \(image) has \(truths.count) objects, more than the limit of \(Self.maximumTruthCount)")
    }
    for truth in truths {
      guard matches[truth.category] != nil else {
        throw ApusError(
          .invalidData, "the object \(truth.id) of image \(image) has the unknown category \(truth.category)")
      }
      guard truth.box.isFinite, truth.area.isFinite else {
        throw ApusError(
          .invalidData, "the object \(truth.id) of image \(image) has a box or an area that is not finite")
      }
    }
    for (place, finding) in findings.enumerated() {
      guard finding.score.isFinite, finding.box.isFinite else {
        throw ApusError(
          .invalidData,
          "finding \(place) in image \(image) has a score or a box that is not finite: \(finding.score)")
      }
    }
    let found = Dictionary(grouping: findings, by: \.category)
    let expected = Dictionary(grouping: truths, by: \.category)
    for category in Set(found.keys).union(expected.keys) {
      matches[category]?.append(
        DetectionMatches(image: image, truths: expected[category] ?? [], findings: found[category] ?? []))
    }
    images.insert(image)
  }
}
