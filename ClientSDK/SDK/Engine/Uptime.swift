package import TidemarkModel

/// The milliseconds of a clock that cannot be set. Deadlines use it: a device's date may jump by a day at any moment.
///
/// It counts from the creation of the value; times that are shown or stored use the date instead.
package struct Uptime: Sendable {
    private let read: @Sendable () -> Milliseconds

    package init(_ clock: any Clock<Duration>) { read = Self.reading(clock) }

    package var now: Milliseconds { read() }

    private static func reading(_ clock: some Clock<Duration>) -> @Sendable () -> Milliseconds {
        let start = clock.now
        return { Milliseconds(start.duration(to: clock.now) / .milliseconds(1)) }
    }
}
