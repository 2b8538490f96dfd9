import Foundation
import Testing
import TidemarkExtension
import TidemarkModel

@testable import Tidemark

/// The values that an app publishes for its extensions, and their view of them.
@Suite(.timeLimit(.minutes(5))) struct PublishingTests {
    private struct Row: Codable, Equatable, Sendable {
        var text: String
        var due: Date?
    }

    private func publish(_ store: SyncStore, _ name: String = "notes") async throws {
        try await store.publish(name) { snapshot in
            try snapshot.readAll(Note.self, "ORDER BY text").map { Row(text: $0.text ?? "", due: $0.due) }
        }
    }

    @Test func `an extension reads the published value, its user and its age`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let store = try await bench.open(environment: StoreEnvironment(now: { 60_000 }, random: { (1, 2) }))
        #expect(try bench.shared.published("notes", as: [Row].self) == nil)
        let due = Date(timeIntervalSince1970: 1)
        try await store.repository(Note.self).create(Note(room: bench.room.id, text: "milk", due: due))
        try await publish(store)
        let seen = try #require(try bench.shared.published("notes", as: [Row].self))
        #expect(seen.value == [Row(text: "milk", due: due)] && seen.account == "ann")
        #expect(seen.age(at: Date(timeIntervalSince1970: 75)) == .seconds(15))
        #expect(seen.age(at: Date(timeIntervalSince1970: 5)) == .zero)
        let error = #expect(throws: SharingError.self) { try bench.shared.published("notes", as: [Int].self) }
        #expect(error?.code == .coding)
    }

    @Test func `a value that changes is published again, and a reader sees one whole or the other`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let store = try await bench.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.publishChanges("texts", pause: .zero) { snapshot in
                    try snapshot.readAll(Note.self, "ORDER BY text").compactMap(\.text)
                }
            }
            for number in 1...5 {
                try await store.repository(Note.self).create(Note(room: bench.room.id, text: "\(number + 100)"))
                var seen = 0
                while seen < number {
                    let texts = try bench.shared.published("texts", as: [String].self)?.value ?? []
                    #expect(texts == (0..<texts.count).map { "\($0 + 101)" })
                    seen = texts.count
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            group.cancelAll()
        }
    }

    @Test func `a value that is too large, badly named or not encodable is refused, and the old one stays`()
        async throws
    {
        var limits = SharingLimits()
        limits.maxPublishedBytes = 300
        let bench = try SpoolBench(limits: limits)
        try await bench.prepare()
        let store = try await bench.open()
        try await store.publish("text") { _ in "small" }
        func code(_ name: String, _ value: some Encodable & Sendable) async -> SharingError.Code? {
            do {
                try await store.publish(name) { _ in value }
                return nil
            } catch { return (error as? SharingError)?.code }
        }
        #expect(await code("text", String(repeating: "x", count: 300)) == .tooLarge)
        #expect(await code("text", Double.infinity) == .coding)
        for name in ["", "../text", "a b", String(repeating: "n", count: 65)] { #expect(await code(name, 1) == .name) }
        #expect(try bench.shared.published("text", as: String.self)?.value == "small")
        let other = try SyncStore.test()
        let error = await #expect(throws: SharingError.self) { try await other.publish("text") { _ in 1 } }
        #expect(error?.code == .notShared)
    }

    @Test func `no value of a user can be read after a sign-out, nor by the next user`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let ann = try await bench.open()
        try await publish(ann)
        try await ann.close()
        let bob = try await bench.open(UserID("bob"))
        #expect(try bench.shared.published("notes", as: [Row].self) == nil)
        try await publish(bob)
        try await bob.signOut(keeping: .everything)
        #expect(try bench.shared.published("notes", as: [Row].self) == nil)
        let published = bench.shared.url.appending(path: "published")
        #expect(!FileManager.default.fileExists(atPath: published.path))
        let error = await #expect(throws: SharingError.self) {
            try await bob.publish("late") { _ in 1 }
        }
        #expect(error?.code == .notShared)
        #expect(!FileManager.default.fileExists(atPath: published.path))
    }

    @Test func `a file that is cut, foreign or newer is refused by name`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let store = try await bench.open()
        try await store.publish("text") { _ in "whole" }
        let file = bench.shared.url.appending(path: "published/text")
        let whole = try Data(contentsOf: file)
        func code(_ bytes: Data) throws -> SharingError.Code? {
            try bytes.write(to: file)
            do {
                _ = try bench.shared.published("text", as: String.self)
                return nil
            } catch { return (error as? SharingError)?.code }
        }
        for length in 1..<whole.count { #expect(try code(whole.prefix(length)) == .damaged) }
        #expect(try code(Data("hello\n".utf8)) == .damaged)
        #expect(
            try code(Data(String(decoding: whole, as: UTF8.self).replacing("whole", with: "whale").utf8)) == .damaged)
        let text = String(decoding: whole, as: UTF8.self)
        #expect(try code(Data(text.replacing("published 1", with: "published 7", maxReplacements: 1).utf8)) == .newer)
        #expect(try code(whole) == nil)
    }
}
