// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Reads everything that a FlexBuffer describes, as far as a few levels go.
@_spi(Fuzzing) public func fuzzFlexBuffer(_ bytes: [UInt8]) {
  let file = FileBytes(copying: bytes)
  guard let map = try? FlexBufferMap(file, 0..<bytes.count) else { return }
  for key in ["max_detections", "nms_iou_threshold", "use_regular_nms", "a", "", "anchors"] {
    _ = (map.int64(key), map.double(key), map.bool(key))
  }
  for entry in map.entries.prefix(1000) { read(entry.value) }
}

private func read(_ value: FlexBufferValue) {
  _ = (value.int64, value.double, value.bool, value.string)
  for element in value.vector?.prefix(100) ?? [] { _ = (element.int64, element.double) }
}
