// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The page at `/`: the models, and a place to drop a picture.
enum Page {
  static let html = ByteBuffer(string: "<!doctype html><title>Apus</title>")
}
