/// All metrics of a server, by the name that Prometheus sees: the complete list.
///
/// A label has one of the values that are listed here, so that the number of series is known before a server starts.
/// None is a user, a device, a scope, a workspace or an address.
package enum Metric: String, Sendable, CaseIterable {
    // The path of a push.
    case commitToSocket = "tidemark_commit_to_socket_seconds"
    case pushAnswer = "tidemark_push_answer_seconds"
    case batchSeconds = "tidemark_batch_seconds"
    case batchTransactions = "tidemark_batch_transactions"
    case transactions = "tidemark_transactions_total"
    case lanes = "tidemark_lanes"
    case laneDepth = "tidemark_lane_depth"
    case laneTransactions = "tidemark_lane_transactions"
    // Whether anything moves.
    case unservedAge = "tidemark_unserved_age_seconds"
    case tailAge = "tidemark_tail_age_seconds"
    case workspaces = "tidemark_workspaces"
    // Connections and refusals.
    case sockets = "tidemark_sockets"
    case socketsMax = "tidemark_sockets_max"
    case slowConsumers = "tidemark_slow_consumers"
    case calls = "tidemark_calls"
    case refusals = "tidemark_refusals_total"
    case closes = "tidemark_closes_total"
    case tokensRefused = "tidemark_tokens_refused_total"
    case signInsRefused = "tidemark_sign_ins_refused_total"
    case connectionsRefused = "tidemark_connections_refused_total"
    case openingsFailed = "tidemark_openings_failed_total"
    case forwardingUnread = "tidemark_forwarding_unread_total"
    case securityLinesLeftOut = "tidemark_security_lines_left_out_total"
    case logLinesDropped = "tidemark_log_lines_dropped_total"
    // The store.
    case storeWait = "tidemark_store_wait_seconds"
    case storeUse = "tidemark_store_use_seconds"
    case storeFault = "tidemark_store_fault"
    case poolWriters = "tidemark_pool_writers"
    case poolReaders = "tidemark_pool_readers"
    case catchups = "tidemark_catchups_total"
    case catchupRows = "tidemark_catchup_rows_total"
    case epochs = "tidemark_epochs_total"
    case comparisons = "tidemark_comparisons_total"
    case divergence = "tidemark_divergence_total"
    case stuck = "tidemark_stuck_hellos_total"
    case diskFree = "tidemark_disk_free_bytes"
    // Resources that run out.
    case keySetAge = "tidemark_key_set_age_seconds"
    case certificateEnd = "tidemark_certificate_end_seconds"
    case certificateReads = "tidemark_certificate_reads_total"
    case backupAge = "tidemark_verified_backup_age_seconds"
    case residentMemory = "process_resident_memory_bytes"
    case started = "process_start_time_seconds"

    /// The type of a metric.
    package enum Kind: Hashable, Sendable {
        /// A count that only grows while the process lives.
        case counter
        /// A value as of the moment of the scrape.
        case gauge
        /// Durations, in seconds, with the upper bounds of the buckets in nanoseconds.
        case seconds([Int64])
        /// Counts, with the upper bounds of the buckets.
        case counts([Int64])
    }

    /// The one label of a metric, and all its values; any other is counted as `other`.
    package struct Label: Hashable, Sendable {
        package let name: String
        package let values: [String]
    }

    /// The value of a label under which all unlisted values are counted.
    package static let otherValue = "other"
}
