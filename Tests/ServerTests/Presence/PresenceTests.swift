import Testing
import TidemarkHub
import TidemarkModel
import TidemarkWire

@Suite struct PresenceTests {
    @Test func `a watcher learns who is present, who arrives, and when a user has left`() throws {
        var world = try Machines(1)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 0, scopes: ["room"])
        world.ask(1, "room")
        #expect(world.words(1) == ["ann+", "bob+"])
        world.connect(3, "cid", to: 0, scopes: ["room"])
        world.pass(seconds: 1)
        #expect(world.words(1) == ["cid+"])
        world.disconnect(2)
        world.pass(seconds: 4)
        #expect(world.words(1) == [])
        world.pass(seconds: 1)
        #expect(world.words(1) == ["bob-1"])
        #expect(world.words(2) == [] && world.words(3) == [])
    }

    @Test func `returning within the grace period is not announced, and a second device keeps a user present`() throws {
        var world = try Machines(1)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 0, scopes: ["room"])
        world.ask(1, "room")
        world.pass(seconds: 2)
        _ = world.words(1)
        for id in UInt64(3)...6 {
            world.disconnect(id - 1)
            world.pass(seconds: 4)
            world.connect(id, "bob", to: 0, scopes: ["room"])
        }
        world.connect(9, "bob", to: 0, scopes: ["room"])
        world.disconnect(6)
        world.pass(seconds: 60)
        #expect(world.words(1) == [])
    }

    @Test func `hubs tell each other which scopes are watched`() throws {
        var world = try Machines(3)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 1, scopes: ["room"])
        world.connect(3, "bob", to: 2, scopes: ["room"])
        world.connect(4, "cid", to: 1, scopes: ["other"])
        world.ask(1, "room")
        world.pass(seconds: 1)
        #expect(Set(world.words(1)) == ["ann+", "bob+"])
        world.disconnect(2)
        world.pass(seconds: 20)
        #expect(world.words(1) == [])
        world.disconnect(3)
        world.pass(seconds: 10)
        #expect(world.words(1) == ["bob-21"])
        // A later watcher learns the same at once, or a second later from the other hubs.
        world.connect(5, "dan", to: 1, scopes: ["room"])
        world.ask(5, "room")
        world.pass(seconds: 1)
        #expect(world.words(5).contains("bob-21"))
        #expect(!world.words(1).contains("cid+"))
    }

    @Test func `users of a silent hub were last seen at its last message`() throws {
        var world = try Machines(2)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 1, scopes: ["room"])
        world.ask(1, "room")
        world.pass(seconds: 40)
        #expect(Set(world.words(1)) == ["ann+", "bob+"])
        world.deaf = [1]
        world.pass(seconds: 20)
        #expect(world.words(1) == [])
        world.pass(seconds: 30)
        #expect(world.words(1) == ["bob-30"])
        world.deaf = []
        world.pass(seconds: 20)
        #expect(world.words(1) == ["bob+"])
    }

    @Test func `nothing is sent about, or to, a user who is not a member`() throws {
        var world = try Machines(2)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 1, scopes: ["room"])
        world.connect(3, "eve", to: 0, scopes: ["other"])
        world.connect(4, "service", to: 0, scopes: ["room"])
        for id in [1, 2, 3] as [UInt64] { world.ask(id, "room") }
        world.ask(3, "wall")
        world.pass(seconds: 2)
        #expect(Set(world.words(1)) == ["ann+", "bob+"] && Set(world.words(2)) == ["ann+", "bob+"])
        world.expel("bob", from: "room")
        world.pass(seconds: 2)
        #expect(world.words(1) == ["bob?"])
        world.disconnect(1)
        world.disconnect(2)
        world.pass(seconds: 20)
        #expect(world.words(2) == [] && world.words(3) == [])
        world.connect(5, "cid", to: 1, scopes: ["room"])
        world.ask(5, "room")
        world.pass(seconds: 2)
        #expect(Set(world.words(5)) == ["cid+", "ann-4"])
    }

    @Test func `an expelled user's departure is forgotten`() throws {
        var world = try Machines(1)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.connect(2, "bob", to: 0, scopes: ["room"])
        world.disconnect(2)
        world.pass(seconds: 10)
        world.ask(1, "room")
        #expect(world.words(1) == ["ann+", "bob-0"])
        world.expel("bob", from: "room")
        world.pass(seconds: 1)
        _ = world.words(1)
        world.ask(1, "room")
        #expect(world.words(1) == ["ann+"])
    }

    @Test func `a hub that missed batches forgets who left, and takes back what it sent about them`() throws {
        var world = try Machines(1)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        for (id, user) in [(2, "bob"), (3, "cid")] as [(UInt64, String)] {
            world.connect(id, user, to: 0, scopes: ["room"])
        }
        world.ask(1, "room")
        world.disconnect(2)
        world.pass(seconds: 10)
        world.disconnect(3)
        world.pass(seconds: 1)
        _ = world.words(1)
        world.miss()
        #expect(world.machines[0].session(1)?.isLive == true)
        world.pass(seconds: 1)
        #expect(world.words(1).last == "cid?")
        world.ask(1, "room")
        #expect(world.words(1) == ["ann+"])
    }

    @Test func `a watcher with a full socket gets all messages when it has room, and nothing after the watch ends`()
        throws
    {
        var world = try Machines(1)
        world.connect(1, "ann", to: 0, scopes: ["room"])
        world.ask(1, "room")
        world.pass(seconds: 1)
        _ = world.words(1)
        world.setBlocked(1, true)
        world.connect(2, "bob", to: 0, scopes: ["room"])
        world.pass(seconds: 5)
        #expect(world.words(1) == [])
        world.setBlocked(1, false)
        world.pass(seconds: 1)
        #expect(world.words(1) == ["ann+", "bob+"])
        world.ask(1, "room", lifetime: 0)
        world.disconnect(2)
        world.pass(seconds: 60)
        #expect(world.words(1) == [])
    }

    @Test func `watched scopes of a connection are bounded, and so are remembered departures`() throws {
        var limits = HubLimits()
        limits.presenceScopesMax = 2
        limits.departuresMax = 3
        var world = try Machines(1, limits: limits)
        world.connect(1, "ann", to: 0, scopes: ["a", "b", "c"])
        for scope in ["a", "b", "c"] { world.ask(1, scope) }
        #expect(world.words(1) == ["ann+", "ann+"])
        #expect(world.machines[0].counts.refused == 1)
        for (index, user) in ["u1", "u2", "u3", "u4", "u5"].enumerated() {
            world.connect(UInt64(10 + index), user, to: 0, scopes: ["a"])
            world.disconnect(UInt64(10 + index))
            world.pass(seconds: 10)
        }
        _ = world.words(1)
        world.ask(1, "a")
        #expect(world.words(1) == ["ann+", "u3-20", "u4-30", "u5-40"])
    }
}
