// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The task that an evaluation measures.
enum EvaluationTask: String, CaseIterable, ExpressibleByArgument {
  case classify, detect, segment, anomaly
}
