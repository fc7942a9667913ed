// SPDX-License-Identifier: Apache-2.0

extension FloatFunction {
  /// A function regardless of its parameters.
  package enum Kind: CaseIterable, Hashable, Sendable {
    case clamp, absolute, negate, square, squareRoot, inverseSquareRoot, floor, ceil, round, sign, exp, log,
      sin, cos, tanh, logistic, swish, elu, leakyRelu, hardSwish, gelu, halfGelu, fakeQuantize
  }

  /// The function regardless of its parameters.
  package var kind: Kind {
    switch self {
    case .clamp: .clamp
    case .absolute: .absolute
    case .negate: .negate
    case .square: .square
    case .squareRoot: .squareRoot
    case .inverseSquareRoot: .inverseSquareRoot
    case .floor: .floor
    case .ceil: .ceil
    case .round: .round
    case .sign: .sign
    case .exp: .exp
    case .log: .log
    case .sin: .sin
    case .cos: .cos
    case .tanh: .tanh
    case .logistic: .logistic
    case .swish: .swish
    case .elu: .elu
    case .leakyRelu: .leakyRelu
    case .hardSwish: .hardSwish
    case .gelu: .gelu
    case .halfGelu: .halfGelu
    case .fakeQuantize: .fakeQuantize
    }
  }

  /// Functions of every kind, with typical parameters: what proofs and tests of functions iterate over. Both switches are
  /// exhaustive, so a new function cannot be left out.
  package static let samples: [FloatFunction] = Kind.allCases.flatMap(\.samples)
}

extension FloatFunction.Kind {
  /// Functions of this kind, with each branch that parameters decide.
  fileprivate var samples: [FloatFunction] {
    switch self {
    case .clamp: [.clamp(minimum: -1, maximum: 2), .clamp(minimum: 0, maximum: 6)]
    case .absolute: [.absolute]
    case .negate: [.negate]
    case .square: [.square]
    case .squareRoot: [.squareRoot]
    case .inverseSquareRoot: [.inverseSquareRoot]
    case .floor: [.floor]
    case .ceil: [.ceil]
    case .round: [.round]
    case .sign: [.sign]
    case .exp: [.exp]
    case .log: [.log]
    case .sin: [.sin]
    case .cos: [.cos]
    case .tanh: [.tanh]
    case .logistic: [.logistic]
    case .swish: [.swish]
    case .elu: [.elu]
    case .leakyRelu: [.leakyRelu(alpha: 0.3), .leakyRelu(alpha: -0.3)]
    case .hardSwish: [.hardSwish]
    case .gelu: [.gelu(isApproximate: false), .gelu(isApproximate: true)]
    case .halfGelu: [.halfGelu(isApproximate: false), .halfGelu(isApproximate: true)]
    case .fakeQuantize: [.fakeQuantize(scale: 0.25, minimum: -1, maximum: 2)]
    }
  }
}
