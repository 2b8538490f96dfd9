import TidemarkExtension
import TidemarkModel

/// What one SQLite transaction adopts of the spool.
struct SpoolRound {
    /// Bytes of files that one transaction holds in memory, and files.
    static let bytesMax = 8 << 20
    static let filesMax = 32

    var adopted: [TransactionID] = []
    var parked: [TransactionID] = []
    /// Names of files that are not needed any more once the transaction is durable.
    var done: [String] = []
    var faults: [(name: String, reason: SpoolFault.Reason, message: String)] = []
    /// Names that were looked at.
    var seen: [String] = []
    var hasBlobs = false
    /// There are more.
    var isCut = false

    mutating func fault(_ name: String, _ fault: SealedFile.Fault) {
        let reason: SpoolFault.Reason =
            switch fault {
            case .foreign: .foreign
            case .newer: .newer
            case .cut: .cut
            case .tooLarge: .tooLarge
            case .unreadable: .unreadable
            }
        faults.append((name, reason, "\(name) \(fault.reason)"))
    }
}
