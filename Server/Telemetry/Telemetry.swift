package import Logging

/// The reports of a running server to its operator: metrics, and refusals.
package struct Telemetry: Sendable {
    package let registry: MetricRegistry
    package let metrics: ServerMetrics
    package let security: SecurityLog

    /// - Parameter now: milliseconds since 1970.
    package init(
        now: @escaping @Sendable () -> Int64, clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        registry = MetricRegistry()
        metrics = ServerMetrics(registry)
        security = SecurityLog(metrics: metrics, now: now, clock: clock, logger: logger)
    }
}
