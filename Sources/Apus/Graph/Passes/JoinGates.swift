// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// An elementwise product that may be a gate, `x · f(x)`.
struct GatedProduct {
  /// The types of the product.
  enum Operands {
    /// Floats, not clamped.
    case floats
    /// Bytes, signed or not.
    case bytes(QuantizedProduct, isSigned: Bool)
  }

  let lhs: TensorSlot
  let rhs: TensorSlot
  let output: TensorSlot
  let operands: Operands
}

extension Pass {
  /// **Rule:** `x · f(x)` becomes one function of `x` if `f(x)` has no other consumer: for bytes any `f`, for
  /// floats `x · σ(x)`.
  ///
  /// **Reason:** it halves the work, is a single table for bytes, and the producer of `x` may absorb it.
  package static let gates = Pass("gates", .segment { (plan, _) throws(ApusError) in plan.joinGates() })
}

extension PlanDraft {
  fileprivate func joinGates() {
    guard contains(where: { $0.gatedProduct != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    for index in steps.indices {
      guard let product = steps[index].facet.gatedProduct else { continue }
      for (gate, input) in [(product.lhs, product.rhs), (product.rhs, product.lhs)] {
        guard gate.shape == input.shape, gate.index != input.index, gate.index < writers.count,
          writers[gate.index] >= 0, !isVariable(input.index),
          case .unary(let unary) = steps[writers[gate.index]].facet,
          unary.input.index == input.index, let function = unary.function,
          isRead(gate.index, byNoneBut: steps[index]),
          let joined = product.joined(
            with: function, isGateFirst: gate.index == product.lhs.index, input, kernels)
        else { continue }
        steps[index] = steps[index].doing(
          joined, absorbing: [steps[writers[gate.index]]], reads: [input.index])
        isAbsorbed[writers[gate.index]] = true
        break
      }
    }
    removeSteps { isAbsorbed[$0] }
  }
}

extension GatedProduct {
  /// The product as one function of `input`, whose other factor is `function` of it.
  fileprivate func joined(
    with function: UnaryOperator.Function, isGateFirst: Bool, _ input: TensorSlot, _ kernels: KernelSet
  ) -> UnaryOperator? {
    switch (operands, function) {
    case (.floats, .floats(.logistic)):
      return UnaryOperator(FloatFunction.swish, input: input, output: output, using: kernels)
    case (.bytes(let product, let isSigned), .bytes(let table)):
      let gated = ByteTable(isSigned: isSigned) { value in
        let factor = table.results[Int(UInt8(truncatingIfNeeded: value))]
        let other = isSigned ? Int32(Int8(bitPattern: factor)) : Int32(factor)
        return isGateFirst ? product(other, value) : product(value, other)
      }
      return UnaryOperator(gated, input: input, output: output, using: kernels)
    default: return nil
    }
  }
}
