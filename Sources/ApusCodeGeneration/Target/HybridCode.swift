// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A target's code for hybrid layers, whose float activations are quantized at run time.
protocol HybridCode {
  /// Code that quantizes floats to bytes or to `int16`; nil if plain Swift does it.
  func quantization(makesBytes: Bool) -> QuantizationCode?
}
