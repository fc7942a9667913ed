// SPDX-License-Identifier: Apache-2.0

// A filter of one's own as a step of a chain: WriteAFilter [PICTURE]
import Apus
import ApusImages
import ApusVision

struct Threshold: ImageFilter {
  func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer {
    let gray = image.oriented().converted(to: .gray)
    return try ImageBuffer(
      bytes: gray.bytes.map { $0 < 128 ? 0 : 255 }, width: gray.width, height: gray.height, format: .gray)
  }
}

var chain: FilterChain = [.inversion]
chain.append(Threshold())

let path = CommandLine.arguments.dropFirst().first ?? "Pictures/sunset.png"
let picture = try ImageBuffer(contentsOfFile: path)
let filtered = try chain.apply(picture)
print(filtered.width, "by", filtered.height, "pixels of", Set(filtered.bytes).sorted())
try filtered.write(toFile: "threshold.png")
