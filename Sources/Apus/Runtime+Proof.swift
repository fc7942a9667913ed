// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration

extension Runtime {
  /// Whether a kernel set is compared with plain Swift before its first use in this process; by default not, unless the
  /// environment variable `APUS_PROVE` is set to 1.
  ///
  /// Generated code is tested on the processors that its developers have. On a new one, or in a virtual machine that announces
  /// instructions which it does not have right, this makes sure: some 150 small computations, once for each set, in less than
  /// a tenth of a second. If any comes out wrong, the next set takes the place of the set; ``kernelSets`` and the plans of models say
  /// so, and to ask for the set by its name is an error. An instruction that the processor lacks still ends the process;
  /// `apus doctor` finds that out in a process of its own.
  ///
  /// Set it before the first model is prepared.
  public static var provesKernels: Bool {
    get { KernelProofs.areRequired }
    set { KernelProofs.areRequired = newValue }
  }
}
