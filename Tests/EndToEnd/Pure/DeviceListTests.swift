import Testing
import TidemarkModel

@testable import TidemarkDaemon

/// The list of devices in a terminal.
@Suite struct DeviceListTests {
    @Test func `servers that did not answer are named after the list, whatever the numbers`() {
        func silence(_ servers: Int64, _ silent: Int64) -> String? {
            DevicesCommand.List.silence(["servers": .integer(servers), "silent": .integer(silent)])
        }
        #expect(silence(3, 1) == "1 of 2 other servers did not answer: what is connected there is not known")
        #expect(silence(3, 0) == nil && silence(1, 0) == nil)
        #expect(DevicesCommand.List.silence([:]) == nil)
        #expect(silence(.min, .max) != nil && silence(.max, .min) == nil)
    }
}
