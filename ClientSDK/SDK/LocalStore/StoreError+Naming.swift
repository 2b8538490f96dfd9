import Foundation
import GRDB

extension StoreError {
    /// Returns the store's error for an error of GRDB or Foundation; all others are returned unchanged.
    static func naming(_ error: any Error) -> any Error {
        switch error {
        // The calling task was cancelled.
        case let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT: CancellationError()
        case let error as DatabaseError: StoreError(error) ?? StoreError(.databaseFailed, "\(error)")
        // Foundation's errors have no Swift type of ours on any platform.
        case let error as CocoaError: StoreError(.databaseFailed, reason(of: error))
        case let error as NSError where [NSCocoaErrorDomain, NSPOSIXErrorDomain].contains(error.domain):
            StoreError(.databaseFailed, "\(error.localizedDescription)")
        default: error
        }
    }

    /// Runs a call and converts its errors.
    static func naming<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw naming(error) }
    }

    private static func reason(of error: CocoaError) -> String {
        let path = error.userInfo[NSFilePathErrorKey] as? String
        return "\(error.localizedDescription)\(path.map { ": \($0)" } ?? "")"
    }

    /// The error of a store without a user.
    static var nobody: StoreError {
        StoreError(.invalidArgument, "account: the user has no name; a store belongs to the user of its tokens")
    }

    /// - Throws: `invalidArgument` for a number below zero.
    static func check(limit: Int?) throws {
        guard let limit, limit < 0 else { return }
        throw StoreError(.invalidArgument, "limit: \(limit) is negative; leave it out for all records")
    }
}
