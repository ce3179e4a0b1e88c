internal import ByteStorage
internal import LinkDecider
internal import RouteTools
internal import StrictJSON

/// The report of `linkd verify`.
struct VerifyReport {
    let findings: Findings
    let site: VerifySite
    /// The time from which on the decisions were read, in milliseconds since 1970, or nil if all were read.
    let decisionsSince: Int64?
    /// A Boolean value that indicates whether outcomes can be repeated.
    let canRepeat: Bool
    /// The duration in seconds.
    let seconds: Double

    /// The harm that no topic shows.
    private static let unseen =
        "whether the last devices of an event with several have a decision, which only deciding it again shows"

    /// Prints the report.
    func print(on out: Channel) {
        var table = TextTable([("KIND", .left), ("COUNT", .right), ("", .left)])
        func add(_ name: String, _ count: Int64, _ text: String) {
            table.add([name, Counts.grouped(count), Escaping.visible(text)])
        }
        add(
            "records", findings.records, "of \(site.topics.inputs.joined(separator: ", ")), below the committed offsets"
        )
        add("waiting", findings.waiting, "at or beyond them, which are not checked")
        add("decisions", findings.decisions, "in \(site.topics.outputs.names.joined(separator: ", "))")
        add("dead_letters", findings.deadLetters, "in \(site.topics.deadLetters.joined(separator: ", "))")
        if findings.corrections > 0 { add("corrections", findings.corrections, "which are not checked") }
        if findings.erasures > 0 {
            add("erasures", findings.erasures, "null records, which erase the decisions of a key")
        }
        if findings.others > 0 {
            add("others", findings.others, "outcomes of other inputs or groups, which are not checked")
        }
        if findings.repeats > 0 { add("repeats", findings.repeats, "which at-least-once allows") }
        for harm in Harm.allCases {
            guard let found = findings.harms[harm], let first = found.first else { continue }
            add(harm.rawValue, found.count, first.text)
        }
        out.table(table)
        for doubt in Doubt.allCases {
            guard let found = findings.doubts[doubt], let first = found.first else { continue }
            out.line("not known: \(text(doubt, found.count, first.place))")
        }
        out.line("not known: \(Self.unseen)")
        let since = decisionsSince.map { UTCDateTime.text(milliseconds: $0) }
        if let since {
            out.line("not known: whether records were also decided before \(since), since when the decisions were read")
        }
        guard failure == nil else { return }
        let isEmpty = findings.records == 0 && findings.decisions == 0 && findings.deadLetters == 0
        let part = since.map { " in the decisions since \($0)" } ?? ""
        out.line(isEmpty ? "there was nothing to check" : "nothing is lost, doubled, or out of order\(part)")
    }

    private func text(_ doubt: Doubt, _ count: Int64, _ place: TopicPlace) -> String {
        let unit = doubt == .fewerPartitions ? "decision" : "record"
        return Escaping.visible("\(Counts.text(Int(count), unit)) \(doubt.text), for example \(place)")
    }

    /// The failure for the first harm (exit code 1), or else for the first doubt (exit code 65), or nil.
    var failure: CommandFailure? {
        if let (harm, found) = findings.firstHarm {
            return CommandFailure(.finding, "\(harm.rawValue): \(found.text)", advice: harm.advice(found.place))
        }
        for doubt in Doubt.allCases {
            guard let found = findings.doubts[doubt], let first = found.first else { continue }
            return CommandFailure(.badData, "not known: \(text(doubt, found.count, first.place))", advice: doubt.advice)
        }
        return nil
    }

