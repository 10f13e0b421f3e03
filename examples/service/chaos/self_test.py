"""Damages to the result of a calm run, each of which its check must find."""

import time


def damages(run):
    """Yields the name of a check, and a function that damages what the check looks at."""
    evidence, database = run.evidence, run.database
    sold = [order for order in run.shop.charges if order.resource]
    copied, last = sold[-3].resource["id"], sold[-1].resource["id"]
    created = evidence.receiver.events["charge.created", last]

    def sql(statement):
        return lambda: database.query(statement)

    yield "charges_exist_once", sql(f"DELETE FROM charge WHERE id = '{unrefunded(run)}'")
    yield (
        "charges_exist_once",
        sql(
            "INSERT INTO charge"
            " (id, amount, currency, description, amount_refunded, status, version, created)"
            " SELECT"
            " 'ch_copy', amount, currency, description, amount_refunded, status, version, created"
            f" FROM charge WHERE id = '{copied}'"
        ),
    )
    yield "refunds_are_booked_once", sql("UPDATE refund SET status = 'failed' WHERE position = 1")
    yield "keys_have_one_answer", lambda: sold[-2].answers.append((201, b"another"))
    yield "events_arrive", lambda: created.clear()
    yield "events_arrive", lambda: created.update(one=time.monotonic(), other=time.monotonic())
    yield "chains_do_not_fork", lambda: run.users[0].chains.append([("token", "one"), ("token", "two")])
    yield "subscribers_hear_or_resume", lambda: forget(run.subscribers[0])
    yield "processes_become_ready", lambda: evidence.recoveries.append(("Redis", 5.1))
    yield "limits_are_shared", lambda: evidence.limits.append((500, 499, 100, 1.0))
    yield "restart_is_seamless", lambda: evidence.rolling.append("failed")


def unrefunded(run):
    refunded = {charge for _, charge, *_ in run.evidence.refunds}
    return next(charge for charge, *_ in run.evidence.charges if charge not in refunded)


def forget(subscriber):
    """Forgets a change in the middle of a subscription."""
    interval = subscriber.intervals[-1]
    charge = sorted(interval.heard)[len(interval.heard) // 2][0]
    interval.heard = {(other, version) for other, version in interval.heard if other != charge}


async def self_test(run):
    violations = await run.settle()
    if violations:
        return violations
    # as if the subscriptions had gone on
    later = time.monotonic() + 3600
    found = set()
    for check, damage in damages(run):
        damage()
        run.evidence.read(run.database)
        seen = set(run.evidence.violations(later))
        new = [violation for violation in seen - found if violation.startswith(f"{check}:")]
        if not new:
            return [f"{check} does not find its damage"]
        print(f"found: {new[0]}", flush=True)
        found |= seen
    return []
