import Foundation
import SwiftUI
import Tidemark

/// Where the app connects, and as whom. An app in use asks its own sign-in service for tokens, or the server by
/// `AccountClient`; this asks for one that `tidemark token --dev --user NAME` prints.
struct SignIn: Codable, Hashable, Sendable {
    var server = "http://127.0.0.1:8080"
    var user = ""
    var token = ""

    /// The account of the last launch; an account that does not read is asked for again. A token of an app in use belongs into
    /// the keychain.
    static var kept: SignIn? {
        UserDefaults.standard.data(forKey: "sign-in").flatMap { try? JSONDecoder().decode(SignIn.self, from: $0) }
    }

    // An account that is not kept is asked for again.
    func keep() { UserDefaults.standard.set(try? JSONEncoder().encode(self), forKey: "sign-in") }
}

struct SignInScreen: View {
    let done: @MainActor (SignIn) -> Void
    @State private var entered = SignIn()

    var body: some View {
        VStack {
            TextField("Server", text: $entered.server)
            TextField("User", text: $entered.user)
            TextField("Token", text: $entered.token)
            Button("Sign in") { done(entered) }.disabled(entered.user.isEmpty || entered.token.isEmpty)
        }
        .padding(.horizontal)
    }
}
