"""Cases whose results are counted for the fault matrix, in addition to those that an operator must know of."""

import re
import signal
import time

from cases import case, events, start_traffic

SHORT_SESSION = ["-X", "session.timeout.ms=6000"]
FLEET = 3
"""The number of workers of a fleet."""


def fleet(run, *flags, count=FLEET):
    """Starts workers with instance names, and waits until each has joined the group."""
    workers = [run.worker("--instance", f"w{number}", *flags, waits=False) for number in range(count)]
    ready = run.night.wait(lambda: all(worker.count("ready") == 2 for worker in workers), 90)
    run.expect(ready, f"the fleet is not ready: {[worker.last_line() for worker in workers]}")
    return workers


def supervise(run, workers, flags, seconds, is_done=lambda: False):
    """Starts workers again that end with code 75, as a supervisor does, because a call of librdkafka does not return.

    librdkafka 2.16 may wait for a coordinator that is gone until the same broker is back.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_done():
        run.night.sleep(0.5)
        for number, worker in enumerate(workers):
            if worker.process.poll() == 75 and worker.count("hung"):
                run.notes.append(f"`{worker.find('hung', 0, {}).data['call']}` did not return, exit code 75, restarted")
                workers[number] = run.worker("--instance", f"w{number}", *flags, waits=False)


def nodes_of(run, count):
    """Returns the numbers of some of three brokers. The first one coordinates the group."""
    state = run.broker.command("groups", "--describe", "--state", "--group", run.group)
    coordinator = int(re.search(r"\((\d)\)", state)[1])
    return [str((coordinator - 1 + index) % 3 + 1) for index in range(count)]


def brokers_gone(run, count, seconds, flags, how="stop"):
    """Takes away some of three brokers while records arrive, and expects that no worker of a fleet ends."""
    run.topics(partitions=6)
    workers = fleet(run, *flags)
    nodes = nodes_of(run, count)
    rate = 60 if seconds <= 80 else 20
    ids, lines = events(0, rate * (seconds + 40))
    # The producer waits for the brokers as long as the workers do.
    settings = [*run.bootstrap, "-X", "message.timeout.ms=3600000"]
    traffic = run.send("events", lines, rate=rate, key=None, waits=False, settings=settings)
    run.night.wait(lambda: any(worker.next_commit(0) for worker in workers), 20)
    run.night.sleep(3)
    run.break_now()
    # A clean stop moves the coordinator to a broker that is left.
    run.broker.command(how, *nodes)
    supervise(run, workers, flags, seconds)
    for worker in workers:
        run.alive(worker, run.fault)
    run.broker.command("up", *nodes)
    run.mended()
    supervise(run, workers, flags, 120 + seconds, lambda: traffic.poll() is not None)
    run.sent(traffic, within=120 + seconds)
    run.drained(*workers, within=180)
    for worker in workers:
        run.alive(worker, run.fault)
        run.stop(worker)
    run.notes.append(f"{sum(worker.count('fenced') for worker in workers)} times, a lane was fenced")
    run.exactly_once(ids)


@case("two-of-three", "three", "Two of three brokers are down for 25 s", is_in_article=False)
def two_of_three(run):
    brokers_gone(run, 2, 25, SHORT_SESSION)


@case("one-of-three-80s", "three", "One of three brokers is down for 80 s", is_in_article=False, is_long=True)
def one_of_three_80s(run):
    brokers_gone(run, 1, 80, [], how="kill")


@case("two-of-three-80s", "three", "Two of three brokers are down for 80 s", is_in_article=False, is_long=True)
def two_of_three_80s(run):
    brokers_gone(run, 2, 80, [])


@case("three-of-three-80s", "three", "Three of three brokers are down for 80 s", is_in_article=False, is_long=True)
def three_of_three_80s(run):
    brokers_gone(run, 3, 80, [])


@case("two-of-three-10min", "three-long", "Two of three brokers are down for 10 minutes", is_in_article=False,
      is_long=True)
def two_of_three_10min(run):
    brokers_gone(run, 2, 600, [])


@case("twins", "members", "A second worker has the same instance name", is_in_article=False)
def twins(run):
    run.topics()
    first = run.worker("--instance", "twin", *SHORT_SESSION)
    ids, traffic = start_traffic(run, first, 3_000)
    run.break_now()
    run.worker("--instance", "twin", *SHORT_SESSION, waits=False)
    run.night.wait(lambda: any(worker.process.poll() is not None for worker in run.workers), 60)
    # The one that goes on gets the lanes of the other one when their sessions have expired.
    run.sent(traffic)
    living = [worker for worker in run.workers if worker.process.poll() is None]
    codes = [worker.process.poll() for worker in run.workers if worker not in living]
    if run.expect(len(living) == 1 and codes == [79], f"{len(living)} twins live, the others ended with {codes}"):
        run.drained(living[0], within=90)
        run.alive(living[0], run.fault)
        run.stop(living[0])
    run.exit_code = codes[0] if codes else None
    run.exactly_once(ids)


@case("recreated", "members", "The input is deleted and created again while the worker is stopped for 8 s",
      is_in_article=False)
def recreated(run):
    run.topics()
    # The membership, and with it the knowledge of the worker, outlives the stop, however slow the commands below are.
    worker = run.worker("--data-loss", "earliest", "-X", "session.timeout.ms=300000")
    ids, lines = events(0, 1_000)
    run.send("before", lines, key=None)
    run.drained(worker)
    # A record without a decision would be gone with its topic.
    run.committed(worker, len(ids))
    run.stop_process(worker)
    run.break_now()
    run.broker.command("topics", "--delete", "--topic", run.input)
    # The new topic has more records than the old one.
    run.night.sleep(3)
    run.linkd("topics", "create", "--partitions", str(run.partitions), "--input", run.input, "--output", run.output)
    more, lines = events(1_000, 3_000)
    run.send("after", lines, key=None)
    run.night.sleep(5)
    worker.process.send_signal(signal.SIGCONT)
    run.mended()
    told = run.night.wait(lambda: worker.find("data.lost", run.fault, {}), 60)
    run.expect(told, "no line says that the topic is another one")
    run.drained(worker, within=90)
    run.stop(worker)
    # A decision of the new topic can have the name of one of the old topic.
    run.exactly_once(ids + more, repeats_names=True)


@case("storm", "members", "Members of the group are killed and started again for 20 s", is_in_article=False)
def storm(run):
    run.topics(partitions=6)
    workers = [run.worker(*SHORT_SESSION) for _ in range(2)]
    ids, traffic = start_traffic(run, workers[0], 4_000)
    run.break_now()
    for _ in range(8):
        extra = run.worker(*SHORT_SESSION, waits=False)
        run.night.wait(lambda: extra.count("assigned") > 0 or extra.process.poll() is not None, 8)
        extra.process.kill()
        extra.process.wait()
        run.night.sleep(0.5)
    run.mended()
    run.sent(traffic, within=90)
    run.drained(*workers, within=120)
    for worker in workers:
        run.alive(worker, run.fault)
        run.stop(worker)
    # The transactions of killed workers hide later decisions until they time out, after 30 s and up to 10 s more.
    run.night.wait(lambda: len(run.results()[0]) >= len(ids), 60)
    run.exactly_once(ids)
