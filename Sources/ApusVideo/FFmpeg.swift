// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The program ffmpeg.
package enum FFmpeg {
  /// The version of a program by its own words, such as `5.1.6-0+deb12u1`; nil if it does not say one within five seconds.
  package static func version(of program: String) -> String? {
    guard let process = try? ChildProcess(program, ["-hide_banner", "-version"], pipe: .output) else {
      return nil
    }
    var text = [UInt8](repeating: 0, count: 256)
    let start = monotonicNanoseconds()
    let count: Int
    switch process.read(
      into: &text, timeout: 5_000, isWanted: { monotonicNanoseconds() - start < 5_000_000_000 })
    {
    case .done: count = text.count
    case .ended(let after): count = after
    case .stalled: return nil
    }
    // `ffmpeg version 5.1.6-0+deb12u1 Copyright (c) …`
    let line = String(decoding: text[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let words = line.split(separator: " ")
    return words.count > 2 && words[1] == "version" ? String(words[2].prefix(64)) : nil
  }

  /// The oldest version that reads and writes videos.
  static let minimumVersion = "ffmpeg 4.2"

  /// The option that keeps the frames of a film as they come. Version 5.1 has it by this name.
  static let frameRateOption = "-fps_mode"

  /// Arguments as versions before 5.1 understand them. Later ones call this name of the option outdated.
  static func argumentsBefore51(_ arguments: [String]) -> [String] {
    arguments.map { $0 == frameRateOption ? "-vsync" : $0 }
  }

  /// The text of a message of some level: `[error] text`, or that of parts of ffmpeg, `[mov @ 0x55fd0c4e0c40] [error] text`; nil for
  /// another message, such as one that repeats the metadata of a film, which may have any words.
  static func text(of message: Substring, levels: [String]) -> Substring? {
    var text = message
    while text.hasPrefix("["), let end = text.firstRange(of: "] "), text[..<end.lowerBound].contains(" @ 0x")
    {
      text = text[end.upperBound...]
    }
    for level in levels where text.hasPrefix("[\(level)] ") { return text.dropFirst(level.count + 3) }
    return nil
  }

  /// Whether there is an ordinary file at a path, and it is empty.
  static func isEmptyFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
  }

  /// Its file.
  ///
  /// - Throws: `unreadableFile` with what to install.
  static func find(for name: String) throws(ApusError) -> String {
    guard let program = ChildProcess.find("ffmpeg") else {
      throw ApusError(
        .unreadableFile,
        """
        '\(name)' needs the program ffmpeg, which is not in PATH; on Debian: apt-get install ffmpeg (\(minimumVersion) or \
        newer)
        """)
    }
    return program
  }
}

extension VideoLocation {
  /// The path of a URL such as `file:///films/a%20b.mp4`.
  static func path(ofFileURL name: String) -> String {
    let path = URL(string: name).map { $0.path(percentEncoded: false) } ?? ""
    return path.isEmpty ? String(name.dropFirst("file://".count)) : path
  }

  /// Says early, and better than ffmpeg, why a file or device cannot be opened.
  func checkAccess() throws(ApusError) {
    guard kind == .file || kind == .device else { return }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw ApusError(.unreadableFile, "cannot open '\(name)': \(systemReason(errno))")
    }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw ApusError(.unreadableFile, "cannot open '\(name)': it is a folder")
    }
    guard status.st_mode & S_IFMT != S_IFREG || status.st_size > 0 else {
      throw ApusError(.unreadableFile, "cannot read '\(name)': it is empty; download or copy it again")
    }
    guard unsafe access(path, R_OK) == 0 else {
      let advice = kind == .device ? "; the group 'video' may: usermod -aG video USER, then log in again" : ""
      throw ApusError(.unreadableFile, "cannot open '\(name)': \(systemReason(errno))\(advice)")
    }
  }

  /// Whether the source is the file at a path, through whatever links.
  package func isFile(at path: String) -> Bool {
    kind == .file && FileIdentity.areSame(self.path, path)
  }

  /// The error of a source from which no frame came.
  func noFrames(_ message: String?) -> ApusError { failure(message ?? "it has no frames") }

  /// The error for what ffmpeg said last.
  func failure(_ message: String) -> ApusError {
    var message = masked(message)
    // ffmpeg repeats the name before its reason.
    for prefix in ["\(name): ", "file:\(name): ", "\(masked(inputName)): "] where message.hasPrefix(prefix) {
      message = String(message.dropFirst(prefix.count))
    }
    message = String(message.prefix(200))
    if kind == .device, message.contains("busy") {
      message += FileUsers.of(path).map { "; it is used by \($0)" } ?? ""
    }
    return ApusError(.unreadableFile, "cannot read '\(name)': \(message)")
  }
}

/// Which other processes have a file open.
package enum FileUsers {
  /// Names and numbers, such as `cheese (1234)`; nil if none can be seen.
  package static func of(_ path: String) -> String? {
    #if os(Linux)
      // Devices have other names that are links, such as those in `/dev/v4l/by-id`.
      let resolved = unsafe realpath(path, nil)
      defer { unsafe free(resolved) }
      let file = unsafe resolved.map { unsafe String(cString: $0) } ?? path
      var users: [String] = []
      let own = "\(getpid())"
      for process in entries("/proc")
      where process != own && process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
        let folder = "/proc/\(process)/fd"
        guard entries(folder).contains(where: { target(of: "\(folder)/\($0)") == file }) else { continue }
        let name = (try? readWholeFile(at: "/proc/\(process)/comm", limit: 256)).map {
          String(decoding: $0, as: UTF8.self)
        }
        users.append("\(name?.split(whereSeparator: \.isNewline).first ?? "process") (\(process))")
      }
      return users.isEmpty ? nil : users.joined(separator: ", ")
    #else
      return nil
    #endif
  }

  private static func entries(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  private static func target(of link: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: link)
  }
}
