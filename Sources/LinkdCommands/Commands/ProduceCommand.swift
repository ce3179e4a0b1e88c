/// `linkd produce`: sends link events from files or standard input.
enum ProduceCommand {
    static let command = Command(
        path: ["produce"],
        summary: "Send link events from files or standard input",
        discussion: [
            "Each line is an event (a JSON object) or a bare link. A file whose first line consists of member names is "
                + "CSV (RFC 4180), with `device.app` for a member of the device. An empty cell is an absent member. "
                + "The cells are separated by commas, semicolons, tabs, or `|`, whichever the first line has.",
            "The key of a record is `--key`, the event's `device.id`, the first of its `devices`, or `--device`, "
                + "whichever is present first. Otherwise the record has no key. Records of one device keep their "
                + "order. A line that cannot be read is reported and skipped.",
            "After Ctrl-C or SIGTERM, the command waits for the records that it has sent, and prints the flag `--skip "
                + "N` with which the same command goes on, without a double. If no broker answers for 10 s, it lists "
                + "the lines that are not stored, and those that are possibly stored. Doubles are possible if you "
                + "send the latter again, and if a second Ctrl-C, a kill -9, or a crash has ended the command.",
            "`--check` resolves every event as a worker with these tables does, except that no event has expired. An "
                + "event that would become a dead letter, or that is rejected for all its devices, is reported and not "
                + "sent. With `--dry-run`, a check needs no broker.",
        ],
        flags: [
            FlagDeclaration(
                "--topic", "-t", type: .topic, default: "the setting `input` if it is one topic: link-events",
                "Topic to send to."),
            FlagDeclaration(
                "--partition", type: .integer(0...Int64(Int32.max)), default: "by key", "Partition to send to."),
            FlagDeclaration(
                "--format", type: .choice(InputFormat.allCases.map(\.rawValue)), default: "auto",
                "Format of the input."),
            FlagDeclaration(
                "--separator", type: .text(bytes: 1...9), placeholder: ColumnSeparator.placeholder,
                "Separator of the cells of CSV, and the format of the input is CSV."),
            FlagDeclaration(
                "--device", type: .text(bytes: 1...256), placeholder: "ID", "Key of events without a device."),
            FlagDeclaration("--key", type: .text(bytes: 1...65536), "Key of every record."),
            FlagDeclaration(
                "--header", type: .pairs(count: 0...64), repeats: true, placeholder: "NAME=VALUE",
                "Header of every record."),
            FlagDeclaration("--rate", type: .integer(1...10_000_000), "Limit of records per second."),
            FlagDeclaration(
                "--skip", type: .integer(0...(1 << 53)),
                "Skip this number of entries: lines that are not blank, or rows, of all inputs together."),
            FlagDeclaration("--count", type: .integer(0...(1 << 53)), "Stop after this number of records."),
            FlagDeclaration(
                "--check", type: .files(count: 1...64), repeats: true,
                "Send only events that a worker with this table resolves."),
            FlagDeclaration(
                "--raw", type: .boolean, "Send lines without a check. The key is `--key` or `--device`."),
            FlagDeclaration("--dry-run", type: .boolean, "Only check and count, without a broker."),
            FlagDeclaration("--json", type: .boolean, "Print the summary as JSON."),
        ],
        settings: .produce,
        operands: OperandDeclaration(
            name: "FILE", help: "Files to send. `-` or no file means standard input.", count: 0...1000),
        examples: [
            CommandExample(
                line: "linkd produce -b localhost:9092 config/samples/shop.jsonl",
                description: "Sends events, one per line."),
            CommandExample(
                line: "echo 'shop:///p/new' | linkd produce -b localhost:9092 --device d-0042",
                description: "Sends one link for one device."),
            CommandExample(
                line: "linkd produce --dry-run config/samples/events.csv",
                description: "Checks a CSV file without a broker."),
            CommandExample(
                line: "linkd produce --dry-run --check config/routes/shop.json config/samples/shop.jsonl",
                description: "Says what a worker would do with the links, before they are sent."),
        ],
        run: { call throws(CommandFailure) in
            var job = try ProduceJob(call)
            return try job.run()
        })
}
