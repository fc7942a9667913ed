// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads an array of NumPy's and writes it again.
@_spi(Fuzzing) public func fuzzNumPyArray(_ bytes: [UInt8]) {
  guard let array = try? NumPyArray(file: bytes) else { return }
  _ = (array.fits(.float32), array.tensorBytes(of: .bfloat16), array.file)
}
