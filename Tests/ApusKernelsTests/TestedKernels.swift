import ApusKernels
import Foundation

extension KernelSet {
  /// The sets that this run tests: all that the machine supports, or those of them that `APUS_TEST_KERNELS` names, with
  /// commas between. On an emulated processor, the sets that it is emulated for are enough.
  ///
  /// All are tested where none is named, lest a misspelt name test nothing.
  static let tested: [KernelSet] = {
    let names = ProcessInfo.processInfo.environment["APUS_TEST_KERNELS"]?.split(separator: ",").map(
      String.init)
    let wanted = supported.filter { names?.contains($0.name) ?? true }
    return wanted.isEmpty ? supported : wanted
  }()
}
