// SPDX-License-Identifier: Apache-2.0

@_spi(TensorFlowLite) import Apus
import Synchronization

/// The operators of one name that a client has registered: one for each version, the last one where versions meet.
///
/// The result of the client's `init` function for a node is kept from one preparation to the next.
struct ClientOperator: Sendable {
  let name: String
  private var registrations: [OperatorCallbacks] = []
  private let states = NodeStates()

  /// The operators by name, in the order of their first registrations.
  static func joined(_ registrations: [OperatorCallbacks]) -> [ClientOperator] {
    var operators: [ClientOperator] = []
    for callbacks in registrations {
      let position = operators.firstIndex { $0.name == callbacks.name } ?? operators.endIndex
      if position == operators.endIndex { operators.append(ClientOperator(name: callbacks.name)) }
      operators[position].registrations.append(callbacks)
    }
    return operators
  }

  private init(name: String) { self.name = name }

  /// The client's functions for a version; nil if it has registered none.
  func callbacks(forVersion version: Int) -> OperatorCallbacks? {
    registrations.last { $0.versions.contains(version) }
  }

  private var registeredVersions: String {
    registrations.map { callbacks in
      let (first, last) = (callbacks.versions.lowerBound, callbacks.versions.upperBound)
      return first == last ? "\(first)" : "\(first) to \(last)"
    }.joined(separator: ", ")
  }

  /// The engine's operator.
  func customOperator(_ reporter: ErrorReporter) -> CustomOperator {
    let first = registrations.map(\.versions.lowerBound).min() ?? 1
    let last = registrations.map(\.versions.upperBound).max() ?? 1
    return CustomOperator(name: name, versions: first...last) { [self] node throws(ApusError) in
      guard let callbacks = callbacks(forVersion: node.version) else {
        throw node.unsupported("version \(node.version) is not registered, only \(registeredVersions)")
      }
      let state = try states.state(of: node, callbacks, reporter)
      let prepared = try PreparedNode(node, callbacks, state, reporter)
      return CustomOperator.Plan(outputShapes: prepared.outputShapes) { tensors throws(ApusError) in
        try prepared.invoke(tensors)
      }
    }
  }
}

/// The states of all nodes of one operator in one interpreter.
private final class NodeStates: Sendable {
  /// A node's place in the model.
  private struct Key: Hashable {
    let subgraph: Int
    let index: Int
  }

  private let states = Mutex<[Key: NodeState]>([:])

  func state(
    of node: CustomOperatorNode, _ callbacks: OperatorCallbacks, _ reporter: ErrorReporter
  ) throws(ApusError) -> NodeState {
    let place = node.place
    let key = Key(subgraph: place.subgraph, index: place.index)
    if let known = states.withLock({ $0[key] }) { return known }
    let state: NodeState
    do throws(Refusal) {
      state = try NodeState(
        callbacks, options: node.optionBytes, threadCount: node.threadCount, reporter)
    } catch { throw node.malformed(error.message) }
    states.withLock { $0[key] = state }
    return state
  }
}
