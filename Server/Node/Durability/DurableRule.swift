/// The evidence that the order is safe from a database that goes back. Devices keep what they wrote later, and offer it
/// again.
package enum DurableRule: Hashable, Sendable {
    /// Age: the time until a commit is in a backup that would be restored.
    case age(Duration)
    /// Standbys: so many have it on disk.
    case replicas(Int)
    /// The newest verified backup.
    case backup
}
