// SPDX-License-Identifier: Apache-2.0

import Apus

/// The reader of models: everything that can be asked of a model without running it.
public enum ModelTarget: FuzzTarget {
  public static let name = "model"

  public static func run(_ bytes: [UInt8]) {
    guard let model = try? Model(bytes: bytes) else { return }
    _ = (model.inputs, model.outputs, model.signatures, model.unsupportedOperators, model.operatorCounts)
    _ = (model.subgraphs, model.description, model.associatedFiles)
    _ = (model.metadata, model.labels, model.metadataDamage)
  }

  public static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    ModelMutation.apply(to: &bytes, using: &random)
  }
}
