import Dispatch
import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

@Suite struct WritingPlaceTests {
    /// The calling thread.
    private static func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

    @concurrent private func threads(
        _ database: LocalDatabase
    ) async throws -> (caller: ObjectIdentifier, writer: ObjectIdentifier) {
        let caller = Self.thread()
        return (caller, try await database.change { _ in Self.thread() })
    }

    @Test func `a task that writes alone does so on its own thread`() async throws {
        let bench = try Bench()
        for _ in 0..<3 {
            let (caller, writer) = try await threads(bench.database)
            #expect(caller == writer)
        }
    }

    @Test func `tasks that arrive during a write hold no thread`() async throws {
        let database = try Bench().database
        let release = DispatchSemaphore(value: 0)
        await withCheckedContinuation { (isWriting: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                do {
                    try database.change { _ in
                        isWriting.resume()
                        release.wait()
                    }
                } catch { Issue.record(error) }
            }
        }
        // Far more than there are threads for tasks: if each waited on one, no thread could release them.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<256 {
                group.addTask { try await database.change { db in try Meta.compared.set(Int64(number), db) } }
            }
            group.addTask { @concurrent in
                try await eventually { database.writesUnderWay.current >= 257 }
                release.signal()
            }
            try await group.waitForAll()
        }
        #expect(database.writesUnderWay.current == 0)
    }

    @Test func `a task that was cancelled writes nothing`() async throws {
        let database = try Bench().database
        let writing = Task { @concurrent in
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.change { db in try Meta.compared.set(7, db) }
        }
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await database.writer.read { db in try Meta.compared.integer(db) } != 7)
    }
}
