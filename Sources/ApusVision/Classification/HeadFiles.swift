// SPDX-License-Identifier: Apache-2.0
import Apus

/// The files that a classifier's outputs name: several may share one, which is read once.
struct HeadFiles {
  private let given: LabelMap?
  private let options: ResultOptions
  /// By the files of labels and display names; what is not readable is kept as nil.
  private var sources: [[String?]: LabelSource?] = [:]
  /// By the file of calibrations, however its outputs mean it; an error says why one is not read.
  private var sigmoids: [String: Result<[ScoreCalibration.Sigmoid?], ApusError>] = [:]
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

  /// The calibration of an output's scores, or a warning why there is none; both are nil if the metadata gives none.
  mutating func calibration(of prepared: some DescribedModel, _ output: Int) throws(ApusError)
    -> (calibration: ScoreCalibration?, warning: String?)
  {
    guard let (file, calibration) = ScoreCalibration.named(by: prepared, output: output) else {
      return (nil, nil)
    }
    guard let file else { return (nil, ScoreCalibration.warning(ofUnread: nil)) }
    let found: Result<[ScoreCalibration.Sigmoid?], ApusError>
    if let known = sigmoids[file] { found = known } else { found = try read(file, of: prepared) }
    sigmoids[file] = found
    switch found {
    case .success(let sigmoids): return (ScoreCalibration(sigmoids, calibration), nil)
    case .failure(let error): return (nil, ScoreCalibration.warning(ofUnread: file, error))
    }
  }

  private mutating func read(
    _ file: String, of prepared: some DescribedModel
  ) throws(ApusError) -> Result<[ScoreCalibration.Sigmoid?], ApusError> {
    let text: [UInt8]
    do throws(ApusError) { text = try prepared.model.associatedFile(named: file) } catch {
      return .failure(error)
    }
    let found = Result { () throws(ApusError) in try ScoreCalibration.sigmoids(parsing: text) }
    // A row that turns out not to be readable follows at most one row for each byte before it.
    try count((try? found.get().count) ?? min(text.count, ScoreCalibration.maximumCount))
    return found
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
