// SPDX-License-Identifier: Apache-2.0

import Apus

/// One operator built from bytes: any of them, with any inputs, options and outputs.
public enum OperatorTarget: FuzzTarget {
  public static let name = "operator"

  public static func run(_ bytes: [UInt8]) {
    guard let model = try? Model(bytes: OperatorRecipe(bytes).model) else { return }
    _ = try? FuzzedRun(model, kernels: nil).outputs()
  }
}

/// The options of detection post-processing.
public enum DetectionTarget: FuzzTarget {
  public static let name = "detection"

  public static func run(_ bytes: [UInt8]) {
    guard let model = try? Model(bytes: OperatorRecipe.detection(options: bytes)) else { return }
    _ = try? FuzzedRun(model, kernels: nil).outputs()
  }
}
