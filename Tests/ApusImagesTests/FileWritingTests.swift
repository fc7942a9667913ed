// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import Foundation
import TestSupport
import Testing

@Suite struct FileWritingTests {
  @Test("what another process has written to a descriptor stays, and its link, too")
  func writesToDescriptors() throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "log.txt")
      try Data("before\n".utf8).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      let link = folder.appending(path: "link").path
      let target = "/dev/fd/\(handle.fileDescriptor)"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      try checkWritable(link)
      try writeWholeFile(Array("one\n".utf8), to: link)
      try writeWholeFile(Array("two\n".utf8), to: target)
      // Descriptors share the place at which the next byte goes.
      try handle.write(contentsOf: Data("after\n".utf8))
      try handle.close()
      #expect(try String(contentsOf: file, encoding: .utf8) == "before\none\ntwo\nafter\n")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
    }
  }

  @Test("a link stays a link, whether or not its file exists")
  func keepsLinks() throws {
    try withTemporaryFolder { folder in
      let link = folder.appending(path: "link").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
      for text in ["first", "second"] {
        try checkWritable(link)
        try writeWholeFile(Array(text.utf8), to: link)
        #expect(try String(contentsOf: folder.appending(path: "file"), encoding: .utf8) == text)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
      }
    }
  }

  @Test("links that lead nowhere are refused and stay")
  func refusesLinksWithoutEnd() throws {
    try withTemporaryFolder { folder in
      let link = folder.appending(path: "loop").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "loop")
      #expect(throws: ApusError.self) { try checkWritable(link) }
      #expect(throws: ApusError.self) { try writeWholeFile([1], to: link) }
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "loop")
    }
  }
}
