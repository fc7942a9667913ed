// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import ApusSystem

/// The capabilities of this build of Apus on this machine.
public enum Runtime {
  /// A kernel set: one implementation of all hot loops.
  public struct KernelSetDescription: Hashable, Sendable {
    /// The name by which ``Interpreter/Options/kernels`` and `APUS_KERNELS` choose it.
    public let name: KernelSetName
    /// Whether this machine can run it.
    public let isSupported: Bool
    /// Whether it is the one that runs by default.
    public let isDefault: Bool
    /// Why it is not supported: a feature or library that this machine lacks, or wrong results, see
    /// ``Runtime/provesKernels``; nil if it is supported.
    public let unsupportedReason: String?
  }

  /// Every kernel set of this build, fastest first, including those that this machine cannot run.
  public static var kernelSets: [KernelSetDescription] {
    let supported = KernelSet.supported.map(\.name)
    let chosen = try? kernelSet(named: nil).name
    return KernelSet.all.map { set in
      let lacks =
        supported.contains(set.name)
        ? set.convolutions.missing() : set.requires.subtracting(.current).names.joined(separator: ", ")
      let reason = lacks.map { "this machine lacks \($0)" } ?? KernelProofs.objection(to: set)?.description
      return KernelSetDescription(
        name: KernelSetName(rawValue: set.name), isSupported: reason == nil, isDefault: set.name == chosen,
        unsupportedReason: reason)
    }
  }

  /// One operator that the engine runs.
  public struct OperatorDescription: Hashable, Sendable {
    /// The schema's name, or the custom operator's.
    public let name: String
    /// Whether it is outside the schema's list.
    public let isCustom: Bool
    /// The versions that run.
    public let versions: ClosedRange<Int>
    /// The types that its data may have. The data is the input that it computes with, or the output if there is none.
    public let types: [ElementType]
    /// The types that its first input may have, if that is not the data but an index, a shape, a condition or a
    /// handle; otherwise empty.
    public let firstInputTypes: [ElementType]
  }

  /// Every operator of this build, sorted by name, custom operators last.
  public static var operators: [OperatorDescription] {
    OperatorRegistry.all.map {
      OperatorDescription(
        name: $0.name, isCustom: $0.isCustom, versions: $0.versions, types: $0.types,
        firstInputTypes: $0.firstInputTypes)
    }.sorted { ($0.isCustom ? 1 : 0, $0.name) < ($1.isCustom ? 1 : 0, $1.name) }
  }

  /// Checks that a kernel set exists and this machine can run it.
  ///
  /// - Parameter name: The set's name; nil for the one that the environment variable `APUS_KERNELS` names.
  /// - Throws: `invalidArgument` with the known names, or with what the machine lacks.
  public static func checkKernels(named name: KernelSetName?) throws(ApusError) {
    _ = try kernelSet(named: name)
  }

  /// How fast a kernel set multiplies on one thread of this machine.
  package struct MeasuredPeak: Hashable, Sendable {
    /// 10⁹ multiply-accumulates of bytes per second, requantized to bytes.
    package let gmacsPerSecond8Bit: Double
    /// 10⁹ multiply-accumulates of floats per second.
    package let gmacsPerSecondFloat32: Double
  }

  /// Measures a kernel set for about 0.1 s: the best of several products of 384×512 by 512×512.
  package static func measuredPeak(of name: KernelSetName) throws(ApusError) -> MeasuredPeak {
    let set = try kernelSet(named: name)
    return MeasuredPeak(
      gmacsPerSecond8Bit: measure(
        set, operands: .uint8(lhsZeroPoint: 128, rhsZeroPoint: 121), elementByteCount: 1,
        epilogue: .fixedPoint([FixedPointMultiplier(0.001)], zeroPoint: 128, minimum: 0, maximum: 255)),
      gmacsPerSecondFloat32: measure(
        set, operands: .float32, elementByteCount: 4,
        epilogue: .float32(minimum: -.greatestFiniteMagnitude, maximum: .greatestFiniteMagnitude)))
  }

  private static func measure(
    _ set: KernelSet, operands: MatrixOperands, elementByteCount: Int, epilogue: Epilogue
  ) -> Double {
    let (rows, depth, columns) = (384, 512, 512)
    let product = Convolution(
      rows: rows, depth: depth, columns: columns, operands: operands, epilogue: epilogue)
    guard let kernel = set.choose(product)?.kernel else { return 0 }
    let weights = PackedWeights(byteCount: kernel.packedByteCount)
    let constants = [UInt8](repeating: 0, count: columns * depth * elementByteCount)
    unsafe kernel.pack(weights: constants.span.bytes, bias: nil, into: weights)
    let input = [UInt8](repeating: 0, count: rows * depth * elementByteCount)
    var output = [UInt8](repeating: 0, count: rows * columns * elementByteCount)
    var scratch = [UInt8](repeating: 0, count: kernel.scratchByteCount(threads: 1))
    var best = Double.infinity
    let begin = monotonicNanoseconds()
    while monotonicNanoseconds() - begin < 50_000_000 {
      let start = monotonicNanoseconds()
      var outputSpan = output.mutableSpan
      var scratchSpan = scratch.mutableSpan
      var outputBytes = unsafe outputSpan.mutableBytes
      var scratchBytes = unsafe scratchSpan.mutableBytes
      unsafe kernel.run(
        weights, input: input.span.bytes, output: &outputBytes, scratch: &scratchBytes,
        threads: ThreadTeam(count: 1))
      best = min(best, Double(monotonicNanoseconds() - start) / 1e9)
    }
    return Double(rows * depth * columns) / best / 1e9
  }

  /// The kernel set for pictures: the one that `APUS_KERNELS` names, or the fastest; or the next one, if proofs are required
  /// and its code for pictures is wrong on this processor.
  ///
  /// - Parameter difference: finds where a set's code for pictures differs from plain Swift.
  package static func pictureKernels(_ difference: (KernelSet) -> String?) -> KernelSet {
    let set = (try? kernelSet(named: nil)) ?? .portable
    guard provesKernels else { return set }
    return KernelSet.supported.drop { $0 !== set }.first {
      KernelProofs.objection(to: $0, for: .pictures, difference) == nil
    } ?? .portable
  }

  /// The kernel set with a name; nil means the one that `APUS_KERNELS` names, or else the fastest.
  package static func kernelSet(named name: KernelSetName?) throws(ApusError) -> KernelSet {
    let environment = unsafe getenv("APUS_KERNELS").map { unsafe String(cString: $0) }
    guard let wanted = name?.rawValue ?? environment.flatMap({ $0.isEmpty ? nil : $0 }) else {
      if provesKernels { return KernelProofs.choose(among: KernelSet.supported).set }
      guard let fastest = KernelSet.supported.first else {
        throw ApusError(.invalidArgument, "no kernel set runs on this machine")
      }
      return fastest
    }
    let known = KernelSet.all.map(\.name)
    guard known.contains(wanted) else {
      throw ApusError(
        .invalidArgument, "there is no kernel set \(wanted), only: \(known.joined(separator: ", "))")
    }
    guard let set = KernelSet.supported.first(where: { $0.name == wanted }) else {
      throw ApusError(.invalidArgument, "this machine cannot run the kernel set \(wanted)")
    }
    if let missing = set.convolutions.missing() {
      throw ApusError(.invalidArgument, "the kernel set \(wanted) needs \(missing), which is not installed")
    }
    if let objection = KernelProofs.objection(to: set) {
      throw ApusError(.invalidArgument, "the kernel set \(wanted) cannot be used: \(objection)")
    }
    return set
  }
}
