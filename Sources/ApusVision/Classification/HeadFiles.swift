// SPDX-License-Identifier: Apache-2.0
import Apus

/// The files that a classifier's outputs name: several may share one, which is read once.
struct HeadFiles {
  private let given: LabelMap?
  private let options: ResultOptions
  /// By the files of labels and display names; what is not readable is kept as nil.
  private var sources: [[String?]: LabelSource?] = [:]
  /// By the file of calibrations, however its outputs mean it.
  private var sigmoids: [String: [ScoreCalibration.Sigmoid?]?] = [:]
  private var rowCount = 0

  /// The most rows of all files.
  private static let maximumRows = 1 << 21

  /// No files yet; labels that are given come before theirs.
  init(_ given: LabelMap?, _ options: ResultOptions) {
    self.given = given
    self.options = options
  }

  /// The names of an output's classes; nil if there are none.
  mutating func labels(of prepared: some DescribedModel, _ output: Int) throws(ApusError) -> LabelSource? {
    let own = prepared.description(of: output)
    let locale = options.displayNamesLocale
    let files = [own?.labelFile?.name, locale.flatMap { own?.labelFile(locale: $0)?.name }]
    if let known = sources[files] { return known }
    let source = LabelSource(
      given: given, of: prepared, output: output, locale: locale, offset: options.labelOffset)
    try count((source?.map.rowCount ?? 0) + (source?.displayNames?.rowCount ?? 0))
    sources.updateValue(source, forKey: files)
    return source
  }

  /// The calibration of an output's scores; nil if nothing readable gives it.
  mutating func calibration(of prepared: some DescribedModel, _ output: Int) throws(ApusError)
    -> ScoreCalibration?
  {
    guard let (file, calibration) = ScoreCalibration.named(by: prepared, output: output) else { return nil }
    if let known = sigmoids[file] { return known.map { ScoreCalibration($0, calibration) } }
    var found: [ScoreCalibration.Sigmoid?]?
    if let text = try? prepared.model.associatedFile(named: file) {
      found = ScoreCalibration.sigmoids(parsing: text)
      // A row that turns out not to be readable follows at most one row for each byte before it.
      try count(found?.count ?? min(text.count, ScoreCalibration.maximumCount))
    }
    sigmoids.updateValue(found, forKey: file)
    return found.map { ScoreCalibration($0, calibration) }
  }

  private mutating func count(_ rows: Int) throws(ApusError) {
    rowCount += rows
    guard rowCount <= Self.maximumRows else {
      throw ApusError(
        .resourceLimit,
        "the files of the outputs' labels and calibrations have more than \(Self.maximumRows) rows")
    }
  }
}
