"""The cases of the night: what breaks, and what an operator must see."""

import json
import time
from typing import Callable, NamedTuple

import alert


class Case(NamedTuple):
    """A failure at night."""
    name: str
    title: str
    broker: str
    function: Callable
    is_in_article: bool
    """Whether the article shows the lines of the failure, so that an operator must know of it."""
    is_long: bool
    """Whether the case takes minutes, so that only `--long` runs it."""


ALL = []


def case(name, broker, title, is_in_article=True, is_long=False):
    """Adds a function to the cases."""
    def add(function):
        ALL.append(Case(name, title, broker, function, is_in_article, is_long))
        return function
    return add


def event(number, link="shop:///p/new"):
    return json.dumps({
        "id": f"n-{number:06}", "application": "com.example.shop", "link": link,
        "device": {"id": f"d-{number % 97}", "platform": "ios", "app": "6.1.0"}})


def events(first, count):
    """Returns the ids and the lines of some events."""
    numbers = range(first, first + count)
    return [f"n-{number:06}" for number in numbers], [event(number) for number in numbers]


def start_traffic(run, worker, count, first=0):
    """Sends events while the case goes on, and waits until the worker has committed some."""
    ids, lines = events(first, count)
    settings = ["--bootstrap", f"127.0.0.1:{run.broker.port}"]
    traffic = run.send("events", lines, rate=100, key=None, waits=False, settings=settings)
    since = time.monotonic()
    run.night.wait(lambda: worker.sample(since, lambda sample: sample.value("linkd_records_out_total") > 0), 20)
    run.night.sleep(1)
    return ids, traffic


def unreachable(sample):
    return sample.value("linkd_brokers_reachable") == 0


def ride_through(run, cause, breaks, mends):
    """Breaks the broker for 40 s while records arrive, and expects that the worker waits and then continues."""
    run.topics()
    worker = run.worker()
    ids, traffic = start_traffic(run, worker, 3_000)
    run.break_now()
    breaks()
    run.known_by_line(worker, "brokers.unreachable", cause=cause)
    run.known_by_metric(worker, "no broker is reachable", unreachable)
    run.health(worker, "/ready", 503, "brokers")
    run.night.sleep(max(0, run.fault + 40 - time.monotonic()))
    run.alive(worker, run.fault)
    mends()
    mended = run.mended()
    run.line(worker, "brokers.reachable", since=mended - 5)
    run.health(worker, "/ready", 200, since=mended)
    run.sent(traffic, within=90)
    # Without an instance, the lanes join again when the old memberships have expired.
    run.drained(worker, within=100)
    run.alive(worker, run.fault)
    count = sum(1 for line in worker.lines if line.time >= run.fault)
    run.expect(count <= 25, f"the log has {count} lines about an outage")
    run.stop(worker)
    run.exactly_once(ids)


@case("outage", "plain", "The broker is down for 40 s")
def outage(run):
    def breaks():
        run.broker.command("kill")
    ride_through(run, "refused", breaks, lambda: run.broker.command("up"))


@case("frozen", "frozen", "The broker does not answer for 40 s")
def frozen(run):
    def breaks():
        run.broker.command("pause")
    ride_through(run, "", breaks, lambda: run.broker.command("resume"))


def share_of_rejects(worker, sample):
    """Returns the share of rejected decisions in the second before a sample."""
    name = "linkd_records_out_total"
    before = [other for other in worker.samples if other.time <= sample.time - 1][-1]
    rejected = sample.value(name, outcome="reject") - before.value(name, outcome="reject")
    decided = sample.value(name) - before.value(name)
    return rejected / decided if decided else 0


