// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision
import FoundationEssentials

/// A small model with inputs and the outputs of LiteRT's reference kernels.
package struct GoldenCase: Sendable {
  /// The operator, then what is special about the case; it begins with its element type.
  package let name: String
  /// The file of the model.
  package let model: [UInt8]
  /// The arrays for the inputs, in order.
  package let inputs: [NumPyArray]
  /// The reference's outputs, in order.
  package let outputs: [NumPyArray]

  /// The cases that are part of this program.
  package static func all() throws(ApusError) -> [GoldenCase] {
    do {
      let file = Data(base64Encoded: DoctorGoldens.base64) ?? Data()
      let archive = try ZipArchive(ZipArchive(Array(file)).contents(of: "goldens.zip"))
      return try cases(in: archive)
    } catch {
      throw ApusError(.internalError, "the built-in cases cannot be read: \(error)")
    }
  }

  /// The cases of an archive with a folder for each.
  private static func cases(in archive: ZipArchive) throws -> [GoldenCase] {
    var names: [String] = []
    var files: [String: [String: [UInt8]]] = [:]
    for entry in archive.entries {
      let parts = entry.name.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      if files[parts[0]] == nil { names.append(parts[0]) }
      files[parts[0], default: [:]][parts[1]] = try archive.contents(of: entry.name)
    }
    return try names.map { name in
      let own = files[name] ?? [:]
      func arrays(_ kind: String) throws -> [NumPyArray] {
        var arrays: [NumPyArray] = []
        while let file = own["\(kind)_\(arrays.count).npy"] { arrays.append(try NumPyArray(file: file)) }
        return arrays
      }
      return GoldenCase(
        name: name, model: own["model.tflite"] ?? [], inputs: try arrays("input"),
        outputs: try arrays("output"))
    }
  }
}
