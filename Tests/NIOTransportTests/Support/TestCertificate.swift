import Foundation

/// A self-signed certificate of localhost, and its key: for tests only, trusted by no client.
enum TestCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIUKdcxoWUUGPsTM/4loQyv9YCA6rwwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA4MDgyOVoYDzIxMjYxMDI4
        MDgwODI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATuxDFoZbkYKyK2x+I801G5+Bdo/jeYkepIpzsUGhm0qRDre+Ck3EkS
        lVv/kS3PDj4GCtexZ6XDWVM2LA0M1SqCo28wbTAdBgNVHQ4EFgQUBiyiYSfCjeOg
        x1dYnu/8K4v0Y0YwHwYDVR0jBBgwFoAUBiyiYSfCjeOgx1dYnu/8K4v0Y0YwDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDSAAwRQIhAMU32T2QVl04UHCFph9Ubqgl3NaBD7dfxOeat1L2k41GAiBT
        Eg4PApBaE9aBoLWDz4jtbVKYiOyAV/Neq3eUMrw+mw==
        -----END CERTIFICATE-----
        """

    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPXb+z8/PM0M+gqBY
        Cj7WyzluLxIM6VZ1WGBAmgxOfCGhRANCAATuxDFoZbkYKyK2x+I801G5+Bdo/jeY
        kepIpzsUGhm0qRDre+Ck3EkSlVv/kS3PDj4GCtexZ6XDWVM2LA0M1SqC
        -----END PRIVATE KEY-----
        """

    /// Writes the certificate to a file of its own for the length of `body`.
    static func file(_ body: (String) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID()).pem")
        try Data(certificate.utf8).write(to: url)
        defer {
            // If it remains, it is one small file in the system's temporary folder.
            try? FileManager.default.removeItem(at: url)
        }
        try await body(url.path)
    }
}
