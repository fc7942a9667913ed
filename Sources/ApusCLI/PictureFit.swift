// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// The names of the policies that fit pictures into a model's input.
enum PictureFit: String, CaseIterable, ExpressibleByArgument {
  case stretch
  case centerCrop = "center-crop"
  case letterbox

  /// The policy; a letterbox is the model's own if it has one.
  var policy: FitPolicy {
    switch self {
    case .stretch: .stretch
    case .centerCrop: .centerCrop
    case .letterbox: .letterbox()
    }
  }
}
