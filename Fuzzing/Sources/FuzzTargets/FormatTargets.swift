// SPDX-License-Identifier: Apache-2.0

@_spi(Fuzzing) import Apus
@_spi(Fuzzing) import ApusVision

/// Options of custom operators.
public enum FlexBufferTarget: FuzzTarget {
  public static let name = "flexbuffer"
  public static func run(_ bytes: [UInt8]) { fuzzFlexBuffer(bytes) }
}

/// Archives behind models, and the metadata of TensorFlow Lite.
public enum ArchiveTarget: FuzzTarget {
  public static let name = "archive"
  public static func run(_ bytes: [UInt8]) { fuzzArchive(bytes) }
}

/// The metadata that exporters of YOLO models append: JSON and Python literals.
public enum ExportTarget: FuzzTarget {
  public static let name = "export"
  public static func run(_ bytes: [UInt8]) { fuzzExportMetadata(bytes) }
}

/// NumPy's arrays.
public enum NumPyTarget: FuzzTarget {
  public static let name = "numpy"
  public static func run(_ bytes: [UInt8]) { fuzzNumPyArray(bytes) }
}
