internal import HTTPServer
internal import StrictJSON

/// The endpoint `/api/worker`: the state of the worker of `--worker`.
enum WorkerRoute {
    /// Adds the endpoint.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ mask: RecordMask) {
        router.get("/api/worker") { _ throws(ConsoleProblem) in
            guard let worker = site.worker else {
                throw ConsoleProblem(
                    status: 404, code: "worker", message: "the console does not know a worker",
                    next: "start it with --worker URL")
            }
            return .json(try state(of: worker, mask))
        }
    }

    /// Returns the worker's state, with the address it came from.
    private static func state(of worker: WorkerAddress, _ mask: RecordMask) throws(ConsoleProblem) -> String {
        let body: [UInt8]
        do throws(WorkerClient.Failure) {
            body = try WorkerClient.get(worker)
        } catch {
            throw ConsoleProblem(
                status: 502, code: "worker_unreachable", message: "the worker at \(worker.address): \(error.message)",
                next: "check --worker and the worker's setting `http.listen`")
        }
        guard let state = try? JSONValue.parse(body, maxDepth: 32), state.object != nil else {
            throw ConsoleProblem(
                status: 502, code: "worker_answer", message: "the page \(worker.path) of the worker is not JSON",
                next: "check that --worker is the address of a linkd worker")
        }
        return JSONText.object { json in
            json.text("address", worker.address.description)
            json.value("status", mask.status(state))
        }
    }
}
