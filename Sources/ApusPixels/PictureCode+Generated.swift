// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension KernelSet {
  /// Code for the resize of a picture, for the instructions that the set requires; plain Swift if there is none.
  func pictureCode(_ shape: PictureCode.Shape) -> PictureCode {
    pictureTarget?.pictures(shape) ?? .portable
  }

  /// Code that writes rows of results to their places; plain Swift if there is none.
  func pictureCode(for elements: PictureElements, _ placement: PicturePlacement) -> CodeFunction<
    PictureCode.Elements
  >? {
    guard pictureTarget != nil else { return nil }
    let channels: [Int]
    switch placement.channels {
    case .three(let first, let second, let third): channels = [first, second, third]
    case .one: channels = [0]
    case .luminance: return nil
    }
    switch elements {
    case .bytes:
      return placement.isTriples ? try? unsafe CodeFunction(X86PictureTriplesGenerator()) : nil
    case .mappedBytes: return try? unsafe CodeFunction(X86PictureTableGenerator(channels: channels, width: 1))
    case .floats: return try? unsafe CodeFunction(X86PictureTableGenerator(channels: channels, width: 4))
    }
  }

  /// The instructions that code for pictures is generated with; nil for plain Swift.
  var pictureTarget: X86Target? {
    if requires.contains(.avx512VNNI) { return .avx512 }
    return requires.contains(.avx2) ? .avx2 : nil
  }
}

extension X86Target {
  /// Code for a resize.
  fileprivate func pictures(_ shape: PictureCode.Shape) -> PictureCode {
    var code = PictureCode()
    switch shape.method {
    case .copy: break
    case .blend: code.blend = try? unsafe CodeFunction(X86PictureBlendGenerator())
    case .sums:
      for taps in shape.rowTaps where taps <= X86PictureRowsGenerator.maximumTaps {
        let generator = X86PictureRowsGenerator(target: self, taps: taps)
        code.rowBlock = generator.block
        unsafe code.rows.append(try? CodeFunction(generator))
      }
      if shape.pairCount <= X86PictureColumnsGenerator.maximumPairs {
        code.columns = try? unsafe CodeFunction(
          X86PictureColumnsGenerator(pairs: shape.pairCount, bytesPerPixel: shape.bytesPerPixel))
      }
    }
    return code
  }
}
