// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// The engine behind this module.
public enum Runtime {
  /// The version of the engine, for example `1.0.0`: Apus's own, as no TensorFlow Lite runtime is involved.
  public static var version: String { Apus.Runtime.version }
}
