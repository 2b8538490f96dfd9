import Foundation
import GRDB
import TidemarkModel

/// Opens an account's file: recovers it when it is damaged, and gives it an identity of its own when it is a copy.
struct DatabaseOpening {
    let folder: URL
    let account: UserID
    let schema: Schema
    let environment: StoreEnvironment
    var limits = LocalLimits()

    private var path: String { folder.appending(path: DatabaseFile.name(account)).path }

    func open() throws -> (database: LocalDatabase, notice: StoreNotice?) {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let install = try InstallMark(folder: folder).id(orMake: environment.newID)
        let mark = SuspectMark(path: path)
        do {
            let database = try load(isSuspect: mark.isSet)
            mark.clear()
            let isCopy = try database.adopt(install, newClient: environment.newID())
            return (database, isCopy ? .copied : nil)
        } catch let error as DatabaseError where StoreError(error)?.code == .corrupt {
            return try recover("\(error)", install)
        } catch let error as StoreError where error.code == .corrupt {
            return try recover("\(error)", install)
        }
    }

    private func load(isSuspect: Bool) throws -> LocalDatabase {
        try LocalDatabase.open(
            path: path, account: account, schema: schema, newClient: environment.newID(), limits: limits,
            isSuspect: isSuspect)
    }

    private func recover(_ reason: String, _ install: UniqueID) throws -> (LocalDatabase, StoreNotice?) {
        let damaged = "\(path).corrupt-\(environment.now())"
        try FileManager.default.moveItem(atPath: path, toPath: damaged)
        if FileManager.default.fileExists(atPath: "\(path)-wal") {
            try FileManager.default.moveItem(atPath: "\(path)-wal", toPath: "\(damaged)-wal")
        }
        for rest in ["\(path)-shm", "\(path).suspect"] where FileManager.default.fileExists(atPath: rest) {
            try FileManager.default.removeItem(atPath: rest)
        }
        let database = try load(isSuspect: false)
        _ = try database.adopt(install, newClient: environment.newID())
        let salvage = Salvage(path: damaged, account: account)
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
        let recovery = StoreRecovery(
            damaged: URL(fileURLWithPath: damaged), reason: reason, pending: pending, parked: parked,
            unreadable: salvaged.unreadable, blobs: blobs, unreadableBlobs: unreadableBlobs)
        return (database, .recovered(recovery))
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
