import Foundation
import Testing

@testable import Tidemark

@Suite struct CertificatePinsTests {
    @Test func `a server is accepted that shows one of the certificates, its own or an authority's`() {
        let (own, next, authority) = (Data("own".utf8), Data("next".utf8), Data("authority".utf8))
        let pins = CertificatePins([own, next])
        #expect(pins.accepts([own, authority]))
        #expect(pins.accepts([next]))
        #expect(!pins.accepts([authority]))
        #expect(!pins.accepts([]))
        #expect(CertificatePins([authority]).accepts([own, authority]))
        #expect(!CertificatePins([]).accepts([own]))
    }
}
