// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// The model's resource variables, which an ``Interpreter`` and its signature runners share: signatures that
/// train write them, and signatures that predict read them.
final class SharedVariables {
  /// The first engine that was made; later ones share its variables.
  var owner: Apus.Interpreter?
}
