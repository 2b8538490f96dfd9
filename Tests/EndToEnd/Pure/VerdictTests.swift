import Testing
import TidemarkModel

@testable import TidemarkTerminal

/// The judge finds each kind of defect, and nothing in a good run.
@Suite struct VerdictTests {
    private let conversation = UniqueID(high: 9, low: 9)

    private func held(_ number: Int64, born: Int64? = nil, author: String = "ann", id: UInt64? = nil) -> HeldMessage {
        HeldMessage(
            id: UniqueID(high: 1, low: id ?? UInt64(number)), conversation: conversation, author: author,
            born: born ?? number, order: number, text: "\(number)")
    }

    private func written(_ numbers: ClosedRange<Int64>) -> [WrittenMessage] {
        numbers.map {
            WrittenMessage(
                id: UniqueID(high: 1, low: UInt64($0)), conversation: conversation, author: "ann", order: $0,
                text: "\($0)")
        }
    }

    private func verdict(
        server: [HeldMessage], device: [HeldMessage], members: Set<String> = ["ann", "bob"], parked: Int = 0
    ) -> Verdict {
        let state = ConversationState(name: "day", members: members)
        let isMember = members.contains("bob")
        return Verdict(
            written: written(1...3), server: server, conversations: [conversation: state],
            devices: [
                DeviceCopy(
                    user: "bob", messages: device, conversations: isMember ? [conversation: state] : [:],
                    parked: parked,
                    unsettled: 0)
            ])
    }

    @Test func `equal copies are clean, and others' messages are counted as delivered`() {
        let all = [held(1), held(2), held(3)]
        let verdict = verdict(server: all, device: all)
        #expect(verdict.isClean)
        #expect(verdict.messages == 3)
        #expect(verdict.deliveries == 3)
        #expect(verdict.defects.isEmpty)
    }

    @Test func `a message that the server lacks is lost`() {
        let verdict = verdict(server: [held(1), held(3)], device: [held(1), held(3)])
        #expect(verdict.lost == 1)
        #expect(!verdict.isClean)
    }

    @Test func `a message that a device lacks is lost`() {
        #expect(verdict(server: [held(1), held(2), held(3)], device: [held(1), held(3)]).lost == 1)
    }

    @Test func `one message under two ids is a duplicate wherever it is`() {
        let all = [held(1), held(2), held(3)]
        let twice = all + [held(3, born: 4, id: 77)]
        #expect(verdict(server: twice, device: twice).duplicated >= 2)
        #expect(verdict(server: all, device: twice).duplicated == 1)
    }

    @Test func `an author's messages in an order other than written are out of order`() {
        let swapped = [held(1, born: 2), held(2, born: 1), held(3)]
        #expect(verdict(server: swapped, device: swapped).outOfOrder == 1)
    }

    @Test func `a device with an order other than the server's is out of order`() {
        let server = [held(1), held(2), held(3)]
        #expect(verdict(server: server, device: [held(1, born: 2), held(2, born: 1), held(3)]).outOfOrder == 2)
    }

    @Test func `a message still held by a user who is not a member is a difference`() {
        let all = [held(1), held(2), held(3)]
        #expect(verdict(server: all, device: all, members: ["ann"]).differing == 3)
        #expect(verdict(server: all, device: [], members: ["ann"]).isClean)
    }

    @Test func `a refused transaction is a difference`() {
        let all = [held(1), held(2), held(3)]
        #expect(verdict(server: all, device: all, parked: 1).differing == 1)
    }

    @Test func `another text at the server is a loss, on a device a difference`() {
        let all = [held(1), held(2), held(3)]
        let changed = HeldMessage(
            id: UniqueID(high: 1, low: 3), conversation: conversation, author: "ann", born: 3, order: 3, text: "x")
        #expect(verdict(server: [held(1), held(2), changed], device: [held(1), held(2), changed]).lost == 1)
        #expect(verdict(server: all, device: [held(1), held(2), changed]).differing == 1)
    }
}
