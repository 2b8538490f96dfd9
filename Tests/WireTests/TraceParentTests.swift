import Testing
import TidemarkModel

@testable import TidemarkWire

/// Valid traces are accepted, and invalid ones do no harm.
@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let good = "00-\(trace)-00f067aa0ba902b7-01"

    @Test(arguments: [
        good, "00-\(trace)-00f067aa0ba902b7-00", "01-\(trace)-00f067aa0ba902b7-01-more",
        "cc-\(trace)-00f067aa0ba902b7-01",
    ])
    func `a trace in the standard's form is accepted`(_ text: String) {
        #expect(TraceParent(text)?.traceID == Self.trace)
        #expect(TraceParent(text)?.text == text)
    }

    @Test(arguments: [
        "", "00", good.uppercased(), " " + good, good + " ", good + "-more", good + "\n", "ff-" + good.dropFirst(3),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace)x00f067aa0ba902b7-01", "00_\(trace)-00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-0g",
        "01-\(trace)-00f067aa0ba902b7-01more", "01-\(trace)-00f067aa0ba902b7-01-\u{1b}[2J",
        "01-\(trace)-00f067aa0ba902b7-01-" + String(repeating: "a", count: 300), String(repeating: "é", count: 28),
    ])
    func `anything else is ignored`(_ text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test(arguments: ["\"x\"", "7", "null", "{}", "[\"\(good)\"]", "true", "\"\""])
    func `a hello with another value in its trace is a hello`(_ value: String) throws {
        let text = """
            {"t":"hello","v":[1],"client":"018f3a2b-0000-7000-8000-000000000001","conn":3,"traceparent":\(value),"app":"a"}
            """
        guard case .hello(let hello) = try ClientMessage.decode(Array(text.utf8)) else {
            Issue.record("no hello")
            return
        }
        #expect(hello.trace == nil && hello.app == "a")
    }
}
