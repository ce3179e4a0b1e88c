import Testing

@Suite struct PlaceholderDispatchWorkerTests {}
