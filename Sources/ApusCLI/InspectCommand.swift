// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// `apus inspect`: what is in a model, and whether it can run.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what a model contains, and what it needs that this build lacks.",
    usage: "apus inspect <model> [--as <task>] [--plan] [--all] [--json] [<options>]",
    discussion: """
      Inputs, outputs, operators, metadata, labels, memory; of a .task bundle, of
      each model in it. With --as, what a task assumes about the model: enough to
      reproduce its results with other means, in lines of any length. Other lines
      have 80 characters, or as many as the variable COLUMNS says.

      For example:
        apus inspect detect.tflite
        apus inspect yolo11n.tflite --as detector
        apus inspect hand_landmarker.task
      """)

  @Argument(help: "The .tflite file, or a .task bundle.")
  var model: String

  @Option(
    name: .customLong("as"), help: "Show what this task assumes about the model: \(InspectedTask.names).")
  var task: InspectedTask?

  @Option(name: .long, help: "With --as detector or keypoints, the kind of model; see apus detect.")
  var layout: DetectorLayout?

  @Option(name: .long, help: "The label file to hold against the model.")
  var labels: String?

  @Option(name: .long, help: "With --as, how pictures of other proportions are fitted; see apus detect.")
  var fit: PictureFit?

  @Option(
    name: .long,
    help:
      "With --as, the picture's size in a model that leaves it open, or takes all pixels in a row, for example 640x480."
  )
  var inputSize: String?

  @OptionGroup var order: BoxOrderOptions

  @OptionGroup var anchors: AnchorOptions

  @OptionGroup var pose: PoseOptions

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var mask: MaskOptions

  @OptionGroup var units: BoxUnitOptions

  @OptionGroup var waveform: WaveformOptions

  @Flag(help: "List every tensor of the memory plan, every label, and what else is long.")
  var all = false

  @Flag(help: "Print one JSON document.")
  var json = false

  @Flag(help: "Show each step of a run: kernels, memory, and why faster kernels declined.")
  var plan = false

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  func validate() throws {
    func refuse(_ option: String, _ isGiven: Bool, but tasks: [InspectedTask]) throws {
      guard isGiven else { return }
      let names = tasks.map(\.rawValue).joined(separator: ", ")
      guard let task else {
        throw ValidationError("\(option) says how a task reads the model: add --as with one of: \(names)")
      }
      guard tasks.contains(task) else {
        throw ValidationError("\(option) says nothing about --as \(task.rawValue): it is for \(names)")
      }
    }
    if let task, plan {
      throw ValidationError(
        "--plan shows the steps of a run, which --as \(task.rawValue) does not: leave out one of them")
    }
    if task != nil {
      try refuse("--labels", labels != nil, but: [.detector, .classifier, .segmenter, .sound])
    }
    try refuse("--layout", layout != nil, but: [.detector, .keypoints])
    try refuse("--box-order", order.boxOrder != nil, but: [.detector])
    try refuse("--anchors", anchors.anchors != nil, but: [.detector])
    try refuse("--keypoints", pose.keypoints != nil, but: [.keypoints])
    try refuse("--box-units", units.boxUnits != nil, but: [.detector, .keypoints])
    try refuse("--output-index", mask.outputIndex != nil, but: [.segmenter])
    try refuse("--candidates", units.candidates != nil, but: [.detector, .keypoints])
    try refuse(
      "--scores", scores.scores != nil, but: [.detector, .classifier, .segmenter, .keypoints, .faces, .sound]
    )
    try refuse(waveform.given ?? "--rate", waveform.given != nil, but: [.sound])
    let isPicture = InspectedTask.allCases.filter { $0 != .sound }
    try refuse("--fit", fit != nil, but: isPicture)
    try refuse("--input-size", inputSize != nil, but: isPicture)
    _ = try ModelInputOptions.size(inputSize)
    try refuse("--pixels", reading.pixels != nil, but: isPicture)
    try refuse("--channels", reading.channels != nil, but: isPicture)
  }

  func run() throws {
    var options = try engine.interpreterOptions
    limits.apply(to: &options)
    let map = try labels.map { path throws(ApusError) in try LabelMap(contentsOfFile: path) }
    if let task {
      var base = BaseOptions()
      base.interpreter = options
      base.fit = fit?.policy
      base.inputSize = try ModelInputOptions.size(inputSize)
      try reading.apply(to: &base)
      base.scores = scores.scores
      base.boxUnits = units.boxUnits
      base.candidates = units.candidates
      if task == .sound {
        let sound = try SoundInspection(
          of: Model(contentsOfFile: model), labels: map, scores: scores.scores, waveform, options)
        if json { try Output.writeJSON(sound) } else { Output.write(sound.text) }
        return
      }
      let assumptions = try task.assumptions(
        of: Model(contentsOfFile: model), labels: map, layout: layout, order: order.boxOrder,
        anchors: try anchors.sizes, keypoints: try pose.shape, mask: mask.outputIndex, base: base)
      if json { try Output.writeJSON(assumptions) } else { Output.write(assumptions.text) }
      return
    }
    if let map {
      let model = try Model(contentsOfFile: model)
      var base = BaseOptions()
      base.interpreter = options
      let assumptions = InspectedTask.firstAssumptions(of: model, labels: map, base: base)
      TaskWarnings { assumptions?.warnings ?? [] }.write()
    }
    let inspection: Inspection
    do throws(ApusError) {
      inspection = try Inspection(path: model, labels: map, showsPlan: plan, options: options)
    } catch {
      guard error.code == .malformedModel,
        let bundle = try BundleInspection(path: model, showsPlan: plan, options: options)
      else { throw error }
      if json { try Output.writeJSON(bundle) } else { Output.write(bundle.text(all: all || plan)) }
      return
    }
    if json {
      try inspection.checkLength()
      try Output.writeJSON(inspection)
    } else {
      Output.write(inspection.text(all: all))
    }
  }
}