    /// The report as a JSON object.
    var json: String {
        JSONText.object { json in
            json.text("result", findings.firstHarm != nil ? "wrong" : failure == nil ? "right" : "not_known")
            json.texts("inputs", site.topics.inputs)
            json.text("output", site.topics.outputs.main)
            let others = site.topics.outputs.names.dropFirst()
            if !others.isEmpty { json.texts("application_outputs", Array(others)) }
            json.texts("dead_letter_topics", site.topics.deadLetters)
            json.text("group", site.group)
            if let decisionsSince { json.text("decisions_since", UTCDateTime.text(milliseconds: decisionsSince)) }
            json.number("records", findings.records)
            json.number("waiting", findings.waiting)
            json.number("decisions", findings.decisions)
            json.number("dead_letters", findings.deadLetters)
            json.number("corrections", findings.corrections)
            json.number("erasures", findings.erasures)
            json.number("others", findings.others)
            json.number("repeats", findings.repeats)
            json.objects("harms", of: Harm.allCases.filter { findings.harms[$0] != nil }) { json, harm in
                guard let found = findings.harms[harm], let first = found.first else { return }
                json.text("harm", harm.rawValue)
                json.number("count", found.count)
                Self.write(first.place, &json)
                json.text("text", first.text)
                json.text("next", harm.advice(first.place))
            }
            json.objects("not_known", of: Doubt.allCases.filter { findings.doubts[$0] != nil }) { json, doubt in
                guard let found = findings.doubts[doubt], let first = found.first else { return }
                json.text("cause", doubt.rawValue)
                json.number("count", found.count)
                Self.write(first.place, &json)
                json.text("next", doubt.advice)
            }
            json.decimal("seconds", seconds)
        }
    }

    private static func write(_ place: TopicPlace, _ json: inout JSONText) {
        json.text("topic", place.topic)
        json.number("partition", Int64(place.partition))
        json.number("offset", place.offset)
    }
}

extension Harm {
    /// Returns the next step after this harm at a place.
    func advice(_ place: TopicPlace) -> String {
        let look =
            "look at it with `linkd inspect --topic \(place.topic) --offset \(place.partition):\(place.offset) "
            + "--count 1`"
        return switch self {
        case .lost:
            "\(look), and send it again, an item of a list alone, as the others would be decided twice; the cause can "
                + "be an offset of the group that was moved forward, a program that deleted records of the output, or "
                + "records that workers skip as they are told (`from` or `data.loss` is `latest`), which are no loss: "
                + "check later ones with --since"
        case .expired:
            "raise `retention.ms` of \(place.topic) above the longest time without a worker; nothing is lost if these "
                + "were only records of aborted transactions, which no topic shows any more"
        case .doubled, .disordered:
            "\(look); the cause can be an offset of the group that was moved back, a second group that writes to the "
                + "same output, an input that was created again, or a worker with `guarantee` `at-least-once`"
        case .contradicted, .missingIndex: "\(look), and report this with the records"
        case .wrongPartition:
            "\(look); the cause can be a program that copied the topic with another partitioner"
        case .wrongTopic:
            "\(look); the cause can be a worker with other `output.applications`, or a change of them: check the time "
                + "since then with --since"
        case .wrongKey, .noRecord, .notADecision:
            "\(look), and find the program that wrote it with the access rules of the topic"
        case .beyondCommit:
            "\(look), and check that --group is the group of the workers, and that no offset of it was moved back"
        case .offsetBeyondEnd:
            "check that the input was not created again and that --group is the group of the workers; then move the "
                + "offset to the end of the partition"
        case .openTransaction:
            "find its producer with `kafka-transactions.sh find-hanging`, and end it with `kafka-transactions.sh abort`"
        }
    }
}

extension Doubt {
    /// The next step.
    var advice: String {
        switch self {
        case .removed: "check later records with --since, and raise `retention.ms` of the output and the dead letters"
        case .compacted: "check later records with --since"
        case .hidden: "end the transaction, and check again; do not send the records again before"
        case .controlRecord:
            "nothing is lost if the producer of the last record used transactions, or if it was sent by "
                + "`linkd dlq replay`"
        case .noOffset: "check that --group is the group of the workers"
        case .uneven: "check fewer records at a time with --since and --until"
        case .fewerPartitions:
            "if partitions were added, restart all workers, and check the records since then with --since; a device "
                + "with decisions in two partitions has no order between them"
        }
    }
}
