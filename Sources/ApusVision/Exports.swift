// SPDX-License-Identifier: Apache-2.0

// What every program with a task names beside it: its errors, and what cancels it. `Model` and `Interpreter` are left to
// `import Apus`, so that they mean those of TensorFlowLite where that is imported instead.

@_exported import struct Apus.ApusError
@_exported import class Apus.Cancellation
