import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct CopiedFileTests {
    private let file: FileDamage

    init() throws { file = try FileDamage() }

    private func client(_ bench: Bench) throws -> String? {
        try bench.string("SELECT value FROM tidemark_meta WHERE key = 'client'")
    }

    private func fill() throws {
        try file.fill { bench in
            try bench.join(RecordKey.room(1).scope)
            try bench.apply(.note(1, seq: 5, ["likes": 1]))
            try bench.write(1, .set(.note(1), "text", "once"))
            try bench.write(2, .update(.note(1), [NamedPatch("likes", .increment(1))]))
        }
    }

    @Test func `a file in another folder gets another client id, and increments that may repeat are parked`() throws {
        try fill()
        let elsewhere = try FileDamage()
        try FileManager.default.copyItem(atPath: file.path, toPath: elsewhere.path)
        // The other installation has been in use before.
        _ = try InstallMark(folder: elsewhere.folder.url).id(orMake: StoreEnvironment.system.newID)
        let (original, silence) = try file.open()
        let (copy, notice) = try elsewhere.open()
        #expect(silence == nil && notice == .copied)
        #expect(try client(original) != client(copy))
        #expect(try original.database.pendingCount() == 2)
        #expect(try copy.database.pendingCount() == 1)
        #expect(try copy.database.parked().map(\.transaction.id) == [.transaction(2)])
        #expect(try copy.fields(.note(1)) == Fields().inRoom(1).setting("likes", 1).setting("text", "once"))
        try copy.database.close()
        #expect(try elsewhere.open().notice == nil)
    }

    @Test func `a whole folder that is copied is another installation too`() throws {
        try fill()
        let parent = try TemporaryFolder()
        let copy = parent.url.appending(path: "copy")
        try FileManager.default.copyItem(at: file.folder.url, to: copy)
        let opening = DatabaseOpening(
            folder: copy, account: Bench.user, schema: try TestSchema.schema(), environment: .system)
        #expect(try opening.open().notice == .copied)
        #expect(try file.open().notice == nil)
    }

    @Test func `a folder that is moved stays the same installation`() throws {
        try fill()
        let parent = try TemporaryFolder()
        let moved = parent.url.appending(path: "moved")
        try FileManager.default.copyItem(at: file.folder.url, to: parent.url.appending(path: "other"))
        try FileManager.default.moveItem(at: file.folder.url, to: moved)
        let opening = DatabaseOpening(
            folder: moved, account: Bench.user, schema: try TestSchema.schema(), environment: .system)
        #expect(try opening.open().notice == nil)
    }
}

extension Fields {
    func setting(_ name: String, _ value: FieldValue) -> Fields {
        var fields = self
        fields[name] = value
        return fields
    }
}
