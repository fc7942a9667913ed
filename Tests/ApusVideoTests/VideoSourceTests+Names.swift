// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import Foundation
import TestSupport
import Testing

/// The names of sources: which are read, what they are taken for, and secrets in them.
extension VideoSourceTests {
  @Test("a name that can never be right is refused before anything is opened")
  func checksNames() throws {
    try VideoSource.check("rtsp://camera/1")
    try VideoSource.check("missing.mp4")
    for name in ["test:shapes", "ftp://ada:s3cret@host/film.mp4", "-", ""] {
      #expect(throws: ApusError.self) { try VideoSource.check(name) }
    }
  }

  @Test(
    "Motion-JPEG that comes picture by picture over HTTP is live, everything else there a file",
    arguments: [("mpjpeg", nil, true), ("mpegts", nil, false), ("mpjpeg", false, false)]
      as [(String, Bool?, Bool)])
  func tellsCamerasFromFilmsOverHTTP(format: String, isLive: Bool?, expected: Bool) async throws {
    let script =
      "echo \"[info] Input #0, \(format), from 'http://camera/1':\" >&2; \(Self.header) \(Self.frame) sleep 0.5; \(Self.frame)"
    let source = try source(script, as: "http://camera/1") { options in
      options.isLive = isLive
      options.restartLimit = 0
    }
    let (frames, error) = await collect(source)
    #expect(error == nil && frames.count == 2 && source.isLive == expected)
    let time = try #require(frames.last).time
    #expect(expected ? (0.4..<5).contains(time) : time == 0.1, "\(time)")
  }

  @Test(
    "a film over HTTP whose title is a line of ffmpeg stays a film",
    arguments: [
      "    title           : Input #0, mpjpeg, from x",
      "  Stream #0:0(Input #0, mpjpeg, from x): Video: h264",
    ])
  func doesNotBelieveTitles(title: String) async throws {
    let script = "echo \"[info] \(title)\" >&2; \(Self.header) \(Self.frame) \(Self.frame)"
    let source = try source(script, as: "http://camera/1") { $0.restartLimit = 0 }
    let (frames, error) = await collect(source)
    #expect(error == nil && frames.count == 2 && !source.isLive)
  }

