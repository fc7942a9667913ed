// SPDX-License-Identifier: Apache-2.0

/// Code of a target for what Winograd's way does beside its products.
protocol WinogradCode {
  /// What it takes where the direct way multiplies so; nil where it never pays.
  func cost(_ product: ProductKind) -> WinogradCost?
  /// What writes a step of it.
  func generator(_ step: WinogradStep) -> any CodeGenerator
}
