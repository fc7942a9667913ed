// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

struct DelegateTests {
  private final class OwnDelegate: Delegate {
    var cDelegate: CDelegate { nil }
  }

  @Test("a delegate is refused by name")
  func refusesDelegates() {
    for (delegate, name) in [(MetalDelegate(), "MetalDelegate"), (OwnDelegate(), "OwnDelegate")]
      as [(any Delegate, String)]
    {
      #expect(delegate.cDelegate == nil)
      #expect {
        try Interpreter(modelPath: TestModel.add.path, delegates: [delegate])
      } throws: { "\($0)".contains("takes no delegates: leave out the \(name)") }
    }
  }

  @Test("Core ML is absent on every device")
  func hasNoCoreML() {
    var options = CoreMLDelegate.Options()
    #expect(options.enabledDevices == .neuralEngine && options.coreMLVersion == 0)
    #expect(options.maxDelegatedPartitions == 0 && options.minNodesPerPartition == 2)
    options.enabledDevices = .all
    #expect(CoreMLDelegate(options: options) == nil)
    #expect(CoreMLDelegate() == nil)
  }

  @Test("Metal's options have their defaults, and keep what is set")
  func keepsMetalOptions() {
    var options = MetalDelegate.Options()
    #expect(!options.isPrecisionLossAllowed && options.isQuantizationEnabled && options.waitType == .passive)
    options.waitType = .aggressive
    options.isPrecisionLossAllowed = true
    #expect(MetalDelegate(options: options).options == options)
    #expect(options != MetalDelegate.Options())
    for type in [ThreadWaitType.none, .passive, .active] { #expect(type != options.waitType) }
  }
}
