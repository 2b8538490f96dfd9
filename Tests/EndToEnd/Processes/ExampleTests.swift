import Foundation
import Testing

@testable import TidemarkTerminal

/// The example apps, as a reader starts them.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    @Test func `the chat runs by itself and shows both phones the same`() async throws {
        let outcome = try await Binary.run([], of: "ChatExample")
        #expect(outcome.status == 0, "\(outcome.text)")
        let lines = outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains("bob: Yes, no network here. (sending)"))
        #expect(lines.contains("bob: Yes, no network here. (sent)"))
    }

    @Test func `the repair shop runs by itself and keeps both changes of one order`() async throws {
        let outcome = try await Binary.run([], of: "RepairShopExample")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains("The screen is cracked: ready, no price"))
        #expect(outcome.text.contains("The screen is cracked: ready, 4900 EUR"))
    }

    @Test func `the repair shop works on a server that has its schema, and reports one that has not`() async throws {
        let schema = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "ClientSDK/RepairShop/Resources/repairshop.schema.json")
        let server = try await LiveServer.start(schema: schema.path)
        func run(on server: LiveServer, as user: String) async throws -> Binary.Outcome {
            try await Binary.run(
                ["--server", "http://\(server.address)", "--token", try server.token(user), "--user", user],
                of: "RepairShopExample")
        }
        for user in ["ann", "bob"] {
            let outcome = try await run(on: server, as: user)
            #expect(outcome.status == 0, "\(outcome.text)")
            #expect(outcome.text.contains("The screen is cracked: ready, no price"), "\(outcome.text)")
        }
        #expect(try await server.process.stop() == 0)
        let chat = try await LiveServer.start()
        let refused = try await run(on: chat, as: "ann")
        #expect(refused.status != 0, "\(refused.text)")
        #expect(refused.text.contains("the server stores the schema \"chat\""), "\(refused.text)")
        #expect(try await chat.process.stop() == 0)
    }

    @Test func `two runs of the chat talk to each other over a server`() async throws {
        let server = try await LiveServer.start()
        func run(_ user: String, with friend: String, _ words: String) async throws -> Binary.Outcome {
            try await Binary.run(
                [
                    "--server", "http://\(server.address)", "--token", try server.token(user), "--user", user,
                    "--with", friend, "--say", words,
                ], of: "ChatExample")
        }
        let ann = try await run("ann", with: "bob", "Anybody there?")
        #expect(ann.status == 0 && ann.text.contains("ann: Anybody there? (sent)"), "\(ann.text)")
        let bob = try await run("bob", with: "ann", "Here I am.")
        #expect(bob.status == 0 && bob.text.contains("ann: Anybody there?"), "\(bob.text)")
        #expect(bob.text.contains("bob: Here I am."))
        #expect(try await server.process.stop() == 0)
    }
}
