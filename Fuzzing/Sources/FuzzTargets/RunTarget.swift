// SPDX-License-Identifier: Apache-2.0

import Apus

/// Loading, preparing and running models, with little memory and time.
public enum RunTarget: FuzzTarget {
  public static let name = "run"

  public static func run(_ bytes: [UInt8]) {
    guard let model = try? Model(bytes: bytes) else { return }
    _ = try? FuzzedRun(model, kernels: nil).outputs()
  }

  public static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    ModelMutation.apply(to: &bytes, using: &random)
  }
}
