// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem
import ApusVision
import FoundationEssentials

/// A folder of `.npy` files, each named after a tensor.
struct ReferenceFolder {
  let path: String
  /// The folder's files by their names with an underscore in place of unusual characters; nil for a name that several have.
  private let files: [String: String?]

  /// Lists a folder.
  ///
  /// - Throws: `unreadableFile` if it cannot be read.
  init(path: String) throws(ApusError) {
    self.path = path
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      let place =
        path.hasPrefix("/")
        ? "" : "; the path begins at the current folder, '\(FileManager.default.currentDirectoryPath)'"
      throw ApusError(
        .unreadableFile,
        "cannot read the folder '\(path)', which should hold the reference's .npy files\(place)")
    }
    var files: [String: String?] = [:]
    for name in names where name.hasSuffix(".npy") {
      let plain = RecordedTensor.plain(String(name.dropLast(4)))
      files.updateValue(files.keys.contains(plain) ? nil : name, forKey: plain)
    }
    self.files = files
  }

  /// The array of a tensor; nil if the folder has no file for it.
  func array(of tensor: RecordedTensor) throws(ApusError) -> NumPyArray? {
    for name in tensor.fileNames {
      let file = "\(path)/\(name).npy"
      if unsafe access(file, F_OK) == 0 { return try Self.array(atPath: file) }
    }
    // Programs that write names keep other characters than Apus does.
    guard let plain = tensor.plainName, let name = files[plain] ?? nil else { return nil }
    return try Self.array(atPath: "\(path)/\(name)")
  }

  /// The inputs of a model in order.
  ///
  /// - Throws: `invalidArgument` if the folder lacks one of them.
  func inputs(of model: Model, tensors: [RecordedTensor]) throws(ApusError) -> [NumPyArray] {
    var arrays: [NumPyArray] = []
    for (position, input) in model.inputs.enumerated() {
      guard let tensor = tensors.first(where: { $0.index == input.index }), let array = try array(of: tensor)
      else {
        throw ApusError(
          .invalidArgument,
          "the folder '\(path)' has no input_\(position).npy, the values of input \(position) (\(input.name)) in the "
            + "reference's run; add that file, or give the inputs themselves")
      }
      arrays.append(array)
    }
    return arrays
  }

  /// Reads a `.npy` file.
  static func array(atPath path: String) throws(ApusError) -> NumPyArray {
    let bytes = try readWholeFile(at: path, limit: maximumByteCount)
    do { return try NumPyArray(file: bytes) } catch {
      throw ApusError(error.code, "the file '\(path)': \(error.message)")
    }
  }

  /// The maximum size of a file: a tensor of 2²⁸ floats and its head.
  private static let maximumByteCount = (1 << 30) + (1 << 20)
}
