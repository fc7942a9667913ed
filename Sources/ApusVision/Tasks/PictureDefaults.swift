// SPDX-License-Identifier: Apache-2.0
import ApusFormat

/// How pictures for a kind of model are prepared unless the caller or the metadata says otherwise.
struct PictureDefaults: Sendable {
  /// How pictures are fitted.
  var fit = FitPolicy.stretch
  /// The order of three channels.
  var channels = ImageProcessor.Channels.rgb
  /// How pixels become floats.
  var normalization = Normalization.signed
  /// Whether 8-bit inputs are also normalized and quantized, instead of taking the pixels unchanged.
  var normalizesIntegers = false
  /// Whether metadata may override these defaults.
  var heedsMetadata = true
  /// Where the fit and the normalization come from.
  var source = AssumptionSource.guess
  /// The reason for the fit and the normalization.
  var reason = "usual for models whose file does not say"
  /// The content of an input's fourth channel.
  var fourthChannel = FourthChannel.alpha

  /// The defaults that the exporter's metadata implies, or else those usual for this kind of model.
  ///
  /// Ultralytics trains on pixels from 0 to 1: classifiers on the largest centered square, the rest on a letterbox. So does YOLO v5,
  /// but for its classifiers, which take the colors of ImageNet.
  ///
  /// - Parameter asked: The exporter's name of the task that is asked for; it is that of a model whose metadata names none.
  init(exportedBy export: ExportMetadata?, as asked: String? = nil, usual: PictureDefaults) {
    guard let export, let task = export.task ?? (export.isOfYOLO ? asked : nil),
      ExportMetadata.tasks.contains(task)
    else {
      self = usual
      return
    }
    fit = task == "classify" ? .centerCrop : .yolo
    normalization = .unit
    normalizesIntegers = true
    source = .exporter
    reason =
      export.task == nil
      ? "exports with \(export.fileName) are trained so" : "task '\(task)' in \(export.fileName)"
    if export.task == nil, task == "classify", export.isOfVersion5 {
      (normalization, source) = (.imageNet, .guess)
      reason = "usual for the classifiers of YOLO v5, whose exports have \(export.fileName)"
    }
  }

  /// Makes defaults.
  init(
    fit: FitPolicy = .stretch, channels: ImageProcessor.Channels = .rgb,
    normalization: Normalization = .signed,
    normalizesIntegers: Bool = false, heedsMetadata: Bool = true,
    reason: String = "usual for models whose file does not say"
  ) {
    self.fit = fit
    self.channels = channels
    self.normalization = normalization
    self.normalizesIntegers = normalizesIntegers
    self.heedsMetadata = heedsMetadata
    self.reason = reason
  }
}
