import Foundation
import SwiftUI
import Tidemark

/// The server and the user of the connection. A real app asks its own sign-in service for tokens, or the server by
/// `AccountClient`. This one asks the user for a token that `tidemark token --dev --user NAME` prints.
struct SignIn: Codable, Hashable, Sendable {
    var server = "http://127.0.0.1:8080"
    var user = ""
    var token = ""

    /// The account of the last launch; if it cannot be decoded, the user is asked again. A real app stores its token in
    /// the keychain.
    static var kept: SignIn? {
        UserDefaults.standard.data(forKey: "sign-in").flatMap { try? JSONDecoder().decode(SignIn.self, from: $0) }
    }

    // An account that is not stored is asked for again.
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
