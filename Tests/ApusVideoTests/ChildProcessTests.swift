// SPDX-License-Identifier: Apache-2.0
import ApusVideo
import Foundation
import TestSupport
import Testing

/// Programs that run beside this one.
@Suite struct ChildProcessTests {
  private func withProgram(_ script: String, _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "program")
      try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      try body(file.path)
    }
  }

  @Test("the version is the third word of the first line")
  func readsVersions() throws {
    try withProgram("echo 'ffmpeg version 5.1.6-0+deb12u1 Copyright (c) 2000'; echo more") { program in
      #expect(FFmpeg.version(of: program) == "5.1.6-0+deb12u1")
    }
    for script in ["", "exit 1", "echo ffmpeg 5", "echo 'ffmpeg version'"] {
      try withProgram(script) { program in #expect(FFmpeg.version(of: program) == nil) }
    }
    #expect(FFmpeg.version(of: "/no/ffmpeg") == nil)
  }

  #if os(Linux)
    @Test("a program has no open files of this process")
    func inheritsNoFiles() throws {
      // Without the mark that closes it in other programs, and not a number that the shell takes for its own pipes.
      let descriptor = fcntl(0, F_DUPFD, 100)
      defer { close(descriptor) }
      #expect(descriptor >= 100)
      try withProgram("echo ffmpeg version :$(ls /proc/$$/fd | tr '\\n' :) end") { program in
        let files = try #require(FFmpeg.version(of: program)).split(separator: ":").map(String.init)
        #expect(Set(files).isSuperset(of: ["0", "1", "2"]) && !files.contains("\(descriptor)"), "\(files)")
      }
    }
  #endif
}
