import Testing
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// Each answer to the question why a device is stuck, made of facts.
@Suite struct DeviceStoryTests {
    private static let id = Sample.id(7)

    /// A device that is connected and up to date; each test changes one thing.
    private func answer(_ change: (inout DeviceStory.Facts) -> Void = { _ in }) -> DeviceStory {
        var facts = DeviceStory.Facts(
            id: Self.id, workspace: WorkspaceID("w"), now: 1_700_000_000_000,
            head: Head(seq: 50, nonce: 1, time: 1, epoch: 1))
        facts.device = Device(
            id: Self.id, user: UserID("bob"), registered: 5, seen: 1_700_000_000_000, app: "chat/1", settledThrough: 3,
            ackedThrough: 1)
        facts.connection = WhyFacts.Connection(client: Self.id, position: 50, isSlow: false)
        change(&facts)
        return DeviceStory(facts)
    }

    @Test func `a device that is up to date is not stuck`() {
        #expect(answer().answer == .well && answer().sentence.contains("is not stuck on anything"))
    }

    @Test func `a device that is not registered`() {
        let story = answer { $0.device = nil }
        #expect(story.answer == .unknown && story.sentence.contains("no device of that id is registered"))
    }

    @Test func `a device that is signed out`() {
        let story = answer { facts in
            (facts.connection, facts.revokedBefore) = (nil, 1_700_000_000_000)
        }
        #expect(story.answer == .revoked && story.sentence.contains("2023-11-14T22:13:20Z are revoked"))
    }

    @Test func `a device whose app is too old`() {
        let story = answer { facts in
            (facts.connection, facts.appMinimum) = (nil, "2")
        }
        #expect(story.answer == .appTooOld && story.sentence.contains("its app chat/1 is older than 2"))
    }

    @Test func `a device that is not connected, and the end of its last connection`() {
        let story = answer { facts in
            facts.connection = nil
            facts.closings = [WhyFacts.Closing(client: Self.id, time: 1, code: nil, reason: "the connection was lost")]
        }
        #expect(story.answer == .notConnected)
        #expect(story.sentence.contains("its last connection ended with the connection was lost"))
    }

    @Test func `a device that is not connected, with its unsent writes`() {
        let story = answer { facts in
            (facts.connection, facts.unsent, facts.lag) = (nil, 4, 30)
        }
        #expect(story.sentence.contains(", with 4 of its writes still to be sent"))
        #expect(story.text.contains("30 changes behind") && story.text.contains("when it came last: 4"))
        #expect(!answer { ($0.connection, $0.unsent) = (nil, 0) }.sentence.contains("still to be sent"))
    }

    @Test func `a device that left up to date is not called stuck`() {
        let story = answer { facts in
            (facts.connection, facts.unsent, facts.lag) = (nil, 0, 0)
            facts.device?.position = 50
        }
        #expect(story.answer == .notConnected)
        #expect(
            story.sentence
                == "Device \(Self.id) has everything up to #50 of #50, and is away since 2023-11-14T22:13:20Z:"
                + " what it has written since no server knows.")
        let behind = answer { facts in
            facts.connection = nil
            facts.device?.position = 49
        }
        #expect(behind.sentence.contains("is stuck because it is not connected; it was last seen at"))
        #expect(behind.sentence.contains("with everything up to #49 of #50"))
    }

    @Test func `servers that did not answer are named for a device that is not connected`() {
        let story = answer { facts in
            (facts.connection, facts.others, facts.silent) = (nil, 3, 2)
        }
        #expect(story.sentence.contains("2 of 3 other servers did not answer: what is connected there is not known"))
        #expect(story.text.contains("\n  2 of 3 other servers did not answer"))
    }

    @Test func `a device whose copy refuses frames, between two attempts and during one`() {
        let away = answer { facts in
            facts.connection = nil
            facts.closings = [
                WhyFacts.Closing(client: Self.id, time: 2, code: 1000, reason: "", stuck: 5),
                WhyFacts.Closing(client: Self.id, time: 1, code: 1000, reason: ""),
            ]
        }
        #expect(away.answer == .cannotApply && away.sentence.contains("ended 5 connections in a row"))
        let here = answer { facts in
            facts.connection?.stuck = 6
            facts.connection?.pending = 400
        }
        #expect(here.answer == .cannotApply && here.sentence.contains("ended 6 connections in a row"))
        // It has applied everything since that report.
        #expect(answer { $0.connection?.stuck = 6 }.answer == .well)
        let mended = answer { facts in
            facts.connection = nil
            facts.closings = [
                WhyFacts.Closing(client: Self.id, time: 2, code: 1000, reason: ""),
                WhyFacts.Closing(client: Self.id, time: 1, code: 1000, reason: "", stuck: 5),
            ]
        }
        #expect(mended.answer == .notConnected)
    }

    @Test func `the number of diverged records that it reported is in its story, with the user`() {
        let here = answer { $0.connection?.diverged = 3 }
        #expect(here.answer == .well && here.text.contains("of bob said that 3 of its records differed"))
        let away = answer { facts in
            facts.connection = nil
            facts.closings = [WhyFacts.Closing(client: Self.id, time: 2, code: 1000, reason: "", diverged: 7)]
        }
        #expect(away.text.contains("of bob said that 7 of its records differed"))
        #expect(!answer().text.contains("differed"))
    }

    @Test func `a device that accepts nothing, and one that is behind`() {
        let slow = answer { facts in
            facts.connection?.isSlow = true
            facts.connection?.pending = 4_096
        }
        #expect(slow.answer == .slow && slow.sentence.contains("4096 bytes"))
        let behind = answer { $0.connection?.position = 49 }
        #expect(behind.answer == .behind && behind.sentence.contains("up to #49 of #50"))
    }

    @Test func `a device that has not acknowledged a refusal`() {
        func refusal(_ number: Int64, owed: Bool) -> WhyFacts.Refusal {
            WhyFacts.Refusal(
                client: Self.id, number: number, time: 1, rejection: Rejection(.forbidden, "no \(number)"), records: [],
                isOwed: owed)
        }
        let owed = answer { $0.refusals = [refusal(3, owed: true), refusal(2, owed: true), refusal(9, owed: false)] }
        #expect(owed.answer == .owed && owed.sentence.contains("2 of its writes were refused"))
        #expect(owed.sentence.contains("transaction 3, forbidden, no 3"))
        #expect(answer { $0.refusals = [refusal(9, owed: false)] }.answer == .well)
    }
}
