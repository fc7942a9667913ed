// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Runtime {
  /// The most bytes of machine code that the engine generates in this process; 64 MiB unless it is set.
  ///
  /// Code is never given back. Models that are prepared after the limit is reached run with the code that is there and
  /// with portable kernels: more slowly, and floats may differ in their last bits. Set it before the first model is
  /// prepared; 0 means that no code is generated at all.
  ///
  /// A process that prepares models of a great many strangers reaches the limit at last; one that prepares a hundred of
  /// its own does not.
  public static var generatedCodeLimit: Int {
    get { ExecutableMemory.byteLimit }
    set { ExecutableMemory.byteLimit = newValue }
  }
}
