package import Hummingbird
import NIOCore
import TidemarkWire

/// What a route knows of its request besides the request itself.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection, to be taken off the count of strangers once its token was accepted.
    let channel: any Channel
    /// The trace that the call is part of.
    var trace: TraceParent?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
