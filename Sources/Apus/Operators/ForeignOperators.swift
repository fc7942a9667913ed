// SPDX-License-Identifier: Apache-2.0

/// Custom operators that no build can run, because they are programs for other machines or operators of TensorFlow.
enum ForeignOperators {
  /// An explanation of a custom operator, with a remedy; nil for others.
  static func advice(for name: String) -> String? {
    switch name {
    case "edgetpu-custom-op":
      "the model is compiled for the Edge TPU: use the .tflite file that was given to edgetpu_compiler, without _edgetpu in its name"
    case "ethos-u":
      "the model is compiled for an Arm Ethos-U NPU: use the .tflite file that was given to Vela"
    case "DISPATCH_OP", "dispatch_op":
      "the model is compiled for an NPU: use the .tflite file from before it was compiled"
    case _ where name.hasPrefix("Flex") && name.count > 4:
      "it is TensorFlow's operator \(name.brief.dropFirst(4)): convert the model without SELECT_TF_OPS, with TFLITE_BUILTINS alone"
    default: nil
    }
  }
}
