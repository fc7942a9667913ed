// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The cameras of this machine. ``VideoSource`` reads their frames.
public enum Camera {
  /// The devices of Video4Linux that capture video, by their numbers; those that cannot be asked have a ``CameraDevice/problem``.
  ///
  /// There are none on other systems than Linux.
  public static func devices() -> [CameraDevice] {
    #if os(Linux)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev")) ?? []
      return numbers(of: names).compactMap { device("/dev/video\($0)") }
    #else
      return []
    #endif
  }

  /// The numbers in the names that are `video` and a number, in order.
  package static func numbers(of names: [String]) -> [Int] {
    names.filter { $0.hasPrefix("video") && $0.dropFirst(5).utf8.allSatisfy { (0x30...0x39).contains($0) } }
      .compactMap { Int($0.dropFirst(5)) }.sorted()
  }

  #if os(Linux)
    /// Asks a device; nil if it captures no video.
    private static func device(_ path: String) -> CameraDevice? {
      do throws(ApusError) {
        let handle = try V4L2Handle(path)
        return try V4L2Questions(path: path, ask: handle.ask).device()
      } catch {
        return CameraDevice(path: path, name: "", driver: "", bus: "", formats: [], problem: error.message)
      }
    }
  #endif
}
