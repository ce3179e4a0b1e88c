internal import CPlatform
package import ByteStorage

/// The position of a record that a process was resolving when it ended.
package struct CrashMark: Sendable, Hashable {
    package var topic: String
    package var partition: Int32
    package var offset: Int64

    /// Creates a mark.
    package init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// The position as in the ids of decisions.
    package var text: String { "\(topic)-\(partition)-\(offset)" }

    /// A Boolean value that indicates whether Kafka allows the topic's name and the numbers.
    package var isValid: Bool {
        let isName = !topic.isEmpty && topic.utf8.count <= CrashJournal.topicBytes
        return isName && partition >= 0 && offset >= 0
            && topic.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// The position of the record that a lane resolves, in a mapped file that outlives the process.
///
/// A record takes three stores and no system call. A process that ends between two records leaves no mark. The class is
/// used by one lane.
package final class CrashJournal {
    /// The maximum size of a topic's name in bytes.
    static let topicBytes = 249
    private static let magic: UInt64 = 0x316c_6e72_6b64_6e6c
    private static let bytes = MemoryLayout<linkd_crash_page>.size

    /// The page, which is valid as long as this object.
    ///
    /// A lane uses it without counting references to the object for each record.
    let page: CrashPage

    /// Creates the file of a journal in place of one from an earlier process, or returns nil if the system refuses.
    package init?(path: String) {
        guard let address = linkd_map_new_file(path, UInt(Self.bytes)) else { return nil }
        page = CrashPage(pointer: address.bindMemory(to: linkd_crash_page.self, capacity: 1))
        page.pointer.pointee.magic = Self.magic
    }

    deinit { linkd_unmap(page.pointer, UInt(Self.bytes)) }

    /// Sets the topic of the following records.
    package func use(topic: ByteView) { page.use(topic: topic) }

    /// Records that a record is resolved from now on.
    package func begin(partition: Int32, offset: Int64) { page.begin(partition: partition, offset: offset) }

    /// Records that no record is resolved.
    package func end() { page.end() }

    /// Returns the mark that a process left in a file, or nil if there is none.
    ///
    /// Any content of the file is allowed.
    package static func mark(at path: String) -> CrashMark? {
        var page = linkd_crash_page()
        let count = withUnsafeMutableBytes(of: &page) {
            linkd_read_regular_file(path, $0.baseAddress, UInt(bytes))
        }
        guard count == bytes, page.magic == magic, page.is_active == 1, page.topic_length <= topicBytes else {
            return nil
        }
        let topic = withUnsafeBytes(of: &page.topic) {
            String(decoding: $0.prefix(Int(page.topic_length)), as: UTF8.self)
        }
        let mark = CrashMark(topic: topic, partition: page.partition, offset: page.offset)
        return mark.isValid ? mark : nil
    }
}

/// The mapped page of a journal.
struct CrashPage {
    fileprivate let pointer: UnsafeMutablePointer<linkd_crash_page>

    /// Sets the topic of the following records.
    func use(topic: ByteView) {
        let count = min(topic.count, CrashJournal.topicBytes)
        guard let start = pointer.pointer(to: \.topic) else { return }
        UnsafeMutableRawPointer(start).copyMemory(from: topic.start, byteCount: count)
        pointer.pointee.topic_length = UInt32(count)
    }

    /// Records that a record is resolved from now on.
    @inline(__always)
    func begin(partition: Int32, offset: Int64) { linkd_crash_begin(pointer, partition, offset) }

    /// Records that no record is resolved.
    @inline(__always)
    func end() { linkd_crash_end(pointer) }
}
