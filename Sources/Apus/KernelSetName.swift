// SPDX-License-Identifier: Apache-2.0

/// The name of a kernel set: one implementation of all hot loops.
///
/// ```swift
/// var options = Interpreter.Options()
/// options.kernels = .portable
/// ```
///
/// ``Runtime/kernelSets`` lists those of this build, and says which this machine runs.
public struct KernelSetName: RawRepresentable, ExpressibleByStringLiteral, Codable, Hashable, Sendable,
  CustomStringConvertible
{
  /// The name as `APUS_KERNELS` and `--kernels` have it.
  public let rawValue: String

  /// Names a kernel set, whether or not this build has it: preparation refuses one that it has not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Names a kernel set, whether or not this build has it: preparation refuses one that it has not.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The name, as ``rawValue`` has it.
  public var description: String { rawValue }

  /// Plain Swift, on every machine.
  public static let portable: KernelSetName = "portable"
  /// Products of an installed BLAS library, the rest in plain Swift.
  public static let blas: KernelSetName = "blas"
  /// Generated code for AVX2 and FMA.
  public static let x86AVX2: KernelSetName = "x86-avx2"
  /// Generated code for AVX2 with the dot products of bytes of AVX-VNNI.
  public static let x86AVXVNNI: KernelSetName = "x86-avxvnni"
  /// Generated code for AVX-512 with its dot products of bytes.
  public static let x86AVX512VNNI: KernelSetName = "x86-avx512vnni"
  /// Generated code for 64-bit Arm.
  public static let arm64NEON: KernelSetName = "arm64-neon"
  /// Generated code for 64-bit Arm with its dot products of bytes.
  public static let arm64DotProduct: KernelSetName = "arm64-dotprod"
}
