// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// What the tasks of `apus watch` with landmarks take beside a bundle of models.
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

  /// Throws wrong usage for models that are missing, or options that are for another task.
  func check(_ task: WatchTask, bundle: String?) throws {
    let all: [(name: String?, tasks: Set<WatchTask>)] = [
      (detector.map { _ in "--detector" }, WatchTask.withLandmarks),
      (landmarks.map { _ in "--landmarks" }, WatchTask.withLandmarks),
      (detectionThreshold.map { _ in "--detection-threshold" }, WatchTask.withLandmarks),
      // Holistic follows one person, by rules of its own.
      (trackingThreshold.map { _ in "--tracking-threshold" }, [.hands, .faceMesh, .pose]),
      (noSmoothing ? "--no-smoothing" : nil, WatchTask.withLandmarks),
      (smoothRegions ? "--smooth-regions" : nil, [.pose]),
      (blendshapes.map { _ in "--blendshapes" }, [.faceMesh]), (others.given, [.holistic]),
      (gallery.map { _ in "--gallery" }, [.hands]), (distance.map { _ in "--distance" }, [.hands]),
    ]
    for (name, tasks) in all where !tasks.contains(task) {
      guard let name else { continue }
      let names = WatchTask.allCases.filter(tasks.contains).map(\.rawValue).joined(separator: ", ")
      throw ValidationError("\(name) is for --task \(names), not for \(task.rawValue)")
    }
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
