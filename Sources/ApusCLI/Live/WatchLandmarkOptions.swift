// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The options of `apus watch` for tasks with landmarks, besides a bundle of models.
struct WatchLandmarkOptions: ParsableArguments {
  @Option(
    name: .long, help: "Instead of a bundle, for tasks with landmarks: the .tflite model that finds regions.")
  var detector: String?

  @Option(
    name: .long,
    help: "Instead of a bundle, for tasks with landmarks: the .tflite model that finds landmarks in a region."
  )
  var landmarks: String?

  @Option(name: .long, help: "For face-mesh, beside --landmarks: the .tflite model of expressions.")
  var blendshapes: String?

  @OptionGroup var others: HolisticModelOptions

  @Option(name: .long, help: "For tasks with landmarks: the minimum score of what the detector finds; 0.5.")
  var detectionThreshold: Float?

  @Option(
    name: .long,
    help: "For tasks with landmarks: the overlap above which something detected is tracked already; 0.5.")
  var trackingThreshold: Float?

  @Flag(help: "For tasks with landmarks: do not smooth them from frame to frame.")
  var noSmoothing = false

  @Flag(
    help: "For pose: smooth also where a person is looked for in the next frame, as for holistic.")
  var smoothRegions = false

  @Option(name: .long, help: "For hands: a gallery of gestures, made with apus gallery add --hands.")
  var gallery: String?

  @Option(name: .long, help: "With --gallery, the distance beyond which a gesture is unknown.")
  var distance: Double?

  /// The options, and the tasks that read them.
  var optionsOfTasks: [TaskOption<WatchTask>] {
    let all = WatchTask.withLandmarks
    return [
      TaskOption("--detector", detector != nil, for: all),
      TaskOption("--landmarks", landmarks != nil, for: all),
      TaskOption("--detection-threshold", detectionThreshold != nil, for: all),
      // Holistic follows one person, by rules of its own.
      TaskOption(
        "--tracking-threshold", trackingThreshold != nil, for: all.subtracting([.holistic])),
      TaskOption("--no-smoothing", noSmoothing, for: all),
      TaskOption("--smooth-regions", smoothRegions, for: [.pose]),
      TaskOption("--blendshapes", blendshapes != nil, for: [.faceMesh]),
      TaskOption(others.given ?? "--hand", others.given != nil, for: [.holistic]),
      TaskOption("--gallery", gallery != nil, for: [.hands]),
      TaskOption("--distance", distance != nil, for: [.hands]),
    ]
  }

  /// Throws wrong usage for models that are missing, and for options that contradict each other.
  func check(_ task: WatchTask, bundle: String?) throws {
    guard WatchTask.withLandmarks.contains(task) else { return }
    try BundleOptions.check(bundle, detector, landmarks)
    if task == .holistic { try others.check(bundle: bundle) }
    if blendshapes != nil, bundle != nil {
      throw ValidationError("--model has the blendshapes: it excludes --blendshapes")
    }
    if noSmoothing, smoothRegions {
      throw ValidationError("--no-smoothing excludes --smooth-regions")
    }
    if let distance {
      if gallery == nil { throw ValidationError("--distance is for gestures: --gallery is missing") }
      if !(distance >= 0) { throw ValidationError("--distance is \(distance), not 0 or more") }
    }
  }

  /// How landmarks are smoothed; nil for not at all.
  ///
  /// - Parameter task: One that finds landmarks.
  func smoothing(for task: WatchTask) -> LandmarkSmoothing? {
    if noSmoothing { return nil }
    return smoothRegions || task == .holistic ? .withRegions : LandmarkSmoothing()
  }

  /// The detector and the model of landmarks; nil if there is a bundle.
  var pair: (detector: Model, landmarks: Model)? {
    get throws(ApusError) { try BundleOptions.pair(detector, landmarks) }
  }
}
