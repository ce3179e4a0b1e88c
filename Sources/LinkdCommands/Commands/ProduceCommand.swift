/// `linkd produce`: sends link events, or devices for the registry, from files or standard input.
enum ProduceCommand {
    static let command = Command(
        path: ["produce"],
        summary: "Send link events, or devices for the registry, from files or standard input",
        discussion: [
            "Each line is an event (a JSON object) or a bare link. A file whose first line consists of member names is "
                + "CSV (RFC 4180), with `device.app` for a member of the device. An empty cell is an absent member. "
                + "The cells are separated by commas, semicolons, tabs, or `|`, whichever the first line has. `--map` "
                + "names columns whose names differ; other columns are ignored. A quote that is not closed costs its "
                + "line only.",
            "The key of a record is `--key`, the event's `device.id`, the first of its `devices`, or `--device`, "
                + "whichever is present first. Otherwise the record has no key. Records of one device keep their "
                + "order. A line that cannot be read is reported and skipped, and `--rejects` keeps it.",
            "After Ctrl-C or SIGTERM, the command waits for the records that it has sent, and prints the flag `--skip "
                + "N` with which the same command goes on, without a double. If no broker answers for 10 s, it lists "
                + "the lines that are not stored, and those that are possibly stored. Doubles are possible if you "
                + "send the latter again, and if a second Ctrl-C, a kill -9, or a crash has ended the command.",
            "With `--devices`, each line is a device for the registry (`devices.topic`): an object with its `id`, "
                + "facts as in an event's `device`, and optionally its `user`, or a row of CSV with these columns. A "
                + "list has spaces between its texts, and `attributes.NAME` is one attribute. A line replaces all that "
                + "was known about the device, or deletes it if its `deleted` is true. A line that a worker would not "
                + "take is reported and skipped.",
            "`--check` resolves every event as a worker with these tables does, except that no event has expired. An "
                + "event that would become a dead letter, or that is rejected for all its devices, is reported and not "
                + "sent. With `--dry-run`, a check needs no broker.",
        ],
        flags: [
            Flag(
                "--topic", or: "-t", .topic, default: "the setting `input` if it is one topic: link-events",
                "Topic to send to."),
            Flag("--partition", .integer(0...Int64(Int32.max)), default: "by key", "Partition to send to."),
            Flag("--format", .choice(InputFormat.allCases.map(\.rawValue)), default: "auto", "Format of the input."),
            Flag(
                "--separator", .text(bytes: 1...9), placeholder: ColumnSeparator.placeholder,
                "Separator of the cells of CSV, and the format of the input is CSV."),
            Flag(
                "--map", .pairs(count: 1...64), repeats: true, placeholder: "NAME=COLUMN",
                "Column of CSV that has another name, such as `Link URL=link`. A number stands for a column of a file "
                    + "without a header, and `NAME=` ignores a column."),
            Flag(
                "--rejects", .file,
                "Write the bad lines to this new file as they were, with the header of CSV, to correct and send them."),
            Flag("--device", .text(bytes: 1...256), placeholder: "ID", "Key of events without a device."),
            Flag("--key", .text(bytes: 1...65536), "Key of every record."),
            Flag(
                "--header", .pairs(count: 0...64), repeats: true, placeholder: "NAME=VALUE", "Header of every record."),
            Flag("--rate", .integer(1...10_000_000), "Limit of records per second."),
            Flag(
                "--skip", .integer(0...(1 << 53)),
                "Skip this number of entries: lines that are not blank, or rows, of all inputs together."),
            Flag("--count", .integer(0...(1 << 53)), "Stop after this number of records."),
            Flag(
                "--check", .files(count: 1...64), repeats: true,
                "Send only events that a worker with this table resolves."),
            Flag("--devices", "Send devices to the registry instead of events."),
            Flag("--raw", "Send lines without a check. The key is `--key` or `--device`."),
            Flag("--dry-run", "Only check and count, without a broker."),
            Flag("--json", "Print the summary as JSON."),
        ],
        settings: .produce,
        operands: Operands(
            name: "FILE", help: "Files to send. `-` or no file means standard input.", count: 0...1000),
        main: [
            "--bootstrap", "--topic", "--format", "--map", "--rejects", "--device", "--key", "--check", "--dry-run",
            "--skip", "--count", "--rate", "--devices", "--json",
        ],
        examples: [
            "linkd produce -b localhost:9092 config/samples/shop.jsonl": "Sends events, one per line.",
            "echo 'shop:///p/new' | linkd produce -b localhost:9092 --device d-0042": "Sends one link for one device.",
            "linkd produce --dry-run config/samples/events.csv": "Checks a CSV file without a broker.",
            "linkd produce -b localhost:9092 --map 'Link URL=link' --rejects bad.csv links.csv":
                "Sends the sheet of a spreadsheet, and keeps the rows that cannot be sent.",
            "linkd produce --dry-run --check config/routes/shop.json config/samples/shop.jsonl":
                "Says what a worker would do with the links, before they are sent.",
            "linkd produce -b localhost:9092 --devices-topic devices --devices config/samples/devices.jsonl":
                "Writes devices to the registry.",
        ],
        run: { call throws(CommandFailure) in
            var job = try ProduceJob(call)
            return try job.run()
        })
}