@case("wrong-table", "proxied", "A table is deployed that is valid and wrong")
def wrong_table(run):
    good = json.loads((run.night.root / "config/routes/shop.json").read_text())
    file = run.directory / "shop.json"
    file.write_text(json.dumps(good))
    run.topics()
    worker = run.worker(table=file)
    began = time.monotonic()
    ids, traffic = start_traffic(run, worker, 2_500)
    run.night.sleep(2)
    wrong = json.loads(json.dumps(good))
    wrong["table"]["version"] = "2"
    wrong["routes"] = [route for route in wrong["routes"] if route["id"] != "new-items"]
    wrong["examples"] = [item for item in wrong["examples"] if item.get("route") != "new-items"]
    run.break_now()
    file.write_text(json.dumps(wrong))
    # The line names the table. Only the metric says that it is wrong.
    line = run.line(worker, "tables.reloaded", trigger="file")
    run.known_by_metric(worker, "more than a half of the decisions are rejected",
                        lambda sample: share_of_rejects(worker, sample) > 0.5)
    run.night.sleep(2)
    run.health(worker, "/ready", 200)
    run.alive(worker, run.fault)
    mended = time.monotonic()
    if line:
        alert.check_reject_share(
            run, alert.counts(worker, began, run.fault), alert.counts(worker, line.time + 1, mended))
    file.write_text(json.dumps(good))
    run.line(worker, "tables.reloaded", since=mended, trigger="file")
    run.sent(traffic)
    run.drained(worker)
    run.stop(worker)
    decisions, _ = run.exactly_once(ids)
    by_table = {}
    for values in decisions.values():
        by_table.setdefault(values[0]["table"].split("+")[0], set()).add(values[0]["outcome"])
    run.expect(by_table == {"shop@1": {"navigate"}, "shop@2": {"reject"}}, f"outcomes by table: {by_table}")


@case("bad-input", "proxied", "A producer sends only records that are no events")
def bad_input(run):
    run.topics(partitions=2)
    worker = run.worker()
    ids, traffic = start_traffic(run, worker, 3_000)
    run.break_now()
    # They have one key, so that they are in one partition.
    run.send("bad", ['{"id": '] * 3_000, waits=False)
    run.known_by_line(worker, "dlq.slowed", reasons="bad_json")
    run.known_by_metric(worker, "a partition is slowed", lambda sample: 1 in sample.values("linkd_partition_slowed"))
    run.health(worker, "/ready", 200)
    run.health(worker, "/ping", 200)
    run.sent(run.producers[-1])
    run.sent(traffic, within=60)
    run.drained(worker, within=90)
    run.alive(worker, run.fault)
    run.stop(worker)
    _, letters = run.exactly_once(ids, others=3_000)
    run.expect(all(reasons == ["bad_json"] for reasons in letters.values()), "dead letters have another reason")


@case("slow-broker", "proxied", "The broker takes 3 s for each write")
def slow_broker(run):
    run.topics()
    worker = run.worker()
    ids, traffic = start_traffic(run, worker, 3_000)
    run.broker.proxy.delay = 3
    run.break_now()
    run.known_by_line(worker, "commit.slow")
    run.known_by_metric(worker, "a lane has not polled for 3 s",
                        lambda sample: max(sample.values("linkd_last_poll_seconds"), default=0) > 3)
    run.expect(run.night.wait(lambda: worker.sample(
        run.fault, lambda sample: sum(sample.values("linkd_producer_rotations_total")) > 0), 30),
        "no producer is replaced after a slow commit")
    run.night.sleep(10)
    run.alive(worker, run.fault)
    run.broker.proxy.delay = 0
    mended = run.mended()
    run.expect(not worker.find("brokers.unreachable", run.fault, {}), "a slow broker is called unreachable")
    run.sent(traffic)
    run.drained(worker)
    run.health(worker, "/ready", 200, since=mended)
    run.stop(worker)
    run.exactly_once(ids)


def secured(run, user):
    """Returns the settings and the environment of a worker that connects with TLS and a password."""
    settings = ["--bootstrap", run.broker.secure_bootstrap]
    for pair in ("security.protocol=SASL_SSL", "sasl.mechanisms=PLAIN", f"sasl.username={user}",
                 f"ssl.ca.location={run.broker.directory}/tls/ca.pem"):
        settings += ["-X", pair]
    return settings, {"KAFKA_SASL_PASSWORD": f"{user}-secret"}


def rights(run, action, *resources):
    run.broker.command("acls", action, *(["--force"] if action == "--remove" else []), *resources,
                       "--allow-principal", "User:mallory")


@case("revoked-right", "secure", "The right to write decisions is taken away")
def revoked_right(run):
    run.topics()
    rights(run, "--add", "--operation", "All", "--resource-pattern-type", "prefixed", "--topic", run.input,
           "--group", run.group, "--transactional-id", f"linkd.{run.group}.")
    right = ["--operation", "Write", "--topic", run.output]
    rights(run, "--add", *right)
    settings, environment = secured(run, "mallory")
    worker = run.worker(settings=settings, environment=environment)
    ids, traffic = start_traffic(run, worker, 2_000)
    began = time.monotonic()
    rights(run, "--remove", *right)
    # The right may be gone some tenths of a second before the tool ends.
    run.break_now()
    more, lines = events(2_000, 500)
    run.send("more", lines, key=None, waits=False)
    run.known_by_line(worker, "exit", since=began, code=77, reason=f"Write on Topic {run.output}")
    run.ends(worker, 77)
    rights(run, "--add", *right)
    run.mended()
    again = run.worker(settings=settings, environment=environment)
    run.sent(traffic)
    run.drained(again)
    run.stop(again)
    run.exit_code = 77
    run.exactly_once(ids + more)


