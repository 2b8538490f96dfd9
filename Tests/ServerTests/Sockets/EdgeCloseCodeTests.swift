import Testing
import TidemarkEdge
import TidemarkWire

@Suite struct EdgeCloseCodeTests {
    @Test func `the edge closes with the protocol's codes`() {
        #expect(EdgeCloseCode.normal == CloseCode.normal.rawValue)
        #expect(EdgeCloseCode.goingAway == CloseCode.goingAway.rawValue)
        #expect(EdgeCloseCode.unavailable == CloseCode.unavailable.rawValue)
        #expect(EdgeCloseCode.silent == CloseCode.timeout.rawValue)
    }
}
