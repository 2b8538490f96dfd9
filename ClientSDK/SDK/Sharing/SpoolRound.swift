import TidemarkExtension
import TidemarkModel

/// The part of the spool that one SQLite transaction adopts.
struct SpoolRound {
    /// The bytes and the number of files that one transaction holds in memory.
    static let bytesMax = 8 << 20
    static let filesMax = 32

    var adopted: [TransactionID] = []
    var parked: [TransactionID] = []
    /// The names of files that are not needed any more once the transaction is durable.
    var done: [String] = []
    var faults: [(name: String, reason: SpoolFault.Reason, message: String)] = []
    /// The names that were looked at.
    var seen: [String] = []
    var hasBlobs = false
    /// True when there are more files.
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