  @Test(
    "a per cent sign in the name of a picture stands for itself", .enabled(if: hasFFmpeg, "ffmpeg is missing")
  )
  func readsNamesWithPercent() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        "ffmpeg -loglevel error -f lavfi -i color=red:size=32x32:duration=0.04 -frames:v 1 a.png; for n in 1 2 3; do cp a.png seq$n.png; done; cp a.png 'seq%d.png'; cp a.png 'my%20dog.png'",
        in: folder)
      #expect(made.status == 0, "\(made.errors)")
      for name in ["seq%d.png", "my%20dog.png", "a.png"] {
        let (frames, error) = await collect(
          try VideoSource(folder.appending(component: name).path(percentEncoded: false)))
        #expect(error == nil && frames.count == 1, "\(name): \(error?.message ?? "")")
      }
    }
  }

  @Test(
    "names that stand for no source are refused",
    arguments: [
      "", "test:", "test:nothing", "test:testsrc2:4x4", "test:testsrc2:64x64:-1", "test:testsrc2,drawtext",
      "ftp://a/b",
      "concat://a", "/no/such/file.mp4", "/", "-i", "/dev/video99",
    ])
  func refusesNames(name: String) {
    #expect(throws: ApusError.self) { try VideoSource(name) }
  }

  @Test func namesOfFilesAreNoOptionsAndNoProtocols() throws {
    let options = VideoSource.Options()
    for name in ["-version", "concat:a|b", "http:x", "x;y", "$(id)"] {
      let arguments = try VideoLocation(name).arguments(options)
      #expect(arguments.contains("file:\(name)"))
      #expect(arguments[try #require(arguments.firstIndex(of: "-protocol_whitelist")) + 1] == "file")
    }
    let stream = try VideoLocation("rtsp://camera/1").arguments(options)
    #expect(stream[try #require(stream.firstIndex(of: "-protocol_whitelist")) + 1] == "rtsp,rtp,udp,tcp")
    #expect(try VideoLocation("rtsp://camera/1").isLive && !VideoLocation("film.mp4").isLive)
  }

  @Test(
    "a scheme may have capitals",
    arguments: [
      ("HTTP://Camera/A.ts", "http://Camera/A.ts"), ("Rtsp://camera/1", "rtsp://camera/1"),
      ("UDP://camera:9", "udp://camera:9"),
    ])
  func readsSchemesInCapitals(name: String, url: String) async throws {
    #expect(try VideoLocation(name).arguments(VideoSource.Options()).contains(url))
    let (_, error) = await collect(try source("echo '[error] \(url): refused' >&2; exit 1", as: name))
    #expect(error?.message == "cannot read '\(name)': refused")
  }

  @Test(
    "a file's URL is refused with its path",
    arguments: [
      ("file:///films/a.mp4", "/films/a.mp4"), ("FILE:///films/a%20b.mp4", "/films/a b.mp4"),
      ("file://localhost/films/a.mp4", "/films/a.mp4"),
    ])
  func namesThePathOfAURL(name: String, path: String) {
    let error = #expect(throws: ApusError.self) { try VideoSource.check(name) }
    #expect(error?.message == "'\(name)' is the URL of a file: name the file, \(path)")
  }

  @Test(
    "no error shows the user and password of a URL",
    arguments: [
      "exit 1", "echo '[error] rtsp://ada:s3cret@camera/1: refused ada:s3cret' >&2; exit 1",
      "printf X; sleep 9",
      header + "printf 'FRAME\\n01'; echo '[error] rtsp://ada:s3cret@camera/1: gone' >&2; exit 1",
    ])
  func masksPasswords(script: String) async throws {
    let source = try source(script, as: "rtsp://ada:s3cret@camera/1") { $0.restartLimit = 0 }
    #expect(source.name == "rtsp://…@camera/1")
    let (_, error) = await collect(source)
    let message = try #require(error).message
    #expect(message.contains("'rtsp://…@camera/1'") && !message.contains("s3cret"), "\(message)")
    #expect(try self.source(script, as: "rtsp://a@b:c@camera/1@2").name == "rtsp://…@camera/1@2")
    #expect(try self.source(script, as: "http://camera/@1").name == "http://camera/@1")
    let unknown = #expect(throws: ApusError.self) { try VideoLocation("ftp://ada:s3cret@host/film.mp4") }
    #expect(unknown?.message.contains("s3cret") == false)
  }

  @Test(
    "of a URL, the user, the password, the query and parts with a value are not shown",
    arguments: [
      ("rtsp://ada:s3cret@camera/live?token=1234", "rtsp://…@camera/live?…"),
      ("http://camera:81/a.cgi?user=ada&pwd=s3cret#s3cret", "http://camera:81/a.cgi?…"),
      ("http://camera/a.mjpg#s3cret", "http://camera/a.mjpg#…"),
      ("http://camera?pwd=s3cret", "http://camera?…"),
      ("rtsp://camera:554/user=ada_password=s3cret_channel=1.sdp", "rtsp://camera:554/…"),
      ("http://ada:s3cret/t@camera/1", "http://…@camera/1"),
      ("rtsp://a@b:c@camera/1@2", "rtsp://…@camera/1@2"),
      ("rtsp://[::1]:554/1@2", "rtsp://[::1]:554/1@2"), ("rtsp://[fe80::1]/1@2", "rtsp://[fe80::1]/1@2"),
      ("rtsp+x://ada:s3cret@camera/1", "rtsp+x://…@camera/1"), ("http://camera/@1", "http://camera/@1"),
      ("film?a=b.mp4", "film?a=b.mp4"), ("/films/a://b?c.mp4", "/films/a://b?c.mp4"),
    ])
  func masksAddresses(name: String, shown: String) throws {
    let address = MaskedAddress(name)
    #expect(address.text == shown)
    #expect(MaskedAddress(shown).text == shown)
    guard shown.contains("…") else { return }
    #expect(address.masked("[error] '\(name)': refused") == "[error] '\(shown)': refused")
    #expect(address.masked("\(name): refused") == "\(shown): refused")
    let elsewhere = MaskedAddress("film.mp4").masked("from \(name), and \(name)")
    #expect(elsewhere == "from \(shown), and \(shown)")
  }

  @Test(
    "a file opens no other one, and frames beyond the limit are not decoded",
    .enabled(if: hasFFmpeg, "ffmpeg is missing"))
  func staysInItsFile() async throws {
    try await withTemporaryFolderAsync { folder in
      let made = try shell(
        """
        ffmpeg -loglevel error -f lavfi -i testsrc2=size=640x480:rate=10:duration=0.3 film.mp4 && \
        printf '#EXTM3U\\n#EXT-X-TARGETDURATION:3\\n#EXTINF:3,\\nfile://%s/film.mp4\\n' "$PWD" > party.mp4 && \
        printf 'ffconcat version 1.0\\nfile film.mp4\\n' > holiday.mp4
        """, in: folder)
      try #require(made.status == 0)
      for name in ["party.mp4", "holiday.mp4"] {
        let (frames, error) = await collect(try VideoSource(folder.appending(path: name).path))
        #expect(
          frames.isEmpty && error?.message.contains("lists of other files") == true,
          "\(String(describing: error))")
      }
      var options = VideoSource.Options()
      options.pixelLimit = 100_000
      for size in [nil, (64, 48)] as [(Int, Int)?] {
        options.size = size
        let (frames, error) = await collect(
          try VideoSource(folder.appending(path: "film.mp4").path, options: options))
        #expect(
          frames.isEmpty && error?.message.contains("more pixels than the limit of 100000") == true,
          "\(String(describing: error))")
      }
    }
  }
}
