import Foundation
import GRDB
import TidemarkModel

/// Opens an account's file for this store alone. A damaged file is recovered, and a copied file gets a client id of its
/// own.
struct DatabaseOpening {
    private let path: String
    private let account: UserID
    private let schema: Schema
    private let environment: StoreEnvironment
    private let limits: LocalLimits
    /// `nil` to leave the files the class that the system gives them.
    private let protector: FileProtector?

    init(
        folder: URL, account: UserID, schema: Schema, environment: StoreEnvironment,
        limits: LocalLimits = LocalLimits(), protector: FileProtector? = nil
    ) {
        self.init(
            file: folder.appending(path: DatabaseFile.name(account)).path, account: account, schema: schema,
            environment: environment, limits: limits, protector: protector)
    }

    init(
        file: String, account: UserID, schema: Schema, environment: StoreEnvironment,
        limits: LocalLimits = LocalLimits(), protector: FileProtector? = nil
    ) {
        (path, self.account, self.schema) = (file, account, schema)
        (self.environment, self.limits, self.protector) = (environment, limits, protector)
    }

    /// - Throws: `StoreError`.
    func open() throws -> (database: LocalDatabase, notice: StoreNotice?) {
        let found = try StoreError.naming { try opened() }
        protector?.coverFiles(of: path)
        return found
    }

    private func opened() throws -> (database: LocalDatabase, notice: StoreNotice?) {
        guard !account.text.isEmpty else { throw StoreError.nobody }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        protector?.cover(folder)
        let lock = try FileLock(of: path)
        let install = try InstallMark(folder: folder).id(orMake: environment.newID)
        let recovery = Recovery(path: path)
        // Checked before SQLite looks: it takes an empty file for a new one, and deletes the log beside it.
        if let reason = try recovery.begun() ?? recovery.loss() { return try recover(reason, install, lock) }
        let mark = SuspectMark(path: path)
        do {
            let database = try load(isSuspect: mark.isSet, lock)
            mark.clear()
            let isCopy = try database.adopt(install, newClient: environment.newID())
            return (database, isCopy ? .copied : nil)
        } catch let error as DatabaseError where StoreError(error)?.code == .corrupt {
            return try recover("\(error)", install, lock)
        } catch let error as StoreError where error.code == .corrupt {
            return try recover("\(error)", install, lock)
        }
    }

    private func load(isSuspect: Bool, _ lock: FileLock) throws -> LocalDatabase {
        try LocalDatabase.open(
            path: path, account: account, schema: schema, newClient: environment.newID(), limits: limits,
            isSuspect: isSuspect, lock: lock)
    }

    private func recover(_ reason: String, _ install: UniqueID, _ lock: FileLock) throws -> (
        LocalDatabase, StoreNotice?
    ) {
        let recovery = Recovery(path: path)
        let damaged = try recovery.setAside(reason, now: environment.now())
        let copy = try RepairedCopy(of: damaged)
        let database = try load(isSuspect: false, lock)
        _ = try database.adopt(install, newClient: environment.newID())
        let salvage = Salvage(path: copy.path, account: account)
        let salvaged = salvage.read()
        try database.restore(salvaged, newClient: environment.newID())
        var blobs = 0
        let unreadableBlobs = try salvage.readBlobs { blob in
            try database.restore(blob)
            blobs += 1
        }
        let (pending, parked) = try database.writer.read { db in
            (try OutboxTable(db: db).pendingCount(), try Parking(db: db).parked().count)
        }
        let report = StoreRecovery(
            damaged: URL(fileURLWithPath: damaged), reason: reason, pending: pending, rejected: parked,
            unreadable: salvaged.unreadable, blobs: blobs, unreadableBlobs: unreadableBlobs)
        try database.change { db in try Meta.recovery.set(report.stored(at: environment.now()), db) }
        try recovery.end()
        try copy.remove()
        return (database, .recovered(report))
    }
}

extension LocalDatabase {
    /// Ties the database to this installation.
    ///
    /// - Returns: true when it belonged to another one; it then has a new client id.
    func adopt(_ install: UniqueID, newClient: ClientID) throws -> Bool {
        try change { db in
            let before = try Meta.install.text(db)
            guard before != install.description else { return false }
            try Meta.install.set(install.description, db)
            guard before != nil else { return false }
            try fork(newClient: newClient, isCopy: true, db)
            return true
        }
    }
}
