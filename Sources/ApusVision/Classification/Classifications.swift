// SPDX-License-Identifier: Apache-2.0

/// The classes that one output of a classifier names for a picture.
public struct Classifications: Hashable, Sendable {
  /// What to make of a picture's best class.
  public enum Decision: Hashable, Sendable {
    /// The best class is sure enough.
    case category(Category)
    /// There are classes, but none is sure enough.
    case notSure
    /// There is no class at all.
    case nothing

    /// The class's name, `not sure` or `nothing`.
    public var text: String {
      switch self {
      case .category(let category): category.name
      case .notSure: "not sure"
      case .nothing: "nothing"
      }
    }
  }

  /// Which of the heads it is, from 0.
  public var headIndex: Int
  /// The head's name, from the metadata or the tensor.
  public var headName: String
  /// The classes, best first; equal scores by their index.
  public var categories: [Category]

  /// Makes the classes of a head.
  public init(headIndex: Int = 0, headName: String = "", categories: [Category]) {
    self.headIndex = headIndex
    self.headName = headName
    self.categories = categories
  }

  /// The best class, if it is at least that sure.
  public func decision(threshold: Float) -> Decision {
    guard let best = categories.first else { return .nothing }
    return best.score >= threshold ? .category(best) : .notSure
  }
}
