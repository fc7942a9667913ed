// SPDX-License-Identifier: Apache-2.0

/// In TensorFlow Lite, a delegate runs parts of a model on other hardware.
///
/// Apus computes everything by itself. The type exists so that code which names it compiles; an ``Interpreter`` refuses
/// to be made with a delegate, so that a missing acceleration does not go unnoticed.
public protocol Delegate: AnyObject {
  /// Stands for TensorFlow Lite's pointer to a `TfLiteDelegate`, a type of its C library.
  typealias CDelegate = OpaquePointer?

  /// Nil in the delegates of this module.
  var cDelegate: CDelegate { get }
}
