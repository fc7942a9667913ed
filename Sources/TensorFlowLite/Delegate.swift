// SPDX-License-Identifier: Apache-2.0

/// What hands parts of a model to other hardware in TensorFlow Lite.
///
/// Apus computes everything by itself. The type exists so that code which names it compiles; an ``Interpreter`` refuses
/// to be made with a delegate, so that nobody waits for an acceleration that does not come.
public protocol Delegate: AnyObject {
  /// Stands for TensorFlow Lite's pointer to a `TfLiteDelegate`, a type of its C library.
  typealias CDelegate = OpaquePointer?

  /// Nil in the delegates of this module.
  var cDelegate: CDelegate { get }
}
