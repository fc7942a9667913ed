// SPDX-License-Identifier: Apache-2.0

// TensorFlowLiteSwift's umbrella header brings Foundation along, and clients use `Bundle`, `Data` and `URL` without an
// import of their own.
@_exported import Foundation
