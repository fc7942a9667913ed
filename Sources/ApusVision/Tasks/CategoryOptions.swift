// SPDX-License-Identifier: Apache-2.0

/// Options of a task that reports classes: those of ``ResultOptions`` are also its own.
public protocol CategoryOptions {
  /// Which classes to report, and how to name them.
  var resultOptions: ResultOptions { get set }
}

extension CategoryOptions {
  /// The minimum score, as in ``ResultOptions/scoreThreshold``.
  public var scoreThreshold: Float? {
    get { resultOptions.scoreThreshold }
    set { resultOptions.scoreThreshold = newValue }
  }

  /// The maximum number of detections or classes, as in ``ResultOptions/maxResults``.
  public var maxResults: Int? {
    get { resultOptions.maxResults }
    set { resultOptions.maxResults = newValue }
  }

  /// The only labels to report, as in ``ResultOptions/categoryAllowlist``.
  public var categoryAllowlist: [String] {
    get { resultOptions.categoryAllowlist }
    set { resultOptions.categoryAllowlist = newValue }
  }

  /// The labels to leave out, as in ``ResultOptions/categoryDenylist``.
  public var categoryDenylist: [String] {
    get { resultOptions.categoryDenylist }
    set { resultOptions.categoryDenylist = newValue }
  }

  /// The language of display names, as in ``ResultOptions/displayNamesLocale``.
  public var displayNamesLocale: String? {
    get { resultOptions.displayNamesLocale }
    set { resultOptions.displayNamesLocale = newValue }
  }

  /// How many label rows precede class 0, as in ``ResultOptions/labelOffset``.
  public var labelOffset: Int? {
    get { resultOptions.labelOffset }
    set { resultOptions.labelOffset = newValue }
  }
}
