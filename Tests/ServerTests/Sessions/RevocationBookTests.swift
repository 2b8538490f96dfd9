import Testing
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The tokens that are revoked.
@Suite struct RevocationBookTests {
    private let workspace = WorkspaceID("w")
    private let ann = UserID("ann")
    private let bob = UserID("bob")
    private let phone = UniqueID(high: 1, low: 1)
    private let tablet = UniqueID(high: 1, low: 2)

    private func token(_ user: UserID, issued: Milliseconds?, in workspace: WorkspaceID? = nil) -> Identity {
        Identity(
            principal: Principal(user: user), workspace: workspace ?? self.workspace, expires: .max, issuedAt: issued)
    }

    private func book(_ revocations: Revocation...) -> RevocationBook {
        var book = RevocationBook()
        for revocation in revocations { book.add(revocation) }
        return book
    }

    @Test func `a user's older tokens are revoked for every use, and later ones are not`() {
        let book = book(Revocation(.user(ann), in: workspace, notBefore: 1_000, number: 1))
        for device in [.later, .unnamed, .named(phone)] as [DeviceClaim] {
            #expect(book.judge(token(ann, issued: 999), device) == .signedOut)
            #expect(book.judge(token(ann, issued: 1_000), device) == nil)
            #expect(book.judge(token(ann, issued: nil), device) == .signedOut)
            #expect(book.judge(token(bob, issued: 999), device) == nil)
            #expect(book.judge(token(bob, issued: nil), device) == nil)
            #expect(book.judge(token(ann, issued: 999, in: WorkspaceID("other")), device) == nil)
        }
    }

    @Test func `a device's older tokens work only in calls that name another device`() {
        let book = book(Revocation(.client(phone, of: ann), in: workspace, notBefore: 1_000, number: 1))
        #expect(book.judge(token(ann, issued: 999), .named(phone)) == .signedOut)
        #expect(book.judge(token(ann, issued: nil), .named(phone)) == .signedOut)
        #expect(book.judge(token(ann, issued: 999), .unnamed) == .outdated)
        #expect(book.judge(token(ann, issued: 999), .named(tablet)) == nil)
        #expect(book.asksForDevice(token(ann, issued: 999)) && !book.asksForDevice(token(ann, issued: 1_000)))
        for device in [.unnamed, .named(phone), .named(tablet)] as [DeviceClaim] {
            #expect(book.judge(token(ann, issued: 1_000), device) == nil)
            #expect(device == .named(phone) || book.judge(token(bob, issued: 999), device) == nil)
        }
    }

    @Test func `a workspace's older tokens must be replaced, and no user is signed out`() {
        let book = book(
            Revocation(.workspace, in: workspace, notBefore: 1_000, number: 1),
            Revocation(.user(ann), in: workspace, notBefore: 500, number: 2))
        #expect(book.judge(token(bob, issued: 999), .named(phone)) == .outdated)
        #expect(book.judge(token(ann, issued: 499), .named(phone)) == .signedOut)
        #expect(book.judge(token(ann, issued: 500), .named(phone)) == .outdated)
        #expect(book.judge(token(ann, issued: 1_000), .named(phone)) == nil)
    }

    @Test func `the later of two times applies, in whichever order they arrive`() {
        let (early, late) = (
            Revocation(.client(phone, of: ann), in: workspace, notBefore: 500, number: 1),
            Revocation(.client(phone, of: ann), in: workspace, notBefore: 1_000, number: 2)
        )
        for book in [book(early, late), book(late, early), book(late, late)] {
            #expect(book.judge(token(ann, issued: 999), .named(phone)) == .signedOut)
            #expect(book.revokedDevices(of: ann, in: workspace) == 1 && book.through == 2)
            #expect(book.notBefore(of: phone, user: ann, in: workspace) == 1_000)
            #expect(book.notBefore(of: tablet, user: ann, in: workspace) == nil)
        }
    }

    @Test func `a revocation older than any token is forgotten, and the number of the last one is not`() {
        var book = book(
            Revocation(.client(phone, of: ann), in: workspace, notBefore: 500, number: 1),
            Revocation(.client(tablet, of: ann), in: workspace, notBefore: 1_000, number: 2),
            Revocation(.user(bob), in: workspace, notBefore: 500, number: 3),
            Revocation(.workspace, in: WorkspaceID("other"), notBefore: 500, number: 4))
        book.forget(before: 501)
        #expect(book.judge(token(ann, issued: 1), .named(phone)) == nil && book.through == 4)
        #expect(book.judge(token(ann, issued: 1), .unnamed) == .outdated)
        #expect(book.revokedDevices(of: ann, in: workspace) == 1)
        #expect(book.judge(token(bob, issued: 1), .unnamed) == nil)
        #expect(book.judge(token(bob, issued: 1, in: WorkspaceID("other")), .unnamed) == nil)
    }
}
