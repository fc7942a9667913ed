// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusSystem

extension Interpreter {
  /// How to run a model.
  ///
  /// ```swift
  /// var options = Interpreter.Options()
  /// options.threadCount = 2
  /// options.memoryLimit = 256 << 20
  /// let interpreter = try Interpreter(model: model, options: options)
  /// ```
  public struct Options: Sendable {
    /// The maximum number of threads of one run, 1 to 64. Results do not depend on it. Small operators use fewer.
    public var threadCount = 1

    /// The kernel set to prefer, one of ``Runtime/kernelSets``. Nil means the one that the environment
    /// variable `APUS_KERNELS` names, or else the fastest that this machine runs.
    public var kernels: KernelSetName?

    /// The precision of products of floats. Results differ from those of ``Precision/float32`` in all others.
    public var precision = Precision.float32

    /// The maximum number of bytes of tensors, packed weights, variables, operators' tables and values that preparation reads, of all
    /// subgraphs together; the file is not counted. Beyond it, preparation throws `resourceLimit` before memory is taken, and so
    /// does a run where data decides sizes. The default is 1 GiB.
    public var memoryLimit = 1 << 30

    /// The maximum number of elements of one tensor. Beyond it, preparation throws `resourceLimit`.
    public var elementLimit = Int(Int32.max)

    /// The maximum work of one operator in one run, in multiply-accumulates or, for pooling, comparisons. Beyond it,
    /// preparation throws `resourceLimit`. The default, 2⁴², is minutes of work.
    public var workLimit = 1 << 42

    /// The maximum work of one run, loops included: multiply-accumulates, and elements read or written. Beyond it, the run
    /// throws `resourceLimit`. The default, 2⁴⁴, is minutes of work.
    public var runWorkLimit = 1 << 44

    /// The maximum number of iterations of all `WHILE` loops of one run together. Beyond it, the run throws
    /// `resourceLimit`.
    public var loopLimit = 1 << 22

    /// The maximum wall time of a preparation, and of a run; nil, the default, means no limit. Either throws `resourceLimit`
    /// soon after the time is up, even in the middle of a long operator.
    public var timeLimit: Duration?

    /// When preparations and runs end, as with ``timeLimit``, whichever comes first.
    package var deadline: Moment?

    /// Whether to time each operator; ``Interpreter/profile`` has the result.
    public var profiles = false

    /// Whether each tensor has memory of its own, so that `withTensor(at:as:_:)` can read all of them
    /// after a run. Costs memory and speed.
    public var preservesAllTensors = false

    /// The kernel set itself, in place of one with the name ``kernels``: for tests and proofs of sets.
    package var kernelSet: KernelSet?

    /// The rewrites that planning applies; outputs stay the same without them.
    package var passes = Passes.all

    /// Input shapes by position, in place of the file's. Open dimensions are 1 unless you set them here.
    public var inputShapes: [Int: TensorShape] = [:]

    /// Operators of your own that the model may use. Names must be unique.
    public var customOperators: [CustomOperator] = []

    /// Makes the default options: one thread, the fastest kernels.
    public init() {}
  }
}
