// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension KernelSet {
  /// Prepares a convolution with this set, or with the next supported one that has a kernel for it; nil only
  /// if operands and epilogue do not fit together.
  ///
  /// - Parameter isForOneThread: whether it always runs on one thread; parts that several threads need may
  ///   then be omitted.
  package func choose(
    _ convolution: Convolution, isForOneThread: Bool = false
  ) -> Chosen<any PreparedConvolution>? {
    let convolution = convolution.alongRows
    return first { set throws(Decline) in
      try set.convolutions.convolution(convolution, isForOneThread: isForOneThread)
    }.chosen
  }

  /// Prepares a sum of bytes with this set, or with the next supported one that has a kernel for it.
  package func choose(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) -> Chosen<any BinaryKernel> {
    chooseInOrder(otherwise: sum.bytes(isSigned: isSigned, shapes)) { set throws(Decline) in
      try set.generatedKernels().sum(sum, isSigned: isSigned, shapes)
    }
  }

  /// Prepares a product of bytes with this set, or with the next supported one that has a kernel for it.
  package func choose(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) -> Chosen<any BinaryKernel> {
    chooseInOrder(otherwise: product.bytes(isSigned: isSigned, shapes)) { set throws(Decline) in
      try set.generatedKernels().product(product, isSigned: isSigned, shapes)
    }
  }

  /// Prepares an operation of floats with this set, or with the next supported one that has a kernel for it.
  package func choose(_ operation: FloatOperation, _ shapes: BroadcastShapes) -> Chosen<any BinaryKernel> {
    chooseInOrder(otherwise: operation.kernel(shapes)) { set throws(Decline) in
      try set.generatedKernels().floats(operation, shapes)
    }
  }

  // MARK: Asking

  /// The kernel of this set, or of the first one after it that does not decline; and the sets that declined.
  private func first<Kernel>(
    _ prepare: (KernelSet) throws(Decline) -> Kernel
  ) -> (chosen: Chosen<Kernel>?, declined: [KernelChoice.Declined]) {
    let position = Self.supported.firstIndex { $0.name == name } ?? -1
    var declined: [KernelChoice.Declined] = []
    // Faster sets that were found to be wrong are the reason for this one.
    if KernelProofs.areRequired, position > 0 {
      for set in Self.supported[..<position] {
        if let objection = KernelProofs.knownObjection(to: set) {
          declined.append(.init(set: set.name, decline: objection))
        }
      }
    }
    func ask(_ set: KernelSet) -> Chosen<Kernel>? {
      do throws(Decline) {
        if let objection = KernelProofs.objection(to: set) { throw objection }
        return (try prepare(set), KernelChoice(set: set.name, declined: declined))
      } catch {
        declined.append(.init(set: set.name, decline: error))
        return nil
      }
    }
    if let chosen = ask(self) { return (chosen, declined) }
    for set in Self.supported[(position + 1)...] {
      if let chosen = ask(set) { return (chosen, declined) }
    }
    return (nil, declined)
  }

  /// The kernel of this set, or of the first one after it that does not decline, or else the portable kernel.
  private func chooseInOrder(
    otherwise portable: @autoclosure () -> any BinaryKernel,
    _ prepare: (KernelSet) throws(Decline) -> any BinaryKernel
  ) -> Chosen<any BinaryKernel> {
    let (chosen, declined) = first(prepare)
    if let chosen { return chosen }
    let name = Self.portable.name
    return (portable(), KernelChoice(set: name, declined: declined.filter { $0.set != name }))
  }
}
