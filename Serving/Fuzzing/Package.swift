// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Fuzzers of what clients send to `apus-server`: `run.sh` builds and runs them.
let package = Package(
  name: "apus-serving-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The name is given because a path's identity is its folder, and a clone's folder may have any name.
    .package(name: "apus-serving", path: "..")
  ],
  targets: [
    .executableTarget(
      name: "FuzzBody", dependencies: [.product(name: "ApusServing", package: "apus-serving")]),
    .executableTarget(
      name: "FuzzMessage",
      dependencies: [
        .product(name: "ApusServing", package: "apus-serving"),
        .product(name: "ApusServingMessages", package: "apus-serving"),
      ]),
    .executableTarget(
      name: "FuzzPicture", dependencies: [.product(name: "ApusServing", package: "apus-serving")]),
  ],
  swiftLanguageModes: [.v6]
)
