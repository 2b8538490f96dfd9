#if canImport(Darwin)
import Dispatch
public import Foundation
import TidemarkLock
import TidemarkModel

/// Lets the system upload the bytes of blobs while the app is suspended, and after the system ended it. Compiled
/// against stubs and never run by Tidemark's own tests; `UploadBook`, which decides, is tested.
///
///     let uploads = BackgroundUploads("com.example.blobs", in: folder)      // once, at launch
///     let transport = URLSessionTransport(uploads: uploads)
///     // in the application's delegate:
///     func application(
///         _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
///         completionHandler: @escaping () -> Void
///     ) { uploads.finishEvents(completionHandler) }
///
/// An upload that finished while the app was away is not repeated: the store asks at its next connection, and gets the
/// answer at once. An upload is sent with the token that was valid when it began; if the server refuses that token, the
/// store sends it again.
public final class BackgroundUploads: Sendable {
    private typealias Waiter = CheckedContinuation<HTTPAnswer, any Error>

    private struct State {
        var book = UploadBook<Waiter>()
        /// The uploads that may have to be given to the system.
        var requests: [String: (request: URLRequest, bytes: Data)] = [:]
        var lastNumber: UInt64 = 0
        var bodies: [Int: Data] = [:]
        var finish: (@Sendable () -> Void)?
    }

    private let folder: URL
    private let clock: any Clock<Duration>
    private let state = Lock(State())
    private let sessions = Lock<URLSession?>(nil)
    /// The bytes of an answer that are kept: the server's answers are short.
    private static let maxAnswerBytes = 16 * 1_024

    /// - Parameters:
    ///   - identifier: an identifier of the app's own, the same at each launch.
    ///   - folder: a folder for the bytes being uploaded, which the system reads from files; for instance in the app's
    ///     caches.
    ///   - pins: as for `URLSessionTransport`.
    ///   - overCellular: false to make the system wait for another network, as `BlobPolicy.networks` makes the store
    ///     wait.
    ///   - clock: the clock that measures the wait for an answer.
    public init(
        _ identifier: String, in folder: URL, pins: CertificatePins? = nil, overCellular: Bool = true,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.folder = folder
        self.clock = clock
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.sessionSendsLaunchEvents = true
        configuration.allowsCellularAccess = overCellular
        let session = URLSession(
            configuration: configuration, delegate: UploadDelegate(pins, self), delegateQueue: nil)
        sessions.withLock { $0 = session }
        session.getAllTasks { [weak self] tasks in self?.found(Set(tasks.compactMap(\.taskDescription))) }
    }

    /// Takes the system's completion handler; the application's delegate calls it when the system woke the app for its
    /// uploads.
    ///
    /// - Parameter done: the system's handler, called on the main thread once all events have been delivered.
    public func finishEvents(_ done: @escaping @Sendable () -> Void) { state.withLock { $0.finish = done } }

    // MARK: For the transport

    /// - Throws: `URLError` when there is no answer in time; the upload continues then.
    func send(_ bytes: Data, by request: URLRequest, within call: HTTPCall) async throws -> HTTPAnswer {
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            group.addTask { try await self.answer(to: call.target, bytes, by: request) }
            group.addTask {
                try await self.clock.sleep(for: call.timeout)
                throw URLError(.timedOut)
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw URLError(.unknown) }
            return first
        }
    }

    private func answer(to name: String, _ bytes: Data, by request: URLRequest) async throws -> HTTPAnswer {
        let id = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state in
                    let answer = state.book.ask(name, id, continuation)
                    switch answer {
                    case .begin, .wait: state.requests[name] = (request, bytes)
                    case .arrived, .busy: break
                    }
                    return answer
                }
                switch answer {
                case .begin: begin(name)
                case .wait: break
                case .arrived(let answer): continuation.resume(returning: answer)
                case .busy: continuation.resume(throwing: URLError(.cannotLoadFromNetwork))
                }
                if Task.isCancelled { leave(name, id) }
            }
        } onCancel: {
            leave(name, id)
        }
    }

    private func leave(_ name: String, _ id: UInt64) {
        state.withLock { $0.book.leave(name, id) }?.resume(throwing: CancellationError())
    }

    private func begin(_ name: String) {
        guard let session = sessions.withLock({ $0 }),
            let (request, bytes) = state.withLock({ $0.requests.removeValue(forKey: name) })
        else { return }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // The system must be able to read the file while the device is locked, whatever class the app's files have.
            try bytes.write(to: file(name), options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        } catch {
            return ended(name, .failure(error))
        }
        let task = session.uploadTask(with: request, fromFile: file(name))
        task.taskDescription = name
        task.resume()
    }

    private func ended(_ name: String, _ result: Result<HTTPAnswer, any Error>) {
        let answer: HTTPAnswer? =
            switch result {
            case .success(let answer): answer
            case .failure: nil
            }
        let waiting = state.withLock { state in
            state.requests[name] = nil
            return state.book.ended(name, answer)
        }
        for waiter in waiting { waiter.resume(with: result) }
    }

    /// Returns a file of its own for each target path.
    private func file(_ name: String) -> URL { folder.appending(path: BlobDigest(of: Data(name.utf8)).text) }

    // MARK: For the delegate

    fileprivate func found(_ names: Set<String>) {
        for name in state.withLock({ $0.book.found(names) }) { begin(name) }
    }

    fileprivate func received(_ data: Data, by task: Int) {
        state.withLock { state in
            let held = state.bodies[task] ?? Data()
            state.bodies[task] = held + data.prefix(Self.maxAnswerBytes - held.count)
        }
    }

    fileprivate func completed(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let name = task.taskDescription else { return }
        let body = state.withLock { $0.bodies.removeValue(forKey: task.taskIdentifier) } ?? Data()
        // Deleted before the next upload of this name can begin. A file that is left over is deleted with the caches.
        try? FileManager.default.removeItem(at: file(name))
        if let error { return ended(name, .failure(error)) }
        guard let response = task.response as? HTTPURLResponse else {
            return ended(name, .failure(URLError(.badServerResponse)))
        }
        ended(name, .success(HTTPAnswer(response, body)))
    }

    fileprivate func finishedEvents() {
        let done = state.withLock { state in
            defer { state.finish = nil }
            return state.finish
        }
        guard let done else { return }
        DispatchQueue.main.async { done() }
    }
}

/// The delegate of the session, which keeps it until it is invalidated; that never happens.
private final class UploadDelegate: NSObject, URLSessionDataDelegate {
    private let pins: CertificatePins?
    private let uploads: BackgroundUploads

    init(_ pins: CertificatePins?, _ uploads: BackgroundUploads) {
        self.pins = pins
        self.uploads = uploads
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let pins else { return completionHandler(.performDefaultHandling, nil) }
        pins.judge(challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        uploads.received(data, by: dataTask.taskIdentifier)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        uploads.completed(task, error)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { uploads.finishedEvents() }
}
#endif
