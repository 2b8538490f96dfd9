import Foundation
import SwiftUI
import Tidemark

@main struct TaskBoardApp: App {
    @State private var tasks: TaskBoard?
    @State private var line: StatusLine?
    @StateObject private var problems = Problems()
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            Group {
                if let tasks {
                    BoardList(tasks: tasks, line: line).environment(\.syncStore, tasks.store)
                        .task { await line?.run() }
                } else {
                    SignInScreen { sign in
                        problems.attempt {
                            let opened = try await Self.open(sign)
                            (tasks, line) = (opened, StatusLine(opened.store))
                        }
                    }
                }
            }
            .modifier(ProblemAlert(problems: problems))
        }
        .onChange(of: phase) { phase in if phase == .active { tasks?.store.resume() } else { tasks?.store.pause() } }
    }

    /// Opens the store and connects. With a newer version of the schema, the store updates the device's file when it
    /// opens.
    private static func open(_ sign: SignIn) async throws -> TaskBoard {
        let folder = URL.applicationSupportDirectory.appending(path: "boards")
        let tasks = try await TaskBoard.open(account: UserID(sign.user), at: folder, schema: try BoardSchema.read())
        try tasks.store.connect(to: sign.server, transport: URLSessionTransport()) { sign.token }
        return tasks
    }
}
