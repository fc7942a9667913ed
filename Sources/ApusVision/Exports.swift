// SPDX-License-Identifier: Apache-2.0

// The types that every program with a task names beside it: its errors, and the flag that cancels it. `Model`
// and `Interpreter` are left to `import Apus`, so that they mean those of TensorFlowLite where that is
// imported instead.

@_exported import struct Apus.ApusError
@_exported import class Apus.Cancellation
