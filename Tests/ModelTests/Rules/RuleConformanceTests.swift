import Foundation
import Testing
import TidemarkModel

/// The public test data of the CEL specification (github.com/google/cel-spec, `tests/simple/testdata`): expressions with
/// their values, as facts in our own format. `cel.jsonl` has the cases of our subset, `outside.jsonl` the names of the
/// others by reason.
@Suite struct RuleConformanceTests {
    private static func lines(_ name: String) throws -> [Fields] {
        let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/Rules").standardizedFileURL
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            try JSONReader.read(Array(line.utf8)) { try $0.fields() }
        }
    }

    @Test func `each case of the subset has the value of the specification, or fails as it does`() throws {
        let cases = try Self.lines("cel.jsonl")
        #expect(cases.count == 535)
        for known in cases {
            guard case .string(let rule)? = known["rule"] else { throw FixtureError() }
            let node = try RuleParser.parse(rule)
            #expect(try RuleParser.parse(node.text) == node, "\(known.canonicalText)")
            var bindings = RuleBindings()
            if case .object(let bound)? = known["with"] { bindings.names = bound.entries.map { ($0.name, $0.value) } }
            var evaluator = RuleEvaluator(bindings)
            let outcome = evaluator.evaluate(node)
            if let value = known["is"] {
                #expect(outcome == .value(value), "\(known.canonicalText)")
            } else if case .fault = outcome {
                #expect(known["fails"] == true, "\(known.canonicalText)")
            } else {
                Issue.record("\(known.canonicalText) is \(outcome)")
            }
        }
    }

    @Test func `the cases outside of the subset are counted by reason`() throws {
        let reasons = try Self.lines("outside.jsonl")
        #expect(reasons.count == 25)
        var total: Int64 = 0
        for reason in reasons {
            guard case .array(let names)? = reason["cases"], case .integer(let count)? = reason["count"] else {
                throw FixtureError()
            }
            #expect(names.count == count, "\(reason.canonicalText)")
            total += count
        }
        #expect(total == 1_917)
    }
}

private struct FixtureError: Error {}

extension Fields {
    fileprivate var canonicalText: String { String(decoding: canonicalBytes, as: UTF8.self) }
}
