// SPDX-License-Identifier: Apache-2.0

extension Interpreter {
  /// How to run a model.
  public struct Options: Sendable {
    /// How many threads one run may use, 1 to 64. Results are the same for every count.
    public var threadCount = 1

    /// The name of the kernel set to prefer, see ``Runtime/kernelSets``; nil for the fastest that the machine runs,
    /// or the one that the environment variable `APUS_KERNELS` names.
    public var kernels: String?

    /// The most bytes that tensors and packed weights may take, the file apart; more is an error at preparation.
    public var memoryLimit = 2 << 30

    /// The most multiply-accumulates, or comparisons of a pool, that one run of one operator may take; more is an
    /// error at preparation. The default is some minutes' work.
    public var workLimit = 1 << 42

    /// Whether to time each operator, see ``Interpreter/profile``.
    public var profiles = false

    /// Whether each tensor keeps memory of its own, so that all can be read after a run.
    public var preservesAllTensors = false

    /// What planning does beyond one step for each operator; outputs stay the same without.
    package var passes = Passes.all

    /// Shapes of inputs, by position, instead of those of the file: for models that leave dimensions open, which
    /// are taken for 1 otherwise.
    public var inputShapes: [Int: TensorShape] = [:]

    /// Operators of your own that models may use.
    public var customOperators: [CustomOperator] = []

    /// Makes the default options: one thread, the fastest kernels.
    public init() {}
  }
}
