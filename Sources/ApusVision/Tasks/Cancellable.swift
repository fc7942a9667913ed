// SPDX-License-Identifier: Apache-2.0
import Apus

/// Runs work that looks at a flag, and sets the flag when the caller's task is cancelled.
func cancellable<Answer: Sendable>(
  _ work: (Cancellation) throws(ApusError) -> Answer
) async throws(ApusError) -> Answer {
  let cancellation = Cancellation()
  let result = await withTaskCancellationHandler {
    do throws(ApusError) {
      return Result<Answer, ApusError>.success(try work(cancellation))
    } catch {
      return Result<Answer, ApusError>.failure(error)
    }
  } onCancel: {
    cancellation.cancel()
  }
  return try result.get()
}
