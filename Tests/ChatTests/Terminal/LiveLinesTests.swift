import Foundation
import Testing
import Tidemark

@testable import TidemarkTerminal

@Suite struct LiveLinesTests {
    @Test func `typing users are first, then present ones and when the others were, and never the user`() throws {
        let lines = ChatRoom.lines(
            typing: [UserID("ann"), UserID("bob")],
            present: [
                UserID("ann"): .online, UserID("bob"): .online, UserID("cyd"): .online,
                UserID("dan"): .lastSeen(Date(timeIntervalSince1970: 0)), UserID("eve"): .unknown,
            ], account: UserID("ann"),
            MemberNames([UserID("bob"): "Bob"], account: UserID("ann")), try #require(TimeZone(identifier: "UTC")))
        #expect(lines == ["Bob is typing", "cyd is here", "dan was here on 1970-01-01 at 00:00"])
    }
}
