// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// What an ``Interpreter`` and its signature runners have in common: the model's resource variables, which signatures that
/// train write and signatures that predict read.
final class SharedVariables {
  /// The first engine that was made; later ones share its variables.
  var owner: Apus.Interpreter?
}
