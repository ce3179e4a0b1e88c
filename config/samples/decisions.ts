// A consumer of decisions in TypeScript.
//
// Reads records of the shop as corrections.py does, and prints what to do for the device. The compiler checks that it
// handles every outcome and every screen of the table. A service also keeps `last` where it keeps the state of its
// devices, and changes both in one transaction.
//
//     linkd routes export config/routes/shop.json --format typescript > shop.ts
//     tsc --strict --target es2020 --module commonjs --outDir . config/samples/decisions.ts shop.ts
//     linkd inspect -b localhost:9092 --json | node decisions.js

import type { Decision, Entry } from "./shop";

// Without the package @types/node, these names are unknown to the compiler.
declare function require(name: string): any;
declare const process: any;

/** The id of the last applied decision of each device. */
const last = new Map<string, string | undefined>();

/** Returns whether a decision is to be applied, and remembers it. See corrections.py. */
function applies(decision: Decision): boolean {
    const device = decision.device !== undefined ? "device " + decision.device : "user " + decision.user;
    if (decision.supersedes !== undefined && last.get(device) !== decision.supersedes) return false;
    last.set(device, decision.decision);
    return true;
}

/** Fails at compile time if a case is missing, and at run time for a newer table. */
function unknown(value: never): never {
    throw new Error("no screen or outcome of this version of the table: generate shop.ts again");
}

function fields(data: object): string {
    return Object.entries(data).flatMap(([model, values]) => Object.keys(values).map((f) => model + "." + f)).join();
}

function show(entry: Entry): string {
    const path = entry.coordinator + "/" + entry.screen;
    switch (entry.coordinator) {
        case "home":
            switch (entry.screen) {
                case "feed": return path + "()";
                case "search": return path + "(" + fields(entry.data) + ")";
                default: return unknown(entry);
            }
        case "catalog":
            switch (entry.screen) {
                case "list": return path + "()";
                case "item": return path + "(" + fields(entry.data) + ")";
                default: return unknown(entry);
            }
        case "account":
            switch (entry.screen) {
                case "profile": return path + "()";
                case "order": return path + "(" + fields(entry.data) + ")";
                default: return unknown(entry);
            }
        default: return unknown(entry);
    }
}

function action(decision: Decision): string {
    switch (decision.outcome) {
        case "navigate": return decision.mode + " " + decision.stack.map(show).join(" > ");
        case "deferred": return decision.mode + " until " + decision.guard + " " + decision.stack.map(show).join(" > ");
        case "external": return "open " + decision.url;
        // A reason that is unknown here counts like the outcome.
        case "none": case "reject": return decision.reason;
        default: return unknown(decision);
    }
}

function read(line: string) {
    const record = JSON.parse(line);
    const decision: Decision | null = record.value;
    if (decision === null) {
        for (const kind of ["device ", "user "]) last.delete(kind + record.key);
        return;
    }
    if (decision?.decision === undefined) throw new Error("expected a record with a decision in each line");
    if (!applies(decision)) return;
    const device = JSON.stringify(decision.device ?? decision.user);
    console.log([device, decision.outcome, action(decision).trim()].join("\t"));
}

// The package readline would also divide a line at U+2028, which a decision can have.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(read);
});
