import Foundation
package import TidemarkIdentity
package import TidemarkModel

/// The checked settings of people's sign-in.
package struct AccountConfiguration: Sendable {
    /// The workspaces with accounts, at least one.
    package var workspaces: [WorkspaceID]
    /// True when anyone may make an account.
    package var isOpen: Bool
    /// The secrets that the keys for tokens are derived from, at least one.
    package var secrets: [TokenSecret]
    /// The program that receives tokens for setting a new password, and the secret of these calls; `nil` for none.
    package var hook: (url: String, secret: TokenSecret)?

    /// - Throws: if no keys can be derived from the secrets.
    package func keys(lifetime: Duration) async throws(ConfigurationError) -> AccountKeys {
        do {
            return try await AccountKeys(secrets, lifetime: lifetime)
        } catch {
            throw ConfigurationError(.accountsKeyFile, "\(error)")
        }
    }
}

extension SettingValues {
    private static let workspacesMax = 1_000

    /// Reads the settings of accounts; `nil` if accounts are off.
    func accounts(_ secret: ServerSecret?) throws(ConfigurationError) -> AccountConfiguration? {
        guard try flag(.accounts) else {
            for setting in [
                Setting.accountsWorkspaces, .accountsRegister, .accountsKeyFile, .accountsResetHook,
                .accountsHookSecretFile,
            ] where self[setting] != nil {
                throw ConfigurationError(setting, "has no effect without --accounts (TIDEMARK_ACCOUNTS=1)")
            }
            return nil
        }
        let isOpen: Bool
        switch self[.accountsRegister]?.lowercased() {
        case nil, "closed": isOpen = false
        case "open": isOpen = true
        case .some: throw ConfigurationError(.accountsRegister, "must be open or closed")
        }
        return AccountConfiguration(
            workspaces: try accountWorkspaces(), isOpen: isOpen, secrets: try accountSecrets(secret), hook: try hook())
    }

    private func accountWorkspaces() throws(ConfigurationError) -> [WorkspaceID] {
        var workspaces: [WorkspaceID] = []
        for part in (self[.accountsWorkspaces] ?? "default").split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespaces)
            guard let workspace = WorkspaceID(checking: name) else {
                throw ConfigurationError(
                    .accountsWorkspaces, "\"\(name)\" must have 1 to 128 bytes and no control characters")
            }
            if !workspaces.contains(workspace) { workspaces.append(workspace) }
        }
        guard (1...Self.workspacesMax).contains(workspaces.count) else {
            throw ConfigurationError(.accountsWorkspaces, "must name from 1 to \(Self.workspacesMax) workspaces")
        }
        return workspaces
    }

    private func accountSecrets(_ secret: ServerSecret?) throws(ConfigurationError) -> [TokenSecret] {
        if let path = self[.accountsKeyFile] {
            return try SecretLines(try file(path, .accountsKeyFile), from: .accountsKeyFile).secrets
        }
        if let secret { return [secret.tokens] + secret.previousTokens }
        throw ConfigurationError(
            .accountsKeyFile,
            "there is no secret for the keys of the accounts' tokens; write one with 'head -c 32 /dev/urandom "
                + "| od -An -v -tx1 | tr -d \" \\n\" > accounts_key', name the file here, and give it to every server")
    }

    private func hook() throws(ConfigurationError) -> (url: String, secret: TokenSecret)? {
        guard let url = self[.accountsResetHook] else {
            guard self[.accountsHookSecretFile] == nil else {
                throw ConfigurationError(.accountsHookSecretFile, "has no effect without --accounts-reset-hook")
            }
            return nil
        }
        guard let path = self[.accountsHookSecretFile] else {
            throw ConfigurationError(
                .accountsHookSecretFile,
                "the program of the reset hook needs a secret to check this server's calls: name a file that holds one")
        }
        let secrets = try SecretLines(try file(path, .accountsHookSecretFile), from: .accountsHookSecretFile).secrets
        guard let first = secrets.first else { throw ConfigurationError(.accountsHookSecretFile, "\(path) is empty") }
        return (url, first)
    }
}
