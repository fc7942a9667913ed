// SPDX-License-Identifier: Apache-2.0

/// The steps of a product whose number is part of its code, apart from extra ones.
struct ProductSteps: Hashable {
  let taps: Int
  let perTap: Int
}
