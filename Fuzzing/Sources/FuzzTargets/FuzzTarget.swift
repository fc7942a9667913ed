// SPDX-License-Identifier: Apache-2.0

import Apus

/// Code that reads bytes from strangers.
public protocol FuzzTarget {
  /// The name by which it is started: `fuzz-` and this.
  static var name: String { get }
  /// Reads bytes. It returns whatever they are: a trap or a sanitizer's complaint is a finding.
  static func run(_ bytes: [UInt8])
  /// Changes what bytes mean and keeps their form; false where it cannot.
  static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool
}

extension FuzzTarget {
  public static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool { false }
}

/// All targets.
public enum FuzzTargets {
  private static var all: [any FuzzTarget.Type] {
    [
      ModelTarget.self, RunTarget.self, OperatorTarget.self, DifferentialTarget.self, DetectionTarget.self,
      FlexBufferTarget.self, ArchiveTarget.self, LabelsTarget.self, NumPyTarget.self, JPEGTarget.self,
      PNGTarget.self, BMPTarget.self, PNMTarget.self, ExportTarget.self, GalleryTarget.self, WAVTarget.self,
      EdgeMetadataTarget.self, CallTarget.self,
    ]
  }

  /// The target of this process: libFuzzer calls from one thread.
  nonisolated(unsafe) private static var chosen: (any FuzzTarget.Type)?

  /// The names of all targets.
  public static var names: String { all.map { $0.name }.joined(separator: ", ") }

  /// Chooses the target of this process; false where there is none of that name.
  public static func choose(_ name: String) -> Bool {
    chosen = all.first { $0.name == name }
    // Executions are of a great many models: without room for their code, only portable kernels would be left.
    Runtime.generatedCodeLimit = 512 << 20
    return chosen != nil
  }

  /// One execution.
  public static func run(_ bytes: [UInt8]) { chosen?.run(bytes) }

  /// Bytes of another meaning in the same form; nil where the target makes none.
  public static func mutated(_ bytes: [UInt8], seed: UInt64) -> [UInt8]? {
    var bytes = bytes
    var random = FuzzRandom(seed: seed)
    return chosen?.mutate(&bytes, using: &random) == true ? bytes : nil
  }
}

/// The generator SplitMix64 by Steele, Lea and Flood (2014).
public struct FuzzRandom: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  /// A number below `count`, which is at least one.
  mutating func below(_ count: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % count }
}

/// A finding that is no trap: two ways of running disagree.
func disagree(_ message: String) -> Never {
  preconditionFailure(message)
}
