import Foundation
import TestSupport

/// A validator of decisions and of their mutations with the JSON schemas of their tables, in Python.
enum ContractValidator {
    /// The results of a run.
    struct Result: Decodable {
        /// The number of mutations by their kinds.
        var mutations: [String: Int]
        /// What is wrong: decisions that a schema refuses, and mutations that it accepts.
        var wrong: [String]
    }

    /// Validates lines of `{"schema","decisions"}`, three random mutations of each decision, and each decision with
    /// what a later version can add.
    static func run(_ lines: [String], seed: UInt64) throws -> Result {
        let result = try ChildProcess.run(
            ["python3", "-X", "utf8", "-c", program, "\(seed)"], input: lines.joined(separator: "\n"), seconds: 900)
        guard result.status == 0 else { throw ChildProcess.Failure(text: "the validator failed: \(result.errors)") }
        return try JSONDecoder().decode(Result.self, from: Data(result.output.utf8))
    }

    private static let program = """
        import copy, json, random, sys
        from jsonschema import Draft202012Validator

        chance = random.Random(int(sys.argv[1]))
        WORDS = {"outcome", "mode", "route", "guard", "present", "coordinator", "screen", "view", "claim", "via"}
        ENTRY = {"coordinator", "screen", "present", "view", "data"}
        TOP = {"outcome", "mode", "path", "stack", "url", "guard"}

        def walk(value, path=()):
            # The members of the event, and the parts of the request in `resume`, are any JSON.
            if path[:1] == ("context",) and len(path) > 1 and path[1] not in ("push", "campaign"): return
            if path[:2] in (("resume", "params"), ("resume", "payload")) and len(path) > 2: return
            yield path, value
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for name, item in items: yield from walk(item, path + (name,))

        def put(decision, path, value):
            result = copy.deepcopy(decision)
            target = result
            for name in path[:-1]: target = target[name]
            target[path[-1]] = value
            return result

        def drop(decision, path):
            result = copy.deepcopy(decision)
            target = result
            for name in path[:-1]: target = target[name]
            del target[path[-1]]
            return result

        def is_required(path, outcome):
            if len(path) == 1:
                return path[0] in TOP or path[0] == "table" and outcome != "none" \\
                    or path[0] == "reason" and outcome in ("none", "reject")
            if path[0] == "stack": return len(path) > 2 and (len(path) > 3 or path[2] in ENTRY) and len(path) < 6
            return path in (("resume", "claim"), ("resume", "ttl")) \\
                or path[0] == "resume" and path[1] in ("link", "path", "payload")

        def mutations(decision):
            outcome = decision["outcome"]
            for path, value in walk(decision):
                if not path: continue
                words = [name for name in path if isinstance(name, str)]
                if value is None: wrong = {}
                elif isinstance(value, bool): wrong = "x"
                elif isinstance(value, (int, float)): wrong = "x"
                elif isinstance(value, str): wrong = 7
                elif isinstance(value, list): wrong = {}
                else: wrong = []
                yield "type of " + words[0], put(decision, path, wrong)
                if isinstance(value, str) and words[-1] in WORDS and not {"data", "facts"} & set(words):
                    yield "word of " + words[-1], put(decision, path, "no~such")
                if path == ("table",): yield "table", put(decision, path, "other@1+00000000")
                if path in (("path",), ("notice",)): yield "path", put(decision, path, "/no~such")
                if path == ("variant",): yield "variant", put(decision, path, 999)
                if path == ("resume", "ttl"): yield "ttl", put(decision, path, 0)
                if is_required(path, outcome): yield "without a member", drop(decision, path)
                if len(path) > 2 and path[0] == "stack" and path[2] == "data" and isinstance(value, dict):
                    yield "unknown model or field", put(decision, path + ("noSuch",), {})
            if outcome != "external": yield "member of another outcome", put(decision, ("url",), "https://a.example")
            else: yield "member of another outcome", put(decision, ("stack",), [])

        def later(decision):
            result = copy.deepcopy(decision)
            result["later"] = {"a": 1}
            if "reason" in result: result["reason"] = "a_later_reason"
            result.setdefault("notes", []).append("a later note")
            for name in ("context", "facts", "resume"):
                if name in result: result[name]["later"] = [1]
            if "push" in result.get("context", {}): result["context"]["push"]["later"] = "x"
            for entry in result.get("stack", []): entry["later"] = True
            return result

        counts, wrong = {}, []
        for line in sys.stdin:
            case = json.loads(line)
            Draft202012Validator.check_schema(case["schema"])
            validator = Draft202012Validator(case["schema"])
            for decision in case["decisions"]:
                for name, valid in (("decision", decision), ("later decision", later(decision))):
                    for error in validator.iter_errors(valid):
                        wrong.append(name + " refused: " + error.message[:200] + ": " + json.dumps(valid))
                        break
                known = list(mutations(decision))
                for kind, mutation in chance.sample(known, min(3, len(known))):
                    counts[kind] = counts.get(kind, 0) + 1
                    if validator.is_valid(mutation): wrong.append(kind + " accepted: " + json.dumps(mutation))
            if len(wrong) > 9: break
        print(json.dumps({"mutations": counts, "wrong": wrong[:10]}))
        """
}
