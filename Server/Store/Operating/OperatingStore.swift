/// The calls of operators and of the service that forgets: the same database as a ``Store``, which serves clients.
///
/// A server has all of them or does not start: no call is found by a cast at run time.
package typealias OperatingStore = AccountStore & ActLog & Compacting & Erasing & Inspecting & RevocationStore
