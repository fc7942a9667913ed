// SPDX-License-Identifier: Apache-2.0

/// TensorFlow Lite's delegate for Core ML: cannot be made here, as on a device without a Neural Engine.
public final class CoreMLDelegate: Delegate {
  /// The options as passed.
  public let options: Options

  /// Always nil.
  public var cDelegate: CDelegate { nil }

  /// Always nil, so that code for devices without Core ML takes over.
  public init?(options: Options = Options()) {
    return nil
  }
}

extension CoreMLDelegate {
  /// Which devices may use Core ML.
  public enum EnabledDevices: Equatable, Hashable, Sendable {
    /// Devices with a Neural Engine.
    case neuralEngine
    /// All devices.
    case all
  }

  /// The options of a ``CoreMLDelegate``, kept and not used.
  public struct Options: Equatable, Hashable, Sendable {
    /// Which devices may use it.
    public var enabledDevices: EnabledDevices = .neuralEngine
    /// The version of Core ML; 0 for the latest.
    public var coreMLVersion = 0
    /// The maximum number of parts of a model to delegate; 0 for all.
    public var maxDelegatedPartitions = 0
    /// The minimum number of operators in a part.
    public var minNodesPerPartition = 2

    /// Makes the default options.
    public init() {}
  }
}
