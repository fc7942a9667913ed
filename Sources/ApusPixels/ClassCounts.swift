// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// How often each class occurs: 65,536 counters, one for each number that a mask can hold.
package struct ClassCounts: Sendable {
  package private(set) var counters = [Int](repeating: 0, count: 1 << 16)
  private let code: CodeFunction<GridCode.Counts>?

  /// No class so far.
  package init(kernels: KernelSet) {
    code = kernels.pictureTarget == nil ? nil : try? unsafe CodeFunction(X86ClassCountGenerator())
    ExecutableMemory.seal()
  }

  /// Counts some pixels of a mask.
  package mutating func add(_ classes: Span<UInt16>) {
    guard !classes.isEmpty else { return }
    unsafe classes.withUnsafeBufferPointer { classes in
      unsafe counters.withUnsafeMutableBufferPointer { counters in
        if let code {
          code.call(
            GridCode.Counts(
              classes: Int(bitPattern: classes.baseAddress), count: classes.count,
              counters: Int(bitPattern: counters.baseAddress)))
        } else {
          for index in 0..<classes.count { unsafe counters[Int(classes[index])] &+= 1 }
        }
      }
    }
  }
}
