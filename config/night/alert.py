"""A check of the alert about rejected decisions with the counters of a real worker."""

import shutil
import subprocess

TEST = """rule_files: [alerts.yml]
evaluation_interval: 15s
tests:
  - name: The rates of the worker, an hour of those before the failure and then those after it
    interval: 15s
    input_series:
      # The table before the failure was a day old.
      - series: 'linkd_table_age_seconds{{instance="a"}}'
        values: 90000+15x240 0+15x40
{series}
    promql_expr_test:
      - {{expr: '{alert}', eval_time: 60m, exp_samples: []}}
      - {{expr: '{alert}', eval_time: 62m, exp_samples: [{{labels: '{alert}', value: 1}}]}}
"""
ALERT = 'ALERTS{alertname="LinkdRejectShare", alertstate="firing", severity="critical"}'
COUNTER = "linkd_records_out_total"


def counts(worker, begin, end):
    """Returns the decisions per 15 s of each outcome between two times."""
    samples = [sample for sample in worker.samples if begin <= sample.time <= end]
    first, last = samples[0], samples[-1]
    outcomes = {labels["outcome"] for labels, _ in last.series(COUNTER)}
    scale = 15 / (last.time - first.time)
    return {outcome: round((last.value(COUNTER, outcome=outcome) - first.value(COUNTER, outcome=outcome)) * scale)
            for outcome in outcomes}


def check_reject_share(run, before, after):
    """Checks that the alert does not fire before the failure, and fires within 2 minutes after it."""
    if not shutil.which("promtool"):
        run.notes.append("the alert was SKIPPED, NOT PASSED: promtool is not installed")
        return
    series = []
    for outcome in sorted(after):
        low, high = before.get(outcome, 0), after[outcome]
        series.append(f"      - series: '{COUNTER}{{instance=\"a\", outcome=\"{outcome}\"}}'\n"
                      f"        values: 0+{low}x240 {low * 240 + high}+{high}x40")
    shutil.copy(run.night.root / "config/monitoring/alerts.yml", run.directory / "alerts.yml")
    (run.directory / "test.yml").write_text(TEST.format(series="\n".join(series), alert=ALERT))
    done = subprocess.run(["promtool", "test", "rules", "test.yml"], cwd=run.directory, text=True,
                          capture_output=True, check=False)
    run.expect(done.returncode == 0, f"the alert LinkdRejectShare: {done.stdout}{done.stderr}")
