import Foundation
import Testing

@testable import Tidemark

@Suite struct UploadBookTests {
    private var book = UploadBook<Int>(uploadsMax: 2, answersMax: 2)
    private static let stored = HTTPAnswer(status: 201, retryAfter: nil, body: Data())
    private static let refused = HTTPAnswer(status: 401, retryAfter: nil, body: Data())

    /// The answer as text, since waiters are not equatable.
    private mutating func ask(_ name: String, _ id: UInt64) -> String {
        switch book.ask(name, id, Int(id)) {
        case .begin: "begin"
        case .wait: "wait"
        case .arrived(let answer): "arrived \(answer.status)"
        case .busy: "busy"
        }
    }

    private mutating func found(_ names: Set<String>) -> [String] { book.found(names) }

    private mutating func ended(_ name: String, _ answer: HTTPAnswer?) -> [Int] { book.ended(name, answer) }

    private mutating func leave(_ name: String, _ id: UInt64) -> Int? { book.leave(name, id) }

    @Test mutating func `nothing begins before the system has listed its uploads`() {
        #expect(ask("a", 1) == "wait")
        #expect(ask("b", 2) == "wait")
        #expect(found(["b"]) == ["a"])
        #expect(ended("b", Self.stored) == [2])
        #expect(ended("a", Self.stored) == [1])
    }

    @Test mutating func `the same bytes are uploaded once at a time`() {
        _ = book.found([])
        #expect(ask("a", 1) == "begin")
        #expect(ask("a", 2) == "wait")
        #expect(ended("a", Self.stored) == [1, 2])
        #expect(ask("a", 3) == "begin")
    }

    @Test mutating func `a finished upload without a waiter is reported later, and not repeated`() {
        _ = book.found(["a"])
        #expect(ended("a", Self.stored) == [])
        #expect(ask("a", 1) == "arrived 201")
        #expect(ask("a", 2) == "begin")
    }

    @Test mutating func `a refused upload without a waiter is sent again`() {
        _ = book.found(["a"])
        #expect(ended("a", Self.refused) == [])
        #expect(ask("a", 1) == "begin")
    }

    @Test mutating func `a waiter that gives up leaves the upload running, and finds it again`() {
        _ = book.found([])
        #expect(ask("a", 1) == "begin")
        #expect(leave("a", 1) == 1)
        #expect(leave("a", 1) == nil)
        #expect(ask("a", 2) == "wait")
        #expect(ended("a", nil) == [2])
    }

    @Test mutating func `an upload without waiters does not begin`() {
        #expect(ask("a", 1) == "wait")
        #expect(leave("a", 1) == 1)
        #expect(found([]) == [])
    }

    @Test mutating func `no more are accepted than are allowed, and few answers are kept`() {
        _ = book.found([])
        #expect([ask("a", 1), ask("b", 2), ask("c", 3), ask("a", 4)] == ["begin", "begin", "busy", "wait"])
        for name in ["x", "y", "z"] { #expect(ended(name, Self.stored) == []) }
        #expect([ask("y", 5), ask("z", 6)] == ["arrived 201", "arrived 201"])
        #expect(ask("x", 7) == "busy")
    }
}
