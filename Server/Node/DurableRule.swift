/// By what the order counts as safe from a database that goes back: devices keep what they wrote later, and offer it again.
package enum DurableRule: Hashable, Sendable {
    /// By age: as long as it takes until a commit is in a backup that would be restored.
    case age(Duration)
    /// By standbys: so many have it on disk.
    case replicas(Int)
    /// By the newest verified backup.
    case backup
}
