// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// `VAR_HANDLE`: the handle of a resource variable.
enum VarHandle {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 0...0)
    let container = try node.options.varHandle.container
    let name = try node.options.varHandle.name
    let handle = try node.context.resources.handle(container: container, name: name)
    let output = try node.output(0, shape: [], types: [.resource])
    try node.preparation.setConstant(output, values: [handle])
    return ConstantOutputs()
  }
}
