import Testing
import TidemarkModel
import TidemarkStore

/// The behaviour of every store of accounts.
@Suite struct AccountTests {
    private func kept(by under: StoreUnderTest) throws -> any AccountStore {
        under.store
    }

    private static let ann = Account(login: "ann@example.com", user: .ann, hash: "$h$", created: 1_000)

    private func signIn(_ number: Int64, used: Milliseconds = 5_000) -> SignIn {
        SignIn(user: .ann, client: .numbered(number), nonce: -number, began: 5_000, used: used)
    }

    @Test(arguments: StoreKind.available)
    func `an account is stored unchanged, and no other has its name or its user`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try kept(by: under)
            var full = Self.ann
            (full.disabled, full.changed) = (7_000, 2_000)
            full.reset = PasswordReset(digest: "d\u{e9}", until: .max)
            #expect(try await store.account(full.login, in: under.workspace) == nil)
            #expect(try await store.add(full, in: under.workspace) == .added)
            #expect(try await store.account(full.login, in: under.workspace) == full)
            #expect(try await store.account(of: .ann, in: under.workspace) == full)
            #expect(try await store.account(of: .bob, in: under.workspace) == nil)
            let other = WorkspaceID("\(under.workspace)-2")
            #expect(try await store.account(full.login, in: other) == nil)
            let plain = Account(login: "bob", user: .bob, hash: "", created: 1)
            #expect(try await store.add(plain, in: under.workspace) == .added)
            #expect(try await store.account("bob", in: under.workspace) == plain)
            var same = plain
            same.user = UserID("carl")
            #expect(try await store.add(same, in: under.workspace) == .loginTaken)
            same.login = "carl"
            same.user = .bob
            #expect(try await store.add(same, in: under.workspace) == .userTaken)
            #expect(try await store.add(full, in: other) == .added)
            #expect(try await store.accounts(in: under.workspace, after: nil, limit: 9) == [full, plain])
            #expect(try await store.accounts(in: under.workspace, after: full.login, limit: 9) == [plain])
            #expect(try await store.accounts(in: under.workspace, after: nil, limit: 1) == [full])
            #expect(try await store.accounts(in: under.workspace, after: nil, limit: 0).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `an account is changed once from the state that was read`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try kept(by: under)
            #expect(try await store.replace(Self.ann, endingSignIns: true, in: under.workspace) == false)
            _ = try await store.add(Self.ann, in: under.workspace)
            #expect(try await store.beginSignIn(signIn(1), version: 1, in: under.workspace))
            var next = Self.ann
            (next.hash, next.changed, next.disabled) = ("$new$", 3_000, 4_000)
            next.reset = PasswordReset(digest: "d", until: 5)
            #expect(try await store.replace(next, endingSignIns: false, in: under.workspace))
            #expect(try await store.replace(next, endingSignIns: true, in: under.workspace) == false)
            next.version = 2
            #expect(try await store.account(next.login, in: under.workspace) == next)
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: under.workspace) != nil)
            (next.disabled, next.reset) = (nil, nil)
            #expect(try await store.replace(next, endingSignIns: true, in: under.workspace))
            next.version = 3
            #expect(try await store.account(next.login, in: under.workspace) == next)
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: under.workspace) == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func `of many changes of one account from the same state, one succeeds`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try kept(by: under)
            _ = try await store.add(Self.ann, in: under.workspace)
            let workspace = under.workspace
            let changed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var next = Self.ann
                        next.hash = "$\(number)$"
                        return try await store.replace(next, endingSignIns: true, in: workspace)
                    }
                }
                return try await group.reduce(into: 0) { count, isChanged in count += isChanged ? 1 : 0 }
            }
            #expect(changed == 1)
            #expect(try await store.account(of: .ann, in: workspace)?.version == 2)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a device is signed in with the account that was read, and with no other`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try kept(by: under)
            #expect(try await store.beginSignIn(signIn(1), version: 1, in: under.workspace) == false)
            _ = try await store.add(Self.ann, in: under.workspace)
            #expect(try await store.beginSignIn(signIn(1), version: 2, in: under.workspace) == false)
            #expect(try await store.beginSignIn(signIn(1), version: 1, in: under.workspace))
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: under.workspace) == signIn(1))
            #expect(try await store.signIn(of: .numbered(1), user: .bob, in: under.workspace) == nil)
            #expect(try await store.signIn(of: .numbered(2), user: .ann, in: under.workspace) == nil)
            var again = signIn(1)
            (again.nonce, again.counter) = (77, 9)
            #expect(try await store.beginSignIn(again, version: 1, in: under.workspace))
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: under.workspace) == again)
            var disabled = Self.ann
            disabled.disabled = 6_000
            #expect(try await store.replace(disabled, endingSignIns: true, in: under.workspace))
            #expect(try await store.beginSignIn(signIn(1), version: 2, in: under.workspace) == false)
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: under.workspace) == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a sign-in during a change of the password ends with it, or does not begin`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (store, workspace) = (try kept(by: under), under.workspace)
            _ = try await store.add(Self.ann, in: workspace)
            for round in Int64(1)...10 {
                let stored = try #require(try await store.account(of: .ann, in: workspace))
                #expect(stored.version == round)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in Int64(1)...4 {
                        group.addTask {
                            _ = try await store.beginSignIn(
                                SignIn(user: .ann, client: .numbered(number), nonce: 1, began: 1), version: round,
                                in: workspace)
                        }
                    }
                    group.addTask { _ = try await store.replace(stored, endingSignIns: true, in: workspace) }
                    try await group.waitForAll()
                }
                for number in Int64(1)...4 {
                    #expect(try await store.signIn(of: .numbered(number), user: .ann, in: workspace) == nil)
                }
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `the least recently used device makes room for one too many`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (store, workspace) = (try kept(by: under), under.workspace)
            _ = try await store.add(Self.ann, in: workspace)
            _ = try await store.add(Account(login: "bob", user: .bob, hash: "", created: 1), in: workspace)
            let bobs = SignIn(user: .bob, client: .numbered(1), nonce: 1, began: 1)
            #expect(try await store.beginSignIn(bobs, version: 1, in: workspace))
            let count = Int64(SignIn.perUserMax)
            for number in 1...count + 1 {
                // The third is the least recently used.
                let used = number == 3 ? 4_000 : 5_000 + number
                #expect(try await store.beginSignIn(signIn(number, used: used), version: 1, in: workspace))
            }
            for number in 1...count + 1 {
                let stored = try await store.signIn(of: .numbered(number), user: .ann, in: workspace)
                #expect((stored == nil) == (number == 3), "\(number)")
            }
            #expect(try await store.signIn(of: .numbered(1), user: .bob, in: workspace) == bobs)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a token is used once, by the count that was read`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (store, workspace) = (try kept(by: under), under.workspace)
            _ = try await store.add(Self.ann, in: workspace)
            var next = signIn(1)
            #expect(next.use(1, now: 8_000) == .taken)
            #expect(try await store.advance(next, from: 1, in: workspace) == false)
            #expect(try await store.beginSignIn(signIn(1), version: 1, in: workspace))
            var other = next
            other.nonce = 12
            #expect(try await store.advance(other, from: 1, in: workspace) == false)
            #expect(try await store.advance(next, from: 2, in: workspace) == false)
            let (start, goal) = (next, next)
            let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 { group.addTask { try await store.advance(start, from: 1, in: workspace) } }
                return try await group.reduce(into: 0) { count, isTaken in count += isTaken ? 1 : 0 }
            }
            #expect(taken == 1)
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: workspace) == goal)
        }
    }

    @Test(arguments: StoreKind.available)
    func `devices are signed out one by one, all together, and after disuse`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (store, workspace) = (try kept(by: under), under.workspace)
            _ = try await store.add(Self.ann, in: workspace)
            for number in Int64(1)...6 {
                #expect(try await store.beginSignIn(signIn(number, used: number * 10), version: 1, in: workspace))
            }
            func left() async throws -> [Int64] {
                var left: [Int64] = []
                for number in Int64(1)...6
                where try await store.signIn(of: .numbered(number), user: .ann, in: workspace) != nil {
                    left.append(number)
                }
                return left
            }
            #expect(try await store.endSignIn(of: .numbered(1), user: .ann, nonce: 5, in: workspace) == false)
            #expect(try await store.endSignIn(of: .numbered(1), user: .ann, nonce: -1, in: workspace))
            #expect(try await store.endSignIn(of: .numbered(1), user: .ann, nonce: nil, in: workspace) == false)
            #expect(try await store.endSignIn(of: .numbered(2), user: .bob, nonce: nil, in: workspace) == false)
            #expect(try await store.endSignIn(of: .numbered(2), user: .ann, nonce: nil, in: workspace))
            #expect(try await left() == [3, 4, 5, 6])
            #expect(try await store.forgetSignIns(usedBefore: 51, in: workspace, limit: 2) == 2)
            #expect(try await store.forgetSignIns(usedBefore: 51, in: workspace, limit: 2) == 1)
            #expect(try await store.forgetSignIns(usedBefore: 51, in: workspace, limit: 2) == 0)
            #expect(try await left() == [6])
            try await store.endSignIns(of: .bob, in: workspace)
            #expect(try await left() == [6])
            try await store.endSignIns(of: .ann, in: workspace)
            #expect(try await left().isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `accounts are deleted with their user, and with their workspace`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (store, workspace) = (try kept(by: under), under.workspace)
            let erasing = under.store
            let bob = Account(login: "bob", user: .bob, hash: "", created: 1)
            for account in [Self.ann, bob] { _ = try await store.add(account, in: workspace) }
            let bobs = SignIn(user: .bob, client: .numbered(1), nonce: 1, began: 1)
            #expect(try await store.beginSignIn(signIn(1), version: 1, in: workspace))
            #expect(try await store.beginSignIn(bobs, version: 1, in: workspace))
            let alias = UserID("erased-1")
            _ = try await erasing.beginErasure(of: .ann, as: alias, in: workspace, now: 2_000)
            _ = try await erasing.eraseTraces(of: .ann, as: alias, in: workspace, limit: 10)
            #expect(try await store.accounts(in: workspace, after: nil, limit: 9) == [bob])
            #expect(try await store.signIn(of: .numbered(1), user: .ann, in: workspace) == nil)
            #expect(try await store.signIn(of: .numbered(1), user: .bob, in: workspace) == bobs)
            #expect(try await erasing.beginErasure(of: workspace, now: 3_000))
            var (place, isDone): (ErasurePlace?, Bool) = (nil, false)
            while !isDone {
                let step = try await erasing.erase(workspace, from: place, limit: 1)
                (place, isDone) = (step.next, step.isDone)
            }
            #expect(try await store.accounts(in: workspace, after: nil, limit: 9).isEmpty)
            #expect(try await store.signIn(of: .numbered(1), user: .bob, in: workspace) == nil)
            await #expect(throws: StoreError.erasedWorkspace) { try await store.add(bob, in: workspace) }
        }
    }
}
