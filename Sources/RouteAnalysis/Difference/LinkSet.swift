/// The links of one set, and their redirect results.
struct LinkSet {
    var inside: [ProofPattern]
    var outside: [ProofPattern]
    var ends: [(table: ProofTable, result: RedirectResult)]
    var dependencies: Dependencies
}
