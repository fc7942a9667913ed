// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// Only for the documentation site: users of Apus never resolve the plugin.
import PackageDescription

let package = Package(
  name: "apus-documentation",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "apus", path: ".."),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"),
  ],
  targets: [
    .target(
      name: "Documented",
      dependencies: [
        "Apus", "ApusVision", "ApusImages", "ApusShapes", "ApusTracking", "ApusVideo", "TensorFlowLite",
      ].map {
        .product(name: $0, package: "apus")
      })
  ]
)
