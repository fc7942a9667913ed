// SPDX-License-Identifier: Apache-2.0

/// TensorFlow Lite's delegate for GPUs of Apple's platforms: here a type without function, see ``Delegate``.
public final class MetalDelegate: Delegate {
  /// The options as passed.
  public let options: Options

  /// Always nil.
  public var cDelegate: CDelegate { nil }

  /// Makes a delegate that every ``Interpreter`` refuses.
  public init(options: Options = Options()) {
    self.options = options
  }
}

extension MetalDelegate {
  /// The options of a ``MetalDelegate``, kept and not used.
  public struct Options: Equatable, Hashable, Sendable {
    /// Whether floats may have fewer bits.
    public var isPrecisionLossAllowed = false

    /// The former name of ``isPrecisionLossAllowed``.
    @available(*, deprecated, renamed: "isPrecisionLossAllowed")
    public var allowsPrecisionLoss: Bool {
      get { isPrecisionLossAllowed }
      set { isPrecisionLossAllowed = newValue }
    }

    /// How a thread waits for the GPU.
    public var waitType: ThreadWaitType = .passive

    /// Whether quantized models may run.
    public var isQuantizationEnabled = true

    /// Makes the default options.
    public init() {}
  }
}

#if !canImport(Metal)
  /// Metal's question for a GPU, answered for tests of clients that ask before they make a delegate: there is none.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  func MTLCreateSystemDefaultDevice() -> AnyObject? { nil }
#endif
