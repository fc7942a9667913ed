// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

extension Runtime {
  /// The maximum number of bytes of machine code that the engine generates in this process; 64 MiB by default.
  ///
  /// Code is never released. Models that are prepared after the limit is reached use the code that exists, and portable
  /// kernels for the rest: they are slower, and floats may differ in their last bits. A process that prepares a hundred
  /// models does not reach the default; one that prepares thousands of different ones may.
  ///
  /// Set it before the first model is prepared. With 0, no code is generated.
  public static var generatedCodeLimit: Int {
    get { ExecutableMemory.byteLimit }
    set { ExecutableMemory.byteLimit = newValue }
  }
}
