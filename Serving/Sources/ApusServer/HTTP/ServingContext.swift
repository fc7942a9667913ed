// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore

/// A request's surroundings: its connection.
struct ServingContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
