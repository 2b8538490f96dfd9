import Logging
import TidemarkLock

/// Keeps log lines, as `level message key=value…`.
final class LogCapture: LogHandler {
    private let entries = Lock<[String]>([])

    var lines: [String] { entries.withLock { $0 } }

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        entries.withLock { $0.append((["\(event.level)", "\(event.message)"] + details).joined(separator: " ")) }
    }
}
