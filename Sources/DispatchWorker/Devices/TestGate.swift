#if DEBUG
internal import CLibrary

/// A file for which the reader of the registry waits before it reads the first record, for tests of debug builds.
///
/// `LINKD_TEST_DEVICES_GATE` is its path. Nothing waits without the variable.
enum TestGate {
    /// Waits until the file exists, or `isNeeded` returns false.
    static func wait(while isNeeded: () -> Bool) {
        guard let path = getenv("LINKD_TEST_DEVICES_GATE") else { return }
        while isNeeded(), access(path, F_OK) != 0 { SystemClock.sleep(milliseconds: 20) }
    }
}
#endif
