// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "apus-c",
  platforms: [.macOS(.v15)],
  products: [
    // The file is `libtensorflowlite_c.so`: `Scripts/c-library.sh` builds it with its Swift runtime inside.
    .library(name: "tensorflowlite_c", type: .dynamic, targets: ["TensorFlowLiteC"]),
    // The same functions for Swift: fuzzers call them.
    .library(name: "TensorFlowLiteC", targets: ["TensorFlowLiteC"]),
  ],
  // The name is given because a path's identity is its folder, and a clone's folder may have any name.
  dependencies: [.package(name: "apus", path: "../..", traits: [])],
  targets: [
    .target(
      name: "TensorFlowLiteC", dependencies: [.product(name: "Apus", package: "apus")],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
