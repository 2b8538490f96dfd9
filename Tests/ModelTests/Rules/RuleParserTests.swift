import Foundation
import Synchronization
import Testing
import TidemarkModel

@Suite struct RuleParserTests {
    private func error(_ rule: String) -> String {
        do throws(RuleError) {
            return "parsed: \(try RuleParser.parse(rule).text)"
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        ("a||b&&c==d+e*f", "a || b && c == d + e * f"), ("((a||b)&&c)", "(a || b) && c"),
        ("a-(b-c)-d", "a - (b - c) - d"),
        ("!a == -b", "!a == -b"), ("-(5)", "-(5)"), ("- 5", "-5"), ("a?b:c?d:e", "a ? b : c ? d : e"),
        ("(a?b:c)?d:e", "(a ? b : c) ? d : e"), ("x.size()", "size(x)"), ("(1).x", "(1).x"),
        (#""it's \u00e9""#, #"'it\'s é'"#), (#"r'\d'"#, #"'\\d'"#), ("'''a\nb'''", #"'a\nb'"#),
        ("a // why\n && b", "a && b"), ("after.tags.all(t,t!='')", "after.tags.all(t, t != '')"),
    ])
    func `a rule is read by CEL's precedence and written with as few brackets as it needs`(
        _ rule: String, _ text: String
    ) throws {
        #expect(try RuleParser.parse(rule).text == text)
    }

    @Test(arguments: [
        ("a = b", "1:3: = compares nothing, write ==: it has no meaning here"),
        ("a &&\n  & b", "2:3: & alone, write &&: it has no meaning here"),
        ("'é' + ", "1:7: a value is missing before the end"),
        ("a b", "1:3: the rule ends before b: an operator is missing, or a bracket is too many"),
        ("'open", "1:1: the text has no closing quote"),
        (#"'\q'"#, #"1:2: the escape is unknown: write \\ for a backslash"#),
        (#"'\ud800'"#, "1:2: the escape is no character of Unicode"),
        ("9223372036854775808", "1:1: is not a whole number of 64 bits"), ("1e999", "1:1: the number is too large"),
        ("1u", "1:1: unsigned numbers are not supported: leave out the u"),
        ("b'x'", "1:1: bytes are not supported: fields hold text"),
        ("a.matches('x')", "1:3: matches is not part of this language: give the field a \"pattern\""),
        ("ref('x') == null", "1:1: ref is not part of this language: it is not supported yet"),
        ("a.exists(user, true)", "1:10: user is a variable of every rule: choose another name for the element"),
        ("a.map(x, x)", "1:3: map is not part of this language: use all, exists or exists_one"),
        ("has(a)", "1:1: has takes one field, as in has(after.name)"),
        ("while", "1:1: while is a reserved word of CEL"),
        ("Message{}", "1:8: messages are not supported: a map begins with {"),
        ("{1: 2}", "1:2: a key of a map is a text: write it in quotes"),
        ("a[1", "1:4: ] must follow the index, not the end"),
        ("", "1:1: a value is missing before the end"),
    ])
    func `an error names line and column, and a remedy`(_ rule: String, _ message: String) {
        #expect(error(rule) == message)
    }

    @Test func `a rule at a bound is read, and one beyond it is refused, on the smallest stack of a thread`() {
        let made: [@Sendable (Int) -> String] = [
            { String(repeating: "(", count: $0) + "a" + String(repeating: ")", count: $0) },
            { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) },
            { String(repeating: "{'a':", count: $0) + "1" + String(repeating: "}", count: $0) },
            { String(repeating: "!", count: $0) + "a" }, { String(repeating: "-", count: $0) + "a" },
            { "a" + String(repeating: ".b", count: $0) }, { "a" + String(repeating: "[0]", count: $0) },
            { String(repeating: "a[", count: $0) + "0" + String(repeating: "]", count: $0) },
            { "1" + String(repeating: "+1", count: $0) }, { "a" + String(repeating: "||a", count: $0) },
            { String(repeating: "a?b:", count: $0) + "c" },
            { String(repeating: "size(", count: $0) + "a" + String(repeating: ")", count: $0) },
            { String(repeating: "a.all(x,", count: $0) + "true" + String(repeating: ")", count: $0) },
        ]
        let read = Mutex<[Int]>([])
        let ended = DispatchSemaphore(value: 0)
        // As large as that of a thread beside the main one on Apple's systems.
        let thread = Thread {
            for make in made {
                var deepest = 0
                for depth in [1, 10, 25, 26, 27, 39, 40, 200, 450, 1_000] {
                    guard let node = try? RuleParser.parse(make(depth)) else { continue }
                    deepest = depth
                    var evaluator = RuleEvaluator(RuleBindings())
                    _ = (evaluator.evaluate(node), node.text, node == node, node.hashValue)
                }
                read.withLock { $0.append(deepest) }
            }
            ended.signal()
        }
        thread.stackSize = 512 * 1_024
        thread.start()
        ended.wait()
        #expect(read.withLock { $0 } == [25, 26, 25, 39, 39, 39, 39, 25, 39, 39, 25, 25, 25])
    }

    @Test func `a rule of too many bytes or parts is refused`() {
        let long = "'" + String(repeating: "a", count: RuleLimits.textMax) + "' == 'b'"
        #expect(error(long).hasPrefix("1:1: the rule has 4105 bytes; the limit is 4096"))
        let wide = "[" + String(repeating: "1,", count: RuleLimits.nodesMax) + "1] == []"
        #expect(error(wide).contains("more than 512 parts"))
    }
}
