// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// A program, and the products that it imports.
func example(_ name: String, _ products: String...) -> Target {
  .executableTarget(
    name: name, dependencies: products.map { .product(name: $0, package: "apus") },
    swiftSettings: [.treatAllWarnings(as: .error)])
}

let package = Package(
  name: "apus-examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "apus", path: "..")],
  targets: [
    example("TenLines", "ApusVision", "ApusImages"),
    example("PlainTensors", "Apus"),
    example("DetectShapes", "ApusVision", "ApusImages", "ApusShapes"),
    example("TuneADetector", "Apus", "ApusVision", "ApusImages", "ApusShapes"),
    example("DetectWithYOLO", "ApusVision", "ApusImages"),
    example("RecognizeFaces", "ApusVision", "ApusImages"),
    example("SegmentColors", "ApusVision", "ApusImages", "ApusShapes"),
    example("TransformAPicture", "ApusVision", "ApusImages", "ApusShapes"),
    example("ClassifyColors", "ApusVision", "ApusImages"),
    example("FindPoses", "ApusVision", "ApusImages"),
    example("RunAnyModel", "Apus"),
    example("OpenShapes", "Apus"),
    example("CustomOperator", "Apus"),
    example("ShareAModel", "Apus", "ApusShapes"),
    example("FindTheSlowOperator", "Apus", "ApusShapes"),
    example("HandleErrors", "Apus"),
    example("CallSignatures", "Apus"),
    example("UseTensorFlowLite", "TensorFlowLite"),
    example("DetectObjects", "ApusVision", "ApusImages"),
    example("CompareFaces", "ApusVision", "ApusImages"),
    example("UpdateAModel", "Apus", "ApusVision", "ApusImages"),
    example("NameOrNotSure", "ApusVision", "ApusImages"),
    example("FollowACamera", "ApusVideo", "ApusVision"),
    example("CameraInTenLines", "ApusShapes", "ApusVideo", "ApusVision"),
    example("CountAtADoor", "ApusShapes", "ApusTracking", "ApusVideo", "ApusVision"),
    example("FollowAFile", "ApusShapes", "ApusVideo", "ApusVision", "ApusImages"),
    example("RevealShapes", "ApusVision", "ApusImages", "ApusShapes"),
    example("YourOwnModel", "Apus", "ApusVision", "ApusImages"),
    example("WriteAFilter", "Apus", "ApusVision", "ApusImages"),
    example("HearSounds", "ApusVision"),
    example("CheckTensors", "Apus", "ApusTesting"),
    example("MeasureAccuracy", "ApusVision", "ApusImages"),
    example("AskForBFloat16", "Apus"),
  ],
  swiftLanguageModes: [.v6]
)
