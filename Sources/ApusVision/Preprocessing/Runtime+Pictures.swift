// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusKernels
import ApusPixels

extension Runtime {
  /// The kernel set for pictures. If proofs are required, its code for pictures has been compared with plain Swift.
  package static var pictureKernels: KernelSet { pictureKernels(PictureTrial.difference) }
}
