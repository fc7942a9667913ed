// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Every target is Swift 6, and a warning is an error.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// Libraries and executables: every unsafe construct says so. On Apple platforms, where no machine here compiles, a missing
/// mark is only a warning.
let marked: [SwiftSetting] =
  strict + [
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .warning, .when(platforms: [.macOS, .iOS])),
  ]

/// `@_lifetime` lets the engine hand out spans of memory that a class owns.
let lifetimes: [SwiftSetting] = marked + [.enableExperimentalFeature("Lifetimes")]

/// The plugin's tool is compiled once more, for the machine that builds. Scripts that test the rest leave both out.
let hasPlugin = Context.environment["APUS_WITHOUT_PLUGIN"] == nil
let pluginProducts: [Product] = hasPlugin ? [.plugin(name: "ApusModels", targets: ["ApusModels"])] : []
let pluginTargets: [Target] =
  hasPlugin ? [.plugin(name: "ApusModels", capability: .buildTool(), dependencies: ["apus-generate"])] : []

let package = Package(
  name: "apus",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Apus", targets: ["Apus"]),
    .library(name: "ApusVision", targets: ["ApusVision"]),
    .library(name: "ApusImages", targets: ["ApusImages"]),
    .library(name: "ApusShapes", targets: ["ApusShapes"]),
    .library(name: "ApusTracking", targets: ["ApusTracking"]),
    .library(name: "ApusVideo", targets: ["ApusVideo"]),
    .library(name: "ApusTesting", targets: ["ApusTesting"]),
    .library(name: "TensorFlowLite", targets: ["TensorFlowLite"]),
    .executable(name: "apus", targets: ["ApusCLI"]),
    .executable(name: "apus-benchmark", targets: ["ApusBenchmark"]),
    .executable(name: "apus-picture-benchmark", targets: ["ApusPictureBenchmark"]),
  ] + pluginProducts,
  traits: [
    .default(enabledTraits: ["LocalizedErrors"]),
    .trait(
      name: "LocalizedErrors",
      description:
        "Errors are LocalizedError; without it, nothing of Foundation is linked into a static program that only runs models."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
  ],
  targets: [
    .systemLibrary(
      name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CCairo", pkgConfig: "cairo", providers: [.apt(["libcairo2-dev"])]),

    .target(name: "ApusSystem", swiftSettings: marked),
    .target(name: "ApusTracking", dependencies: ["ApusSystem"], swiftSettings: marked),
    .target(name: "ApusFormat", dependencies: ["ApusSystem"], swiftSettings: marked),
    .target(
      name: "ApusRuntime", dependencies: ["ApusSystem"], exclude: ["README.md"], swiftSettings: marked),
    .target(
      name: "ApusAssembly", dependencies: ["ApusRuntime", "ApusSystem"], exclude: ["README.md"],
      swiftSettings: marked),
    .target(
      name: "ApusKernels", dependencies: ["ApusAssembly", "ApusRuntime", "ApusSystem"],
      exclude: ["README.md"], swiftSettings: lifetimes),
    .target(
      name: "ApusCodeGeneration",
      dependencies: ["ApusAssembly", "ApusKernels", "ApusRuntime", "ApusSystem"],
      exclude: ["README.md"], swiftSettings: marked),
    .target(
      name: "ApusPixels", dependencies: ["ApusAssembly", "ApusKernels", "ApusRuntime"],
      exclude: ["README.md"], swiftSettings: marked),
    .target(
      name: "Apus",
      dependencies: [
        "ApusAssembly", "ApusCodeGeneration", "ApusFormat", "ApusKernels", "ApusRuntime", "ApusSystem",
      ],
      swiftSettings: lifetimes),
    .target(
      name: "ApusVision",
      dependencies: [
        "Apus", "ApusFormat", "ApusKernels", "ApusPixels", "ApusRuntime", "ApusSystem", "ApusTracking",
      ],
      swiftSettings: marked),
    // The model and the picture of the demo: half a megabyte that only those who ask for it get.
    .target(name: "ApusShapes", dependencies: ["Apus", "ApusVision"], swiftSettings: marked),
    .target(
      name: "ApusImages",
      dependencies: [
        "Apus", "ApusFormat", "ApusSystem", "ApusVision",
        .target(name: "CTurboJPEG", condition: .when(platforms: [.linux])),
        .target(name: "CPNG", condition: .when(platforms: [.linux])),
        .target(name: "CCairo", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: marked),
    .target(
      name: "ApusVideo",
      dependencies: ["Apus", "ApusImages", "ApusPixels", "ApusSystem", "ApusTracking", "ApusVision"],
      swiftSettings: marked),
    .target(
      name: "ApusTesting", dependencies: ["Apus", "ApusFormat", "ApusKernels", "ApusSystem", "ApusVision"],
      swiftSettings: marked),
    // The cases that prove kernel sets: only the command has them.
    .target(
      name: "ApusDoctor",
      dependencies: [
        "Apus", "ApusAssembly", "ApusCodeGeneration", "ApusFormat", "ApusKernels", "ApusPixels", "ApusSystem",
        "ApusTesting", "ApusVideo", "ApusVision",
      ],
      swiftSettings: marked),
    .target(name: "TensorFlowLite", dependencies: ["Apus"], swiftSettings: marked),
    .target(
      name: "ApusConsole",
      dependencies: [
        "Apus", "ApusKernels", "ApusRuntime", "ApusSystem",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: marked),
    .executableTarget(
      name: "ApusCLI",
      dependencies: [
        "Apus", "ApusConsole", "ApusDoctor", "ApusFormat", "ApusInterfaces", "ApusVision", "ApusImages",
        "ApusRuntime", "ApusShapes", "ApusSystem", "ApusTesting", "ApusTracking", "ApusVideo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: marked),
    .target(name: "ApusInterfaces", dependencies: ["Apus", "ApusVision"], swiftSettings: marked),
    .executableTarget(
      name: "apus-generate", dependencies: ["Apus", "ApusInterfaces"], path: "Sources/ApusGenerate",
      swiftSettings: marked),
    .executableTarget(
      name: "ApusBenchmark",
      dependencies: [
        "ApusConsole", "Apus", "ApusAssembly", "ApusCodeGeneration", "ApusFormat", "ApusKernels",
        "ApusRuntime",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Benchmarks/apus-benchmark", swiftSettings: marked),
    .executableTarget(
      name: "ApusPictureBenchmark",
      dependencies: [
        "ApusConsole", "Apus", "ApusVision", "ApusImages", "ApusVideo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Benchmarks/apus-picture-benchmark", swiftSettings: marked),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "ReferenceKernels", dependencies: ["ApusKernels"], path: "Tests/ReferenceKernels",
      swiftSettings: strict),
    .testTarget(
      name: "ApusFormatTests", dependencies: ["ApusFormat", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ApusTrackingTests", dependencies: ["ApusTracking", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ApusKernelsTests",
      dependencies: [
        "ApusAssembly", "ApusCodeGeneration", "ApusKernels", "ApusRuntime", "ReferenceKernels", "TestSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "AllocationProbe", dependencies: ["Apus", "ApusRuntime"], path: "Tests/AllocationProbe",
      swiftSettings: marked),
    .executableTarget(
      name: "GraphProbe", dependencies: ["Apus", "TestSupport"], path: "Tests/GraphProbe",
      swiftSettings: marked),
    .executableTarget(
      name: "FaultProbe", dependencies: ["Apus"], path: "Tests/FaultProbe", swiftSettings: marked),
    .testTarget(
      name: "ApusInterfacesTests", dependencies: ["Apus", "ApusInterfaces", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ApusTests",
      dependencies: [
        "Apus", "ApusCodeGeneration", "ApusFormat", "ApusKernels", "ApusSystem", "AllocationProbe",
        "FaultProbe",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ApusCLITests", dependencies: ["Apus", "ApusCLI", "ApusConsole", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ApusDoctorTests",
      dependencies: [
        "Apus", "ApusAssembly", "ApusCodeGeneration", "ApusDoctor", "ApusKernels", "ApusPixels",
        "ApusRuntime",
        "ApusVision", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ApusVisionTests",
      dependencies: [
        "Apus", "ApusCodeGeneration", "ApusFormat", "ApusImages", "ApusKernels", "ApusPixels", "ApusShapes",
        "ApusVision", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TensorFlowLiteTests", dependencies: ["ApusShapes", "TensorFlowLite", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ApusVideoTests",
      dependencies: [
        "Apus", "ApusCodeGeneration", "ApusKernels", "ApusTracking", "ApusVideo", "ApusVision", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ApusTestingTests",
      dependencies: ["Apus", "ApusFormat", "ApusTesting", "ApusVision", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ApusImagesTests", dependencies: ["Apus", "ApusImages", "ApusVision", "TestSupport"],
      swiftSettings: strict),
  ] + pluginTargets,
  swiftLanguageModes: [.v6]
)
