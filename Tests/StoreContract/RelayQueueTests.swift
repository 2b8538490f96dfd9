import Testing

@testable import TidemarkPostgresStore

@Suite struct RelayQueueTests {
    @Test func `messages come back unchanged, from other nodes only`() {
        var queue = RelayQueue()
        for word in ["{\"a\":1}", "b;*,", "é"] {
            let isKept = queue.append(word)
            #expect(isKept)
        }
        let payload = queue.take(node: 7) ?? ""
        #expect(RelayQueue.words(of: payload, toldBy: 8) == ["{\"a\":1}", "b;*,", "é"])
        #expect(RelayQueue.words(of: payload, toldBy: 7) == nil)
        let rest = queue.take(node: 7)
        #expect(rest == nil)
        for text in ["", "x\ny", "-1\ny"] { #expect(RelayQueue.words(of: text, toldBy: 8) == nil) }
    }

    @Test func `a notification contains what fits, and the queue is bounded`() {
        var queue = RelayQueue()
        let isTooLargeKept = queue.append(String(repeating: "x", count: HintPayload.bytesMax))
        #expect(!isTooLargeKept)
        let word = String(repeating: "é", count: 499)
        var kept = 0
        while queue.append(word) { kept += 1 }
        #expect(kept == RelayQueue.bytesMax / 999)
        var told = 0
        while let payload = queue.take(node: .max) {
            #expect(payload.utf8.count <= HintPayload.bytesMax)
            told += RelayQueue.words(of: payload, toldBy: 1)?.count ?? 0
        }
        #expect(told == kept)
        let isKeptAfter = queue.append(word)
        #expect(isKeptAfter)
    }
}
