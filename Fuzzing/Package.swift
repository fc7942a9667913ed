// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "fuzzing",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "apus-fuzz", targets: ["apus-fuzz"])],
  dependencies: [.package(name: "apus", path: ".."), .package(name: "apus-c", path: "../Bindings/C")],
  targets: [
    .target(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "Apus", package: "apus"), .product(name: "ApusVision", package: "apus"),
        .product(name: "ApusImages", package: "apus"), .product(name: "TensorFlowLiteC", package: "apus-c"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "apus-fuzz", dependencies: ["FuzzTargets"], swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
