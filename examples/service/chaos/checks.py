"""The invariants: each check yields its violations."""

from collections import Counter, defaultdict

# from the time at which PostgreSQL and Redis accept connections until both processes are ready, in
# seconds; a process killed at the same time starts within them
READY = 5
# start of a process whose servers run, in seconds: a debug build beside other work
START = 15
# from a change until a subscription received it or ended, in seconds; a client detects a killed
# process after 9 to 14 s
RESUME_WITHIN = 25
# refill of the limit at the token endpoint, a second
REFILL = 10


class Evidence:
    """Everything that a run has seen."""

    def __init__(self, shop, user, receiver, subscribers):
        self.shop, self.users, self.receiver, self.subscribers = shop, user, receiver, subscribers
        self.charges, self.refunds, self.forks = [], [], []
        self.recoveries = []  # names of what was killed, and the seconds until both were ready
        self.limits = []  # requests left at a process before and after `spent` at the other, seconds
        self.rolling = []  # violations of the rolling restart

    def read(self, database):
        """Reads the rows of the database."""
        self.forks = []
        self.charges = database.query("SELECT id, description, version, amount_refunded FROM charge")
        self.refunds = database.query("SELECT id, charge, status, amount FROM refund")
        # two live tokens of a family, or two tokens with one successor
        for column, condition in [("family", "rotated_at IS NULL"), ("successor", "successor IS NOT NULL")]:
            tokens = f"SELECT {column} FROM oauth_refresh_token WHERE {condition}"
            self.forks += database.query(f"{tokens} GROUP BY 1 HAVING count(*) > 1")

    def changes(self):
        """Committed changes: charge, version, and the times between which each was committed."""
        for order in self.shop.charges:
            if order.resource:
                yield order.resource["id"], 1, order.sent_at, order.acknowledged_at
        for order in self.shop.refunds:
            charge = order.resource and order.resource["charge"]
            arrived = self.receiver.events.get(("charge.refunded", charge), {})
            if arrived:
                yield charge, 2, order.sent_at, max(arrived.values())

    def violations(self, now):
        for check in CHECKS:
            for violation in check(self, now):
                yield f"{check.__name__}: {violation}"


def charges_exist_once(evidence, _now):
    """Every acknowledged charge exists once, and no key made two."""
    by_key = defaultdict(list)
    for charge, key, *_ in evidence.charges:
        by_key[key].append(charge)
    for order in evidence.shop.charges:
        found, resource = by_key[order.key], order.resource
        if resource and resource["id"] not in found:
            yield f"the acknowledged charge {resource['id']} of {order.key} is lost"
        if len(found) > 1:
            yield f"{order.key} made {len(found)} charges"


def refunds_are_booked_once(evidence, _now):
    """Every acknowledged refund is booked once, and charges have the sum of their refunds."""
    statuses = Counter((refund, status) for refund, _, status, _ in evidence.refunds)
    for order in evidence.shop.refunds:
        if order.resource and statuses[order.resource["id"], "succeeded"] != 1:
            yield f"the acknowledged refund {order.resource['id']} is not booked once"
    sums = Counter()
    for _, charge, status, amount in evidence.refunds:
        sums[charge] += int(amount) if status == "succeeded" else 0
    for charge, _, _, refunded in evidence.charges:
        if sums[charge] != int(refunded):
            yield f"{charge}: {refunded} refunded by refunds of {sums[charge]}"


def keys_have_one_answer(evidence, _now):
    """Every key has one answer, also at a replay by the other process."""
    for order in evidence.shop.charges + evidence.shop.refunds:
        answers = set(order.answers)
        if len(answers) > 1:
            yield f"{order.key} has {len(answers)} answers: {sorted(answers)}"
        if not answers and not order.is_abandoned:
            yield f"{order.key} has no definite answer"
        if answers and not order.resource:
            yield f"{order.key} was refused: {answers}"


