// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusShapes
import ApusVision
import Testing

@Suite struct EdgeModelMetadataTests {
  /// As people print it: with comments, which JSON does not have. The facts are those of the embedded model.
  private static let printed = """
    {
        "inferenceType": "QUANTIZED_UINT8",
        "inputShape": [
            1,   // This represents batch size
            160,  // This represents image width
            160,  // This represents image height
            3  //This represents inputChannels
        ],
        "inputTensor": "normalized_input_image_tensor",
        "maxDetections": 25,  // This represents max number of boxes.
        "outputTensorRepresentation": ["bounding_boxes", "class_labels", "class_confidences", "num_of_boxes"],
        "outputTensors": ["TFLite_Detection_PostProcess", "TFLite_Detection_PostProcess:1", "TFLite_Detection_PostProcess:2", "TFLite_Detection_PostProcess:3"] // "the end"
    }
    """

  private func facts(_ change: (String) -> String = { $0 }) throws -> EdgeModelMetadata {
    try EdgeModelMetadata(parsing: Array(change(Self.printed).utf8))
  }

  @Test("facts are read past comments")
  func parses() throws {
    let facts = try facts()
    #expect(facts.inferenceType == "QUANTIZED_UINT8" && facts.inputShape == [1, 160, 160, 3])
    #expect(facts.maxDetections == 25 && facts.outputTensorRepresentation.count == 4)
    let slashes = try EdgeModelMetadata(parsing: Array(#"{"inputTensor": "a//b\"//c"} // c"#.utf8))
    #expect(slashes.inputTensor == #"a//b"//c"#)
    #expect(try EdgeModelMetadata(parsing: Array("{}".utf8)).inputShape.isEmpty)
  }

  @Test("a model that is what the file says passes, any other is told apart by each difference")
  func compares() throws {
    let model = try Model(bytes: EmbeddedShapes.modelBytes)
    try facts().check(model)
    try EdgeModelMetadata(parsing: Array("{}".utf8)).check(model)
    for (old, new, found) in [
      ("QUANTIZED_UINT8", "FLOAT", "the input's type is uint8, not FLOAT"),
      ("        160,", "        320,", "the input's shape is [1, 160, 160, 3], not [1, 320, 320, 3]"),
      ("25,", "40,", "the maximum number of detections is 25, not 40"),
      (#", "num_of_boxes""#, "", "the number of outputs is 4, not 3"),
      ("normalized_input_image_tensor", "image", "the input is normalized_input_image_tensor, not image"),
    ] {
      let error = #expect(throws: ApusError.self) {
        try facts { $0.replacing(old, with: new) }.check(model)
      }
      #expect(error?.code == .invalidArgument && error?.reasons == [found])
    }
  }

  @Test(
    "what is no such file is refused, with the place",
    arguments: [
      "", "[]", "{", #"{"inputShape": 3}"#, #"{"inputShape": [1.5]}"#, #"{"inputTensor": 1}"#,
      #"{"maxDetections": 1e30}"#, #"{"outputTensors": [1]}"#, "/", "//", #"{"a": "\"#, "{} /",
    ])
  func refuses(text: String) {
    let error = #expect(throws: ApusError.self) { try EdgeModelMetadata(parsing: Array(text.utf8)) }
    #expect(error?.code == .malformedLabels)
  }
}
