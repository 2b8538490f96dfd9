import Observation

/// Waits for what is observed.
@MainActor enum Watching {
    /// Until what is shown fits.
    static func wait(until fits: () -> Bool) async {
        while !fits() {
            await withCheckedContinuation { told in
                // Told before the change: whoever waits here goes on after it.
                withObservationTracking {
                    _ = fits()
                } onChange: {
                    told.resume()
                }
            }
        }
    }
}
