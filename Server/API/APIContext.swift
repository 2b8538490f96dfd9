package import Hummingbird
import NIOCore
import TidemarkWire

/// The data of a request that routes need besides the request itself.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection, which is marked as authenticated once its token was accepted.
    let channel: any Channel
    /// The trace that the call is part of.
    var trace: TraceParent?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
