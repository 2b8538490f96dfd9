import Observation

#if canImport(Combine)
import Combine
#endif

/// Tells views that what an object shows is about to change: by `Observation` from iOS 17 and macOS 14 on, and by Combine's
/// `ObservableObject` on every version of Apple's platforms.
///
/// An object has one for all that it shows, so a view that reads any part of it is drawn again when another part changes.
// What it holds is never replaced, and both parts of it are made for many threads.
final class ViewNotices: @unchecked Sendable {
    #if canImport(Combine)
    let publisher = ObservableObjectPublisher()
    #endif
    /// A `Beat`, whose type older systems do not have.
    private let beat: (any Sendable)?

    init() {
        if #available(iOS 17, macOS 14, *) { beat = Beat() } else { beat = nil }
    }

    /// Called with each reading.
    func isRead() {
        if #available(iOS 17, macOS 14, *) { (beat as? Beat)?.isRead() }
    }

    /// Makes a change.
    func change(_ change: () -> Void) {
        #if canImport(Combine)
        publisher.send()
        #endif
        guard #available(iOS 17, macOS 14, *), let beat = beat as? Beat else { return change() }
        beat.change(change)
    }
}

/// Stands for all that an object shows.
@available(iOS 17, macOS 14, *)
private final class Beat: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private var shown: Never? { nil }

    func isRead() { registrar.access(self, keyPath: \.shown) }

    func change(_ change: () -> Void) { registrar.withMutation(of: self, keyPath: \.shown, change) }
}
