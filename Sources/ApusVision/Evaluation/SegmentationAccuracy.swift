// SPDX-License-Identifier: Apache-2.0

import Apus

/// How well masks agree: intersection over union of each class, and the mean over classes.
///
/// ```swift
/// var accuracy = SegmentationAccuracy(classCount: 21)
/// try accuracy.add(truth: mask.indices, prediction: result.categoryMask)
/// accuracy.meanIntersectionOverUnion
/// ```
///
/// Counts of pixels are summed over all pictures before they are divided. Pixels whose truth is ``ignoredClass`` do not count. The mean is
/// over the classes that the truth or a prediction has, as in scikit-learn's `jaccard_score`. Source: Everingham et al.,
/// "The PASCAL Visual Object Classes Challenge: A Retrospective", IJCV 111 (2015).
public struct SegmentationAccuracy: Hashable, Sendable {
  /// How many classes there are.
  public let classCount: Int
  /// The value in masks that stands for no class; nil for none.
  public let ignoredClass: Int?
  /// How many pixels of each class were taken for each class.
  public private(set) var confusions = ConfusionCounts()
  private var truthCounts: [Int: Int] = [:]
  private var foundCounts: [Int: Int] = [:]

  /// Makes the accuracy of no pictures.
  ///
  /// - Parameters:
  ///   - classCount: How many classes there are.
  ///   - ignoredClass: The value in masks that stands for no class, 255 in PASCAL VOC and Cityscapes; nil for none.
  public init(classCount: Int, ignoredClass: Int? = 255) {
    self.classCount = classCount
    self.ignoredClass = ignoredClass
  }

  /// Counts the pixels of a picture.
  ///
  /// - Parameters:
  ///   - truth: The class of each pixel, row by row.
  ///   - prediction: The class that the model found for each pixel, in the same order.
  /// - Throws: `invalidData` if the masks differ in size, or one has a class that there is not.
  public mutating func add(truth: [UInt16], prediction: [UInt16]) throws(ApusError) {
    try add(Self.counts(truth, prediction, classCount: classCount, ignoredClass: ignoredClass))
  }

  /// Adds the counts of a picture.
  ///
  /// - Throws: `invalidData` for a class that there is not, or a count that no picture has.
  package mutating func add(_ counts: ConfusionCounts) throws(ApusError) {
    for entry in counts.entries {
      guard (0..<classCount).contains(entry.truth), (0..<classCount).contains(entry.found),
        (0...ImageBuffer.maximumPixelCount).contains(entry.count)
      else {
        throw ApusError(
          .invalidData,
          "\(entry.count) pixels of class \(entry.truth) are taken for class \(entry.found), but classes are 0 to \(classCount - 1)"
        )
      }
    }
    for entry in counts.entries {
      truthCounts[entry.truth, default: 0] += entry.count
      foundCounts[entry.found, default: 0] += entry.count
    }
    confusions.add(counts)
  }

  /// How many pixels of each class of a picture were taken for each class.
  package static func counts(
    _ truth: [UInt16], _ prediction: [UInt16], classCount: Int, ignoredClass: Int?
  ) throws(ApusError) -> ConfusionCounts {
    guard truth.count == prediction.count else {
      throw ApusError(
        .invalidData,
        "the mask has \(truth.count) pixels, but the truth is about \(prediction.count); they must have the same size"
      )
    }
    var counts = ConfusionCounts()
    var start = 0
    // Neighbors mostly have the same classes.
    while start < truth.count {
      var end = start + 1
      while end < truth.count, truth[end] == truth[start], prediction[end] == prediction[start] { end += 1 }
      let (expected, found) = (Int(truth[start]), Int(prediction[start]))
      if expected != ignoredClass {
        guard expected < classCount else {
          throw ApusError(
            .invalidData,
            "pixel \(start) of the truth has the class \(expected), but the model's classes are 0 to \(classCount - 1)"
              + (ignoredClass.map { " (\($0) is ignored)" } ?? ""))
        }
        guard found < classCount else {
          throw ApusError(
            .invalidData,
            "pixel \(start) of the prediction has the class \(found), not 0 to \(classCount - 1)")
        }
        counts.add(truth: expected, found: found, count: end - start)
      }
      start = end
    }
    return counts
  }

  /// The classes that the truth or a prediction has, in order.
  public var classes: [Int] { Set(truthCounts.keys).union(foundCounts.keys).sorted() }

  /// How many pixels count.
  public var pixelCount: Int { truthCounts.values.reduce(0, +) }

  /// How many pixels of a class the truth has.
  public func truthCount(of index: Int) -> Int { truthCounts[index] ?? 0 }

  /// The pixels of a class in both masks as a share of those in either, from 0 to 1; nil if neither has any.
  public func intersectionOverUnion(of index: Int) -> Double? {
    let both = confusions.count(truth: index, found: index)
    let either = truthCounts[index, default: 0] + foundCounts[index, default: 0] - both
    return either > 0 ? Double(both) / Double(either) : nil
  }

  /// The mean of all classes that the truth or a prediction has, from 0 to 1; nil without pixels.
  public var meanIntersectionOverUnion: Double? {
    let values = classes.compactMap(intersectionOverUnion)
    return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }

  /// The share of pixels whose class was found, from 0 to 1; nil without pixels.
  public var pixelAccuracy: Double? {
    let right = classes.reduce(0) { $0 + confusions.count(truth: $1, found: $1) }
    return pixelCount > 0 ? Double(right) / Double(pixelCount) : nil
  }
}
