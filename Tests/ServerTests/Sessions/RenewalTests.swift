import Testing
import TidemarkHub
import TidemarkModel
import TidemarkWire

/// The token of an open connection.
@Suite struct RenewalTests {
    @Test func `a token of the same user renews the connection`() throws {
        var seat = try Seat(expires: 10_000)
        let end = seat.now + 60_000
        seat.say(.auth(Auth(token: "ann \(end)")))
        #expect(seat.heard() == [.authOK(AuthOK(expires: end))])
        seat.pass(59_999)
        #expect(seat.closed == nil)
        seat.pass(1)
        #expect(seat.closed == .unauthenticated)
    }

    @Test func `a token of another user ends the connection and changes nothing`() throws {
        var seat = try Seat(expires: 10_000)
        seat.say(.auth(Auth(token: "eve \(seat.now + 60_000)")))
        #expect(seat.closed == .workspaceForbidden)
        #expect(seat.heard().isEmpty)
        #expect(seat.one.session?.identity?.principal.user == UserID("ann"))
    }

    @Test func `a token that is not valid ends the connection`() throws {
        var seat = try Seat()
        seat.say(.auth(Auth(token: "")))
        #expect(seat.closed == .unauthenticated)
    }

    @Test func `a connection ends with its token`() throws {
        var seat = try Seat(expires: 10_000)
        seat.pass(9_999)
        #expect(seat.closed == nil)
        seat.pass(1)
        #expect(seat.closed == .unauthenticated)
    }
}
