// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Convolutions in generated code for one target: the first strategy that accepts a layer computes it.
@safe package struct CodeKernels: ConvolutionKernels {
  private let target: any CodeTarget
  /// How unsigned bytes are multiplied, in products and in depthwise convolutions.
  private let bytes: ProductKind
  private let depthwiseBytes: ProductKind
  private let placement: CodePlacement

  /// The strategies to try; tests restrict them.
  package var strategies = ConvolutionStrategy.allCases
  /// Whether Winograd's method declines layers for which it is estimated to be slower.
  package var comparesCost = true
  /// The machine to lay convolutions out for.
  package var machine: MachineModel

  init(
    _ target: any CodeTarget, bytes: ProductKind, depthwiseBytes: ProductKind? = nil,
    placement: @escaping CodePlacement = { unsafe $0.place() }
  ) {
    self.target = target
    self.bytes = bytes
    self.depthwiseBytes = depthwiseBytes ?? bytes
    unsafe self.placement = unsafe placement
    machine = MachineModel(pipes: target.pipes)
  }

  package func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    guard !convolution.isDepthwise else {
      return unsafe try DepthwiseKernel(
        convolution, target: target, bytes: depthwiseBytes, machine: machine, placement: placement)
    }
    var declined: [Decline] = []
    for strategy in strategies {
      do throws(Decline) {
        switch strategy {
        case .filter:
          guard target.maximumInnerRows(columnCount: 1) == nil, let filter = convolution.filter else {
            continue
          }
          return unsafe try DepthwiseKernel(
            filter, target: target, bytes: bytes, machine: machine, placement: placement)
        case .winograd:
          guard convolution.filterHeight == 3, convolution.filterWidth == 3, !convolution.operands.isBFloat16
          else { continue }
          return unsafe try WinogradKernel(
            convolution, target: target, bytes: bytes, machine: machine, comparesCost: comparesCost,
            isForOneThread: isForOneThread, placement: placement)
        case .product:
          return unsafe try ProductKernel(
            convolution, target: target, bytes: bytes, machine: machine,
            isForOneThread: isForOneThread, passedOver: declined, placement: placement)
        }
      } catch {
        if declined.isEmpty, strategy == strategies.last { throw error }
        declined.append(error.of(strategy.name))
      }
    }
    let reasons = declined
    throw Decline(reasons.map(\.description).joined(separator: "; "))
  }

  package func bfloat16Order(_ convolution: Convolution) throws(Decline) -> BFloat16Order {
    try target.bfloat16Order(convolution, machine.pipes)
  }

  package func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    try target.thinProduct(rows: rows, depth: depth, columns: columns)
  }
}
