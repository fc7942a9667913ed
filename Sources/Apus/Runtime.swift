import ApusKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What this build of the engine can do on this machine.
public enum Runtime {
  /// One implementation of the hot loops.
  public struct KernelSetDescription: Hashable, Sendable {
    /// The name by which ``Interpreter/Options/kernels`` and `APUS_KERNELS` choose it.
    public let name: String
    /// Whether this machine can run it.
    public let isSupported: Bool
    /// Whether it is the one that runs if none is named.
    public let isDefault: Bool
  }

  /// Every kernel set of this build, fastest first.
  public static var kernelSets: [KernelSetDescription] {
    let supported = KernelSet.supported.map(\.name)
    let chosen = try? kernelSet(named: nil).name
    return KernelSet.all.map {
      KernelSetDescription(name: $0.name, isSupported: supported.contains($0.name), isDefault: $0.name == chosen)
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
    /// The types that its first input may have.
    public let types: [ElementType]
  }

  /// Every operator of this build, by name.
  public static var operators: [OperatorDescription] {
    OperatorRegistry.all.map {
      OperatorDescription(name: $0.name, isCustom: $0.isCustom, versions: $0.versions, types: $0.types)
    }.sorted { ($0.isCustom ? 1 : 0, $0.name) < ($1.isCustom ? 1 : 0, $1.name) }
  }

  /// The kernel set of a name; of `APUS_KERNELS`, or the fastest, where none is given.
  static func kernelSet(named name: String?) throws(ApusError) -> KernelSet {
    let environment = getenv("APUS_KERNELS").map { String(cString: $0) }
    guard let wanted = name ?? environment.flatMap({ $0.isEmpty ? nil : $0 }) else {
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
    return set
  }
}
