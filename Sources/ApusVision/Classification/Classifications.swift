// SPDX-License-Identifier: Apache-2.0

/// The classes that one output of a classifier names for a picture.
public struct Classifications: Hashable, Sendable {
  /// A decision about a picture's best class.
  public enum Decision: Hashable, Sendable {
    /// The best class, whose score is high enough.
    case category(Category)
    /// No class has a score that is high enough.
    case notSure
    /// There are no classes.
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

  /// The head's position, from 0.
  public var headIndex: Int
  /// The head's name, from the metadata or the tensor.
  public var headName: String
  /// The classes, best first; equal scores by index.
  public var categories: [Category]

  /// Makes the classes of a head.
  public init(headIndex: Int = 0, headName: String = "", categories: [Category]) {
    self.headIndex = headIndex
    self.headName = headName
    self.categories = categories
  }

  /// The best class, if it has at least this score.
  public func decision(threshold: Float) -> Decision {
    guard let best = categories.first else { return .nothing }
    return best.score >= threshold ? .category(best) : .notSure
  }
}
