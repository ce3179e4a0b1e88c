internal import RouteTools

/// `linkd dlq replay`: sends dead letters to their input again.
enum DeadLettersReplayCommand {
    static let command = Command(
        path: ["dlq", "replay"],
        summary: "Send dead letters to their input again, each once",
        discussion: [
            "Chooses dead letters of one input up to the end of the topic at the time of the call, prints the choice, "
                + "and sends them to the partitions of their sources with their keys, values, and headers, and with "
                + "the current time, so an event that has expired stays expired. Correct the cause first.",
            "Each dead letter is sent in one transaction with an entry in the ledger, the topic `<dlq>.replayed`. So "
                + "nothing is replayed twice, whatever the filters of later calls are, and a call that was interrupted "
                + "or killed is continued by the same command. This holds as long as the ledger keeps its entries: its "
                + "retention must be longer than that of the dead letters. `linkd topics create --replay` creates the "
                + "topics.",
            "A dead letter is copied to the parking topic instead if its value was truncated, it was replayed as often "
                + "as --cap allows, the input has no such partition any more, or it is larger than the input accepts. "
                + "Records that are not dead letters of the input are left alone, with exit code 1.",
            "Before it sends anything, it reads the decisions since the first failure, and warns of devices that have "
                + "later decisions than their dead letters, because replayed decisions come after them. One replay of "
                + "a topic runs at a time: a second one ends the first one with exit code 79.",
        ],
        flags: DeadLetterFilter.flags + [
            FlagDeclaration("--key", type: .text(bytes: 1...65536), "Choose dead letters with this key only."),
            FlagDeclaration(
                "--offsets", type: .texts(count: 1...1000, bytes: 5...51), repeats: true, placeholder: "P:FIRST-LAST",
                "Choose dead letters at these offsets only, both ends included."),
            FlagDeclaration(
                "--max", type: .integer(1...10_000_000), default: "1000000", "Maximum number of chosen dead letters."),
            FlagDeclaration("--rate", type: .integer(1...10_000_000), "Limit of dead letters per second."),
            FlagDeclaration(
                "--cap", type: .integer(0...1_000_000), default: "3",
                "Number of replays at which a dead letter is parked."),
            FlagDeclaration("--parking", type: .topic, default: "<dlq>.parked", "Topic for dead letters to park."),
            FlagDeclaration("--no-order-check", type: .boolean, "Do not look for later decisions."),
            FlagDeclaration("--dry-run", type: .boolean, "Print the choice and send nothing."),
            FlagDeclaration("--yes", type: .boolean, "Do not ask. Without a terminal, it is required."),
            FlagDeclaration("--json", type: .boolean, "Print the summary as JSON."),
        ],
        settings: .deadLetters,
        examples: [
            CommandExample(
                line: "linkd dlq replay -b localhost:9092 --reason application_unknown --dry-run",
                description: "The choice for one reason, without sending anything."),
            CommandExample(
                line: "linkd dlq replay -b localhost:9092 --until 2026-11-23T10:00:00Z --yes",
                description: "Replays what failed before a correction."),
            CommandExample(
                line: "linkd dlq replay -b localhost:9092 --offsets 3:1200-1200 --rate 100",
                description: "Replays one dead letter, after a question."),
        ],
        run: { call throws(CommandFailure) in try ReplayJob(call).run() })
}
