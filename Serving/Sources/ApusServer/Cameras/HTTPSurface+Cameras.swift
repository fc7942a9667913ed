// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import Hummingbird
import NIOCore

extension HTTPSurface {
  /// Answers a path below `/cameras`.
  func respondToCameras(_ path: [String], _ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    try allow(request, .get)
    guard let name = path.first else {
      var answer: Answer
      if request.headers[.accept]?.contains("text/html") == true {
        answer = page(CameraPage.list)
      } else {
        answer = Answer(
          type: "application/json",
          body: ByteBuffer(string: CameraText.json(state.cameras.map { CameraText.Description($0) })))
        answer.headers[.cacheControl] = "no-store"
      }
      // Two answers under one address: a cache must not give one for the other (RFC 9110, 12.5.5).
      answer.headers[.vary] = "Accept"
      return answer
    }
    guard let camera = state.cameras.first(where: { $0.settings.name == name }) else {
      throw ServingError(.notFound, "there is no camera '\(name)'; see /cameras")
    }
    switch (path.dropFirst().first, path.count) {
    case (nil, 1): return page(CameraPage.camera)
    case ("stream", 2): return try stream(of: camera)
    case ("events", 2): return try events(of: camera)
    case ("snapshot.jpg", 2):
      return try await snapshot(of: camera, ofAnyAge: request.uri.queryParameters["any_age"] == "true")
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  /// The newest picture with its time. While the camera fails, it shows what is no more: who wants it all the same says so.
  private func snapshot(of camera: LiveCamera, ofAnyAge takesOld: Bool) async throws -> Answer {
    let report = camera.report
    let reason = report.reason.map { ": \($0)" } ?? ""
    guard let shot = camera.newest, let picture = await camera.jpeg(of: shot) else {
      if camera.isOver { throw camera.hasEnded }
      throw ServingError(
        .unavailable, "the camera '\(camera.settings.name)' has no picture yet\(reason)")
    }
    guard takesOld || report.state != "failed" else {
      throw ServingError(
        .unavailable,
        """
        the camera '\(camera.settings.name)' has no picture since \(CameraText.time(shot.time))\(reason); ?any_age=true asks for the last \
        one
        """)
    }
    var answer = Answer(type: "image/jpeg", body: picture)
    answer.headers[.cacheControl] = "no-store"
    answer.headers[.lastModified] = HTTPTime.text(shot.time)
    answer.headers[Self.timestamp] = CameraText.seconds(shot.time)
    return answer
  }

  /// When a picture was taken, in seconds since 1970, as mjpg-streamer and others say it. `Last-Modified` has whole seconds.
  private static let timestamp = HTTPField.Name("X-Timestamp")!

  private func page(_ html: ByteBuffer) -> Answer {
    var answer = Answer(type: "text/html; charset=utf-8", body: html)
    answer.headers[.contentSecurityPolicy] = Page.policy
    return answer
  }

  /// Pictures without end, each in place of the one before (`multipart/x-mixed-replace`).
  private func stream(of camera: LiveCamera) throws(ServingError) -> Answer {
    try camera.enter()
    let viewer = Viewer(camera)
    var answer = Answer(type: "multipart/x-mixed-replace; boundary=frame", body: ByteBuffer())
    answer.headers[.cacheControl] = "no-store"
    answer.stream = { writer in
      defer { withExtendedLifetime(viewer) {} }
      var number = 0
      while true {
        switch await camera.sight(after: number) {
        case .over: return
        // Blank lines before a part are read over; a client that is gone is noticed.
        case .nothing: try await writer.write(ByteBuffer(string: "\r\n"))
        case .shot(let shot):
          number = shot.number
          guard let picture = await camera.jpeg(of: shot) else { continue }
          var part = ByteBuffer(
            string:
              "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: \(picture.readableBytes)\r\n"
              + "X-Timestamp: \(CameraText.seconds(shot.time))\r\n\r\n")
          part.writeImmutableBuffer(picture)
          part.writeString("\r\n")
          try await writer.write(part)
        }
      }
    }
    return answer
  }

  /// Frames and events as they come (`text/event-stream`), and a comment where nothing comes for a while, so that a client that is gone
  /// is noticed.
  private func events(of camera: LiveCamera) throws(ServingError) -> Answer {
    try camera.enter()
    let viewer = Viewer(camera)
    var answer = Answer(type: "text/event-stream", body: ByteBuffer())
    answer.headers[.cacheControl] = "no-store"
    answer.stream = { writer in
      defer { withExtendedLifetime(viewer) {} }
      try await writer.write(ByteBuffer(string: ": \(camera.settings.name)\n\n"))
      let (messages, first) = camera.events()
      var next = first
      for await message in messages {
        if let number = message.number {
          if number > next {
            try await writer.write(ByteBuffer(string: "data: {\"missed\":\(number - next)}\n\n"))
          }
          next = number + 1
        }
        try await writer.write(ByteBuffer(string: message.text))
      }
    }
    return answer
  }
}

/// A viewer of a camera, who leaves with the last reference.
private final class Viewer: Sendable {
  private let camera: LiveCamera

  /// Stands for one who has entered.
  init(_ camera: LiveCamera) { self.camera = camera }

  deinit { camera.leave() }
}
