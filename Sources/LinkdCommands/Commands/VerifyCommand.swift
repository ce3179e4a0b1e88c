/// `linkd verify`: checks with the topics alone that nothing was lost or decided twice.
enum VerifyCommand {
    static let command = Command(
        path: ["verify"],
        summary: "Check that nothing was lost, decided twice, or out of order",
        discussion: [
            "Reads the inputs, the committed decisions, the dead letters, and the offsets of the group, without "
                + "joining it, while workers run. Each record below the committed offset must have decisions with "
                + "the indexes from 0 on, each once, or one dead letter. The decisions of an input partition must be "
                + "in its order, and none may be of a record that does not exist or is not committed. Transactions "
                + "that are open must end within `transaction.timeout.ms` and 10 s, for which it waits. With "
                + "`output.applications`, each decision must be in the topic of its application, and all decisions of "
                + "a table about events without an application in one topic.",
            "What the topics do not show is listed: records whose outcome retention can have removed, and whether the "
                + "last devices of an event have a decision, which only deciding it again shows. Corrections of "
                + "decisions, whose ids end with ~N, and null records, which erase the decisions of a key, are counted "
                + "and not checked.",
            "It needs 38 MB for 100,000,000 records, up to 330 MB for lists of messages, up to 650 MB for events with "
                + "several devices, and about 700 MB for records that are fetched in advance.",
            "Exit codes: 0 (nothing is wrong), 1 (something is lost, doubled, out of order, or stuck), 65 (the topics "
                + "have lost records that are needed to decide), 69 (no broker), 77 (access rights are missing).",
        ],
        flags: [
            Flag(
                "--since", .time,
                "Check records from this time on, such as `yesterday`, `16:30`, or `1d2h` before now. It is the time "
                    + "of the record in the input. Decisions from 10 minutes before it on are read, so a record that "
                    + "was decided twice is only noticed if its producer's clock is at most 10 minutes fast."),
            Flag("--until", .time, "Check records up to this time: those before the first one with a later time."),
            Flag(
                "--offsets", .texts(count: 1...1000, bytes: 0...256), repeats: true, placeholder: "P:FIRST-LAST",
                "Check the records at these offsets of the input only, both ends included. Several ranges of a "
                    + "partition are one, from the first offset to the last."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .verify,
        examples: [
            "linkd verify -b localhost:9092": "Everything that the topics still have.",
            "linkd verify -b localhost:9092 --since yesterday --until 06:00": "The last night.",
            "linkd verify -b localhost:9092 --offsets 3:1200-99999 --json": "A part of one partition, as JSON.",
        ],
        run: { call throws(CommandFailure) in try VerifyJob(call).run() })
}
