// SPDX-License-Identifier: Apache-2.0

// Tells whether two pictures show the same face: CompareFaces DETECTOR EMBEDDER PICTURE PICTURE
import ApusImages
import ApusVision
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 4 else { fatalError("usage: CompareFaces DETECTOR EMBEDDER PICTURE PICTURE") }

let detector = try FaceDetector(modelFile: arguments[0])
var options = ImageEmbedder.Options()
options.normalizesEmbeddings = true
let embedder = try ImageEmbedder(modelFile: arguments[1], options: options)

/// Finds the best face, turns it upright, and embeds it.
func embedding(of path: String) throws -> Embedding? {
  let picture = try ImageBuffer(contentsOfFile: path)
  guard let face = try detector.detect(picture).faces.first, let aligned = face.aligned(in: picture) else {
    return nil
  }
  return try embedder.embed(aligned).embeddings.first
}

guard let one = try embedding(of: arguments[2]), let other = try embedding(of: arguments[3]) else {
  print("a picture shows no face")
  exit(1)
}
let distance = one.euclideanDistance(to: other) ?? 2
print(distance < 0.8 ? "the same face," : "another face,", "distance", distance)

var gallery = EmbeddingGallery()
try gallery.add("Grace", one)
print("the second picture shows:", gallery.name(of: other, distance: 0.8) ?? "unknown")
