package import TidemarkModel

/// Milliseconds of a clock that nobody sets. Deadlines go by it: a device's date may jump by a day at any moment.
///
/// It counts from when the value was made; what is shown or stored goes by the date instead.
package struct Uptime: Sendable {
    private let read: @Sendable () -> Milliseconds

    package init(_ clock: any Clock<Duration>) { read = Self.reading(clock) }

    package var now: Milliseconds { read() }

    private static func reading(_ clock: some Clock<Duration>) -> @Sendable () -> Milliseconds {
        let start = clock.now
        return { Milliseconds(start.duration(to: clock.now) / .milliseconds(1)) }
    }
}
