// SPDX-License-Identifier: Apache-2.0
import Apus

/// Runs work that looks at a flag on one of ``TaskThreads``, and sets the flag when the caller's task is cancelled.
///
/// - Throws: `CancellationError` if the work ended because the caller's task was cancelled; otherwise what the work throws.
func cancellable<Answer: Sendable>(
  _ work: @escaping @Sendable (Cancellation) throws(ApusError) -> Answer
) async throws -> Answer {
  let cancellation = Cancellation()
  let result: Result<Answer, ApusError> = await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in
      TaskThreads.shared.run {
        do throws(ApusError) {
          continuation.resume(returning: .success(try work(cancellation)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  } onCancel: {
    cancellation.cancel()
  }
  if case .failure(let error) = result, error.code == .cancelled, Task.isCancelled {
    throw CancellationError()
  }
  return try result.get()
}