def events_arrive(evidence, _now):
    """Every charge and every booked refund has one event, and it arrived."""
    if forged := evidence.receiver.counts["forged"]:
        yield f"{forged} signatures are wrong"
    booked = Counter(charge for _, charge, status, _ in evidence.refunds if status == "succeeded")
    for charge, *_ in evidence.charges:
        for kind, number in [("charge.created", 1), ("charge.refunded", booked[charge])]:
            arrived = len(evidence.receiver.events.get((kind, charge), ()))
            if arrived != number:
                yield f"{arrived} events {kind} of {charge}, not {number}"


def chains_do_not_fork(evidence, _now):
    """A refresh token has at most one successor."""
    for user in evidence.users:
        for chain in user.chains:
            successors = defaultdict(set)
            for token, successor in chain:
                successors[token].add(successor)
            if any(len(found) > 1 for found in successors.values()):
                yield "a refresh token has two successors"
    if evidence.forks:
        yield f"{len(evidence.forks)} refresh tokens in the database fork"


def subscribers_hear_or_resume(evidence, now):
    """A subscription that was open at a change has heard of it, or has ended."""
    for subscriber in evidence.subscribers:
        outcomes = Counter()
        for outcome, charge, version in judge_changes(evidence, subscriber, now):
            outcomes[outcome] += 1
            # the run has waited for what was pending when the load ended
            if outcome in ("missed", "pending"):
                yield f"{subscriber.transport}: version {version} of {charge} was missed silently"
        if not outcomes["heard"]:
            yield f"{subscriber.transport}: no change was heard"
        if subscriber.ends["completed"]:
            yield f"{subscriber.transport}: a subscription was completed, not interrupted"


def judge_changes(evidence, subscriber, now):
    """Yields one outcome for each change during a subscription: heard, missed, interrupted (the
    subscription ended first) or pending."""
    changes = list(evidence.changes())
    for interval in subscriber.intervals:
        heard = defaultdict(int)
        for charge, version in interval.heard:
            heard[charge] = max(heard[charge], version)
        for charge, version, sent_at, acknowledged_at in changes:
            end = interval.ended_at or now
            if not interval.opened_at <= sent_at < end:
                continue
            if heard[charge] >= version:
                yield "heard", charge, version
            elif end > acknowledged_at + RESUME_WITHIN:
                yield "missed", charge, version
            else:
                yield "interrupted" if interval.ended_at else "pending", charge, version


def processes_become_ready(evidence, _now):
    """After a kill of PostgreSQL or Redis both processes are ready within 5 s of the restart of the
    killed servers; after a kill of processes alone within 15 s."""
    for names, seconds in evidence.recoveries:
        bound = READY if "PostgreSQL" in names or "Redis" in names else START
        if seconds > bound:
            yield f"not ready until {seconds:.1f} s after a kill of {names}"


def limits_are_shared(evidence, _now):
    """Requests to one process count at the other."""
    for before, after, spent, seconds in evidence.limits:
        if after > before - spent + REFILL * seconds + 5:
            yield f"{spent} requests at one process left {after} of {before} at the other"


def restart_is_seamless(evidence, _now):
    """No request fails in a rolling restart, and every open subscription is told to resume."""
    yield from evidence.rolling


def outstanding(evidence, now):
    """Returns `True` if work is left, or if a change has not yet reached each open subscription."""
    if any([*events_arrive(evidence, 0), *refunds_are_booked_once(evidence, 0)]):
        return True
    outcomes = (judge_changes(evidence, subscriber, now) for subscriber in evidence.subscribers)
    return any(outcome in ("pending", "missed") for found in outcomes for outcome, *_ in found)


CHECKS = [
    charges_exist_once,
    refunds_are_booked_once,
    keys_have_one_answer,
    events_arrive,
    chains_do_not_fork,
    subscribers_hear_or_resume,
    processes_become_ready,
    limits_are_shared,
    restart_is_seamless,
]
