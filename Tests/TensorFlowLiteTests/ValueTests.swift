// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

struct ValueTests {
  @Test("a shape is made from dimensions, an array or a literal")
  func makesShapes() {
    let shape: Tensor.Shape = [2, 2, 3]
    #expect(shape == Tensor.Shape(2, 2, 3))
    #expect(shape == Tensor.Shape([2, 2, 3]))
    #expect(shape != [2, 2, 4])
    #expect(shape.rank == 3 && shape.dimensions == [2, 2, 3])
    #expect(Tensor.Shape().rank == 0)
  }

  @Test("options are equal if their values are")
  func comparesOptions() {
    var options = Interpreter.Options()
    #expect(options == Interpreter.Options() && options.threadCount == nil && !options.isXNNPackEnabled)
    options.threadCount = 2
    #expect(options != Interpreter.Options())
    options.threadCount = nil
    options.isXNNPackEnabled = true
    #expect(options != Interpreter.Options())
    #expect(Set([options, options]).count == 1)
  }

  @Test("the version is one of Semantic Versioning")
  func hasASemanticVersion() {
    #expect(TensorFlowLite.Runtime.version.wholeMatch(of: /\d+\.\d+\.\d+([+-][-.0-9A-Za-z]+)?/) != nil)
  }
}
