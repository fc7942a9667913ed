// SPDX-License-Identifier: Apache-2.0

// Learns two faces from a picture each, and names the faces in another picture.
import ApusImages
import ApusVision

let finder = try FaceDetector(modelFile: "Models/faces.tflite")
var options = ImageEmbedder.Options()
options.normalizesEmbeddings = true
let embedder = try ImageEmbedder(modelFile: "Models/embedder.tflite", options: options)

func embedding(of face: Face, in picture: ImageBuffer) throws -> Embedding? {
  guard let upright = face.aligned(in: picture, size: 112) else { return nil }
  return try embedder.embed(upright).embeddings.first
}

var gallery = EmbeddingGallery()
for (name, file) in [("Ada", "Pictures/ada.png"), ("Bo", "Pictures/bo.png")] {
  let portrait = try ImageBuffer(contentsOfFile: file)
  if let face = try finder.detect(portrait).faces.first,
    let known = try embedding(of: face, in: portrait)
  {
    try gallery.add(name, known)
  }
}

let group = try ImageBuffer(contentsOfFile: "Pictures/group.png")
let faces = try finder.detect(group).faces
var matches: [GalleryResult.Match] = []
for face in faces.sorted(by: { $0.rect.x < $1.rect.x }) {
  guard let someone = try embedding(of: face, in: group) else { continue }
  let name = gallery.name(of: someone, distance: 0.9)
  matches.append(.init(name: name, box: face.rect))
  print(name ?? "unknown", face.rect)
}
try group.drawing(matches: matches).write(toFile: "faces.png")
