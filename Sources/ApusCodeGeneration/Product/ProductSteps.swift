// SPDX-License-Identifier: Apache-2.0

/// The number of K-steps of a product whose K loop is unrolled, without extra K-steps.
struct ProductSteps: Hashable {
  let taps: Int
  let perTap: Int
}
