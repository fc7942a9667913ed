// SPDX-License-Identifier: Apache-2.0

/// Code of a target for floats that are quantized when they come.
protocol HybridCode {
  /// What quantizes them to bytes or words; nil where plain Swift does.
  func quantization(makesBytes: Bool) -> QuantizationCode?
}
