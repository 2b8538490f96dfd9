import Foundation
import Testing

@testable import TidemarkTerminal

/// The zone of the terminal's user, in every form of TZ.
@Suite struct TimeZoneTests {
    @Test func `a zone is found by its name and by its file`() {
        #expect(TimeZone(written: "Europe/Berlin")?.identifier == "Europe/Berlin")
        #expect(TimeZone(written: "/usr/share/zoneinfo/Europe/Berlin")?.identifier == "Europe/Berlin")
        #expect(TimeZone(written: "/nowhere/Berlin") == nil)
    }

    @Test func `a colon before the name changes nothing`() {
        setenv("TZ", ":Asia/Tokyo", 1)
        defer { unsetenv("TZ") }
        #expect(TimeZone.ofTerminal.secondsFromGMT() == 9 * 3_600)
    }
}