@case("old-certificate", "secure", "The certificate of the broker expires")
def old_certificate(run):
    run.topics()
    settings, environment = secured(run, "alice")
    worker = run.worker(settings=settings, environment=environment)
    ids, lines = events(0, 500)
    run.send("first", lines[:250], key=None)
    run.drained(worker)
    run.broker.renew_certificate(days=-1)
    run.break_now()
    run.broker.command("kill")
    run.broker.command("up")
    # The broker is restarted, so that the first cause may be a refused connection.
    run.known_by_line(worker, "brokers.unreachable", shows=False)
    run.line(worker, "brokers.unreachable", cause="expired")
    run.known_by_metric(worker, "no broker is reachable", unreachable)
    run.health(worker, "/ready", 503, "expired")
    starting = run.worker("--start-timeout", "8s", settings=settings, environment=environment, waits=False)
    run.line(starting, "exit", within=30, code=69, reason="expired")
    run.ends(starting, 69)
    run.alive(worker, run.fault)
    run.broker.renew_certificate(days=30)
    run.broker.command("kill")
    run.broker.command("up")
    mended = run.mended()
    run.line(worker, "brokers.reachable", since=mended - 5)
    run.send("second", lines[250:], key=None)
    run.drained(worker)
    run.health(worker, "/ready", 200, since=mended)
    run.stop(worker)
    run.exactly_once(ids)


@case("full-disk", "disk", "The disk of the broker is full")
def full_disk(run):
    run.topics()
    worker = run.worker()
    ids, traffic = start_traffic(run, worker, 3_000)
    run.broker.fill_disk()
    filled = time.monotonic()
    run.expect(run.night.wait(lambda: not run.broker.is_running(), 30), "the broker goes on with a full disk")
    run.break_now()
    run.notes.append(f"the broker ended {run.fault - filled:.1f} s after its disk was full")
    run.known_by_line(worker, "brokers.unreachable")
    run.known_by_metric(worker, "no broker is reachable", unreachable)
    run.health(worker, "/ready", 503, "brokers")
    run.night.sleep(5)
    run.alive(worker, run.fault)
    run.broker.empty_disk()
    run.broker.command("kill", checks=False)
    run.broker.command("up")
    mended = run.mended()
    run.line(worker, "brokers.reachable", since=mended - 5)
    run.sent_again(traffic, events(0, 3_000)[1], within=90)
    run.drained(worker, within=100)
    run.health(worker, "/ready", 200, since=mended)
    run.stop(worker)
    run.exactly_once(ids)
    # An explanation of missing results, not an excuse.
    run.notes += [f"the broker gave offsets twice: {place}" for place in run.broker.repeated_offsets()[:3]]


@case("poison", "proxied", "A record crashes every process that resolves it")
def poison(run):
    run.topics(partitions=1)
    ids, lines = events(0, 300)
    run.send("events", lines, key=None)
    state = run.directory / "state"
    state.mkdir()
    environment = {"LINKD_TEST_CRASH_AT": f"{run.input}-0-150", "SWIFT_BACKTRACE": "enable=no"}
    codes = []
    for _ in range(5):
        worker = run.worker("--state-dir", str(state), "--instance", "poison", environment=environment, waits=False)
        ended = run.night.wait(lambda: worker.process.poll() is not None or worker.count("ready") == 2, 60)
        if run.night.wait(lambda: worker.process.poll() is not None, 5 if ended else 0):
            codes.append(worker.process.poll())
            run.fault = run.fault or time.monotonic()
        else:
            break
    run.expect(codes == [-11, -11], f"the worker ended with {codes}, expected two ends by signal 11")
    restarted = run.workers[1]
    run.known_by_line(restarted, "crash.found")
    run.line(worker, "crash.loop")
    run.drained(worker)
    run.health(worker, "/ready", 200)
    run.stop(worker)
    run.exit_code = codes[0] if codes else None
    _, letters = run.exactly_once(ids, letters=1)
    expected = {f"{run.input}-0-150": ["crash_loop"]}
    run.expect(letters == expected, f"dead letters {letters}, expected {expected}")
