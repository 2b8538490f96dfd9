#if canImport(Darwin)
internal import os

private typealias Primitive = os_unfair_lock
#else
internal import Foundation

private typealias Primitive = pthread_mutex_t
#endif

/// The system's lock, at an address that never changes. Any thread may use it.
@usableFromInline
struct SystemLock: @unchecked Sendable {
    private let address: UnsafeMutablePointer<Primitive>

    init() {
        address = UnsafeMutablePointer.allocate(capacity: 1)
        address.initialize(to: Primitive())
        #if !canImport(Darwin)
        // Only invalid attributes make it fail, and it gets none.
        pthread_mutex_init(address, nil)
        #endif
    }

    func destroy() {
        #if !canImport(Darwin)
        pthread_mutex_destroy(address)
        #endif
        address.deinitialize(count: 1)
        address.deallocate()
    }

    @usableFromInline
    func lock() {
        #if canImport(Darwin)
        os_unfair_lock_lock(address)
        #else
        pthread_mutex_lock(address)
        #endif
    }

    @usableFromInline
    func unlock() {
        #if canImport(Darwin)
        os_unfair_lock_unlock(address)
        #else
        pthread_mutex_unlock(address)
        #endif
    }
}
