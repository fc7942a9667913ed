// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

extension WatchTask {
  func segmentFinder(_ file: String, _ command: WatchCommand) throws -> Finder {
    let region = try command.input.regionRect
    let choices = command.detectorOptions
    var options = ImageSegmenter.Options(baseOptions: try command.input.baseOptions(pictures: Self.pictures))
    options.scores = choices.scores.scores
    options.outputIndex = command.mask.outputIndex
    let segmenter = VideoSegmenter(
      try ImageSegmenter(
        model: Model(contentsOfFile: file), labels: choices.categories.labelMap, options: options))
    return Finder(segmenter) { picture, _ throws(ApusError) in
      let result = try segmenter.answer(picture, in: region, cancellation: nil)
      return WatchFinding(
        result: result,
        text: result.classes.map { "\($0.label ?? "class \($0.index)") \(decimal($0.share * 100, 1)) %" }
          .joined(separator: ", "), timings: result.timings
      ) { picture throws(ApusError) in
        try picture.drawing(segmentation: result)
      }
    }
  }
}
