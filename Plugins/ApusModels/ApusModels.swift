// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackagePlugin

/// Makes a Swift type for each `.tflite` file of a target: `birds.tflite` gives `Birds`.
@main
struct ApusModels: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "apus-generate").url
    let files = target.sourceFiles.map { $0 }
    return files.filter { $0.url.pathExtension.lowercased() == "tflite" }.compactMap { file in
      let name = file.url.lastPathComponent
      guard file.type == .resource else {
        Diagnostics.error(
          "\(name) is not a resource of the target \(target.name): add resources: [.copy(\"\(relative(file.url, to: target))\")]"
        )
        return nil
      }
      let stem = file.url.deletingPathExtension()
      let output = context.pluginWorkDirectoryURL.appending(path: stem.lastPathComponent + ".swift")
      let labels = ["txt", "json", "yaml", "csv"].map { stem.appendingPathExtension($0) }
        .first(where: exists)
      let pin = file.url.appendingPathExtension("sha256")
      let isPinned = exists(pin)
      return .buildCommand(
        displayName: "Making a Swift type for \(name)", executable: tool,
        arguments: [file.url.path(percentEncoded: false), output.path(percentEncoded: false)]
          + (labels.map { [$0.path(percentEncoded: false)] } ?? []),
        inputFiles: [file.url] + (labels.map { [$0] } ?? []) + (isPinned ? [pin] : []), outputFiles: [output])
    }
  }

  /// Whether there is a file. By default, `path()` writes blanks and letters beyond ASCII as per cent signs, which no file's name has.
  private func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
  }

  private func relative(_ file: URL, to target: SourceModuleTarget) -> String {
    let (path, folder) = (file.path(percentEncoded: false), target.directoryURL.path(percentEncoded: false))
    guard path.hasPrefix(folder) else { return file.lastPathComponent }
    return String(path.dropFirst(folder.count).drop { $0 == "/" })
  }
}
