import Observation

#if canImport(Combine)
import Combine
#endif

/// Notifies views before an object that they show changes: by `Observation` from iOS 17 and macOS 14 on, and by
/// Combine's `ObservableObject` on every version of Apple's platforms.
///
/// One instance covers an object as a whole: a view that reads any part of it is redrawn when another part changes.
// Its properties are never replaced, and both are made for use from many threads.
final class ViewNotices: @unchecked Sendable {
    #if canImport(Combine)
    let publisher = ObservableObjectPublisher()
    #endif
    /// A `Beat`, whose type older systems do not have.
    private let beat: (any Sendable)?

    init() {
        if #available(iOS 17, macOS 14, *) { beat = Beat() } else { beat = nil }
    }

    /// Call it with each read of the object.
    func isRead() {
        if #available(iOS 17, macOS 14, *) { (beat as? Beat)?.isRead() }
    }

    /// Makes a change and notifies.
    func change(_ change: () -> Void) {
        #if canImport(Combine)
        publisher.send()
        #endif
        guard #available(iOS 17, macOS 14, *), let beat = beat as? Beat else { return change() }
        beat.change(change)
    }
}

/// The observed property that represents the whole object.
@available(iOS 17, macOS 14, *)
private final class Beat: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private var shown: Never? { nil }

    func isRead() { registrar.access(self, keyPath: \.shown) }

    func change(_ change: () -> Void) { registrar.withMutation(of: self, keyPath: \.shown, change) }
}
