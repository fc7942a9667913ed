// SPDX-License-Identifier: Apache-2.0

/// The task that a bundle of models is for, by the names in it. The raw value is the command of `apus`.
package enum BundleTask: String, Sendable, CaseIterable {
  case hands
  case faceMesh = "face-mesh"
  case pose, holistic

  /// Recognizes a bundle; nil for one of another task.
  package init?(entryNames: [String]) {
    let names = Set(entryNames)
    if names.contains("hand_landmarker.task") {
      self = .hands
      return
    }
    let tasks = Self.allCases.filter { task in
      names.contains(task.parts.detector) && names.contains(task.parts.landmarks)
    }
    guard let task = tasks.contains(.holistic) ? BundleTask.holistic : tasks.first else { return nil }
    self = task
  }

  /// The models without which a bundle is none for the task.
  private var parts: (detector: String, landmarks: String) {
    switch self {
    case .hands: ("hand_detector.tflite", "hand_landmarks_detector.tflite")
    case .faceMesh: ("face_detector.tflite", "face_landmarks_detector.tflite")
    case .pose: ("pose_detector.tflite", "pose_landmarks_detector.tflite")
    case .holistic: ("pose_detector.tflite", "hand_landmarks_detector.tflite")
    }
  }

  /// The class of `ApusVision` that takes the bundle.
  package var landmarker: String {
    switch self {
    case .hands: "HandLandmarker"
    case .faceMesh: "FaceLandmarker"
    case .pose: "PoseLandmarker"
    case .holistic: "HolisticLandmarker"
    }
  }
}
