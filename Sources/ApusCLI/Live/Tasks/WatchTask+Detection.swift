// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

extension WatchTask {
  func detectFinder(_ file: String?, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let detector = try command.detectorOptions.detector(file, command.input, pictures: Self.pictures)
    return Finder(detector) { picture, _ throws(ApusError) in
      let result = try detector.detect(picture, in: region)
      return WatchFinding(detections: result.detections, timings: result.timings)
    }
  }
}
