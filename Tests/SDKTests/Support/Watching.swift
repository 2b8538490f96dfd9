import Observation

/// Waits for observed values.
@MainActor enum Watching {
    /// Waits until the shown values fit.
    static func wait(until fits: () -> Bool) async {
        while !fits() {
            await withCheckedContinuation { told in
                // The notification comes before the change: a waiter continues after it.
                withObservationTracking {
                    _ = fits()
                } onChange: {
                    told.resume()
                }
            }
        }
    }
}
