/// Twelve kinds of invalid records with their expected results.
enum BadKind: String, CaseIterable, Sendable {
    case emptyValue, nullValue, notUTF8, notJSON, noDevice, twoLinks, twoMegabytes, nested, duplicateNames,
        badLinkBytes, unknownApplication, oversizeOutput

    /// The `dlq.reason` of its dead letter, or nil if the result is a decision with outcome `reject`.
    var reason: String? {
        switch self {
        case .emptyValue: "empty_value"
        case .nullValue: "null_value"
        case .notUTF8: "not_utf8"
        case .notJSON, .nested, .duplicateNames: "bad_json"
        case .noDevice: "missing_device"
        case .twoLinks: "ambiguous_event"
        case .twoMegabytes: "oversize_input"
        case .badLinkBytes: nil
        case .unknownApplication: "application_unknown"
        case .oversizeOutput: "oversize_output"
        }
    }

    /// The `dlq.stage` of the reason.
    var stage: String {
        switch self {
        case .noDevice, .twoLinks, .unknownApplication: "validate"
        case .oversizeOutput: "encode"
        default: "decode"
        }
    }

    /// The `--limits-decision-bytes` that only the decision of `oversizeOutput` exceeds.
    static let decisionBytesLimit = 4096

    /// Returns a record of this kind for the device `key`.
    func record(number: Int, key: [UInt8]) -> InputRecord {
        let device = String(decoding: key, as: UTF8.self)
        let head = #"{"id":"bad-\#(number)","#
        let tail = #""device":{"id":"\#(device)"}}"#
        let link = #""link":"https://shop.example/p/new","#
        func record(_ value: String) -> InputRecord { InputRecord(key: key, value: Array(value.utf8), kind: self) }
        switch self {
        case .emptyValue: return record("")
        case .nullValue: return InputRecord(key: key, value: nil, kind: self)
        case .notUTF8:
            let value = Array((head + #""link":"https://shop.example/p/"#).utf8) + [0xC3, 0x28]
            return InputRecord(key: key, value: value + Array((#"","# + tail).utf8), kind: self)
        case .notJSON: return record(head + link)
        case .noDevice:
            return InputRecord(key: nil, value: Array(#"{"id":"bad-\#(number)","link":"shop:///"}"#.utf8), kind: self)
        case .twoLinks: return record(head + link + #""path":"/home/feed","# + tail)
        case .twoMegabytes:
            return record(head + link + #""note":"\#(String(repeating: "x", count: 2_000_000))","# + tail)
        case .nested:
            let value = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
            return record(head + link + #""note":\#(value),"# + tail)
        case .duplicateNames: return record(head + link + link + tail)
        case .badLinkBytes: return record(head + #""link":"https://shop.example/p/%FF%zz","# + tail)
        case .unknownApplication: return record(head + #""application":"com.example.unknown","# + link + tail)
        case .oversizeOutput:
            let path = String(repeating: "a", count: Self.decisionBytesLimit)
            return record(head + #""link":"https://shop.example/legal/\#(path)","# + tail)
        }
    }
}
