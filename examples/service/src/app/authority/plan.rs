//! Plan of a key rotation, a pure function of the stored keys, the policy and the time.

use std::time::{Duration, SystemTime};

/// Schedule of the signing keys of one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RotationPolicy {
    /// Time for which a key signs.
    pub(crate) signs_for: Duration,
    /// Time for which a key is published before it signs: longer than any process or resource
    /// server takes to read the new keys.
    pub(crate) published_ahead: Duration,
    /// Time for which a key is published after it has signed: longer than its last token is used.
    pub(crate) published_after: Duration,
}

/// A stored key without its secret. The keys of a purpose are numbered in the order in which they
/// sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyTimes {
    pub(crate) number: u32,
    /// Start of its use. It is published from its creation on.
    pub(crate) signs_from: SystemTime,
}

/// State of the keys at one time, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RotationPlan {
    /// Key that signs; `None` without any key.
    pub(crate) active: Option<u32>,
    /// Key that is published and signs next.
    pub(crate) next: Option<u32>,
    /// Keys that have signed, each with the end of its publication.
    pub(crate) retired: Vec<(u32, SystemTime)>,
    /// Key to create now.
    pub(crate) creation: Option<KeyTimes>,
    /// Keys below this number are no longer published and can be deleted.
    pub(crate) delete_below: u32,
    /// Earliest time at which the plan changes.
    pub(crate) changes_at: SystemTime,
}

impl RotationPlan {
    /// Returns `true` if both plans use the same keys.
    pub(crate) fn has_same_keys(&self, other: &Self) -> bool {
        let keys = |plan: &Self| (plan.active, plan.next, plan.retired.clone());
        keys(self) == keys(other)
    }
}

/// Plans the rotation of `keys`, in ascending order of their numbers, at `now`.
///
/// Two processes with the same keys get the same plan at the same time. Their clocks must differ by
/// less than each duration of the policy. The first key signs at once, even if the clock of the
/// process that created it is ahead.
pub(crate) fn plan(keys: &[KeyTimes], policy: RotationPolicy, now: SystemTime) -> RotationPlan {
    let active_index = keys.iter().rposition(|key| key.signs_from <= now).unwrap_or(0);
    let Some(active) = keys.get(active_index) else {
        let first = KeyTimes {
            number: 1,
            signs_from: now,
        };
        return RotationPlan {
            active: None,
            next: None,
            retired: Vec::new(),
            creation: Some(first),
            delete_below: 0,
            changes_at: now,
        };
    };
    let retired: Vec<(u32, SystemTime)> = keys
        .iter()
        .zip(keys.iter().skip(1))
        .take(active_index)
        .map(|(key, successor)| (key.number, successor.signs_from + policy.published_after))
        .filter(|(_, until)| now < *until)
        .collect();
    let next = keys.get(active_index + 1);
    let rotates_at = active.signs_from + policy.signs_for;
    let create_at = rotates_at - policy.published_ahead;
    let creation = (next.is_none() && create_at <= now).then(|| KeyTimes {
        number: active.number.saturating_add(1),
        signs_from: rotates_at.max(now + policy.published_ahead),
    });
    let next_step_at = match (next, creation) {
        (Some(next), _) => next.signs_from,
        (None, Some(_)) => now,
        (None, None) => create_at,
    };
    let retirement_ends = retired.iter().map(|(_, until)| *until);
    RotationPlan {
        active: Some(active.number),
        next: next.map(|key| key.number),
        delete_below: retired.first().map_or(active.number, |(number, _)| *number),
        changes_at: retirement_ends.fold(next_step_at, SystemTime::min),
        retired,
        creation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const DAY: Duration = Duration::from_secs(86_400);
    const POLICY: RotationPolicy = RotationPolicy {
        signs_for: Duration::from_secs(90 * 86_400),
        published_ahead: DAY,
        published_after: Duration::from_secs(9 * 3600),
    };
    const INSTANT: Duration = Duration::from_nanos(1);

    fn day(number: u32) -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * (20_000 + number)
    }

    fn keys(starts: &[SystemTime]) -> Vec<KeyTimes> {
        let starts = starts.iter().zip(1..);
        starts
            .map(|(signs_from, number)| KeyTimes {
                number,
                signs_from: *signs_from,
            })
            .collect()
    }

    /// Active, next and retired keys, and the start of the key to create.
    type Expected<'a> = (
        Option<u32>,
        Option<u32>,
        &'a [(u32, SystemTime)],
        Option<SystemTime>,
    );

    /// Asserts the active, the next and the retired keys, and the start of a new one.
    fn check(starts: &[SystemTime], now: SystemTime, expected: Expected<'_>) -> RotationPlan {
        let plan = plan(&keys(starts), POLICY, now);
        let creation = plan.creation.map(|key| {
            let above = starts.len() + 1;
            assert_eq!(usize::try_from(key.number).unwrap(), above);
            key.signs_from
        });
        assert_eq!(
            (plan.active, plan.next, plan.retired.as_slice(), creation),
            expected
        );
        plan
    }

    /// X7: the first key is created and signs at once.
    #[test]
    fn first_key_signs_at_once() {
        check(&[], day(0), (None, None, &[], Some(day(0))));
        let first = check(&[day(0)], day(0), (Some(1), None, &[], None));
        assert_eq!(first.changes_at, day(89));
        // another process, whose clock is ahead, has created it
        check(&[day(1)], day(0), (Some(1), None, &[], None));
    }

    /// X7: a key is published for a day before it signs, and for nine hours after it has signed.
    #[test]
    fn key_is_published_before_and_after_it_signs() {
        let before = check(&[day(0)], day(89) - INSTANT, (Some(1), None, &[], None));
        assert_eq!(before.changes_at, day(89));
        check(&[day(0)], day(89), (Some(1), None, &[], Some(day(90))));
        let both = [day(0), day(90)];
        let ahead = check(&both, day(90) - INSTANT, (Some(1), Some(2), &[], None));
        assert_eq!((ahead.changes_at, ahead.delete_below), (day(90), 1));
        let until = day(90) + 9 * HOUR;
        let rotated = check(&both, day(90), (Some(2), None, &[(1, until)], None));
        assert_eq!((rotated.changes_at, rotated.delete_below), (until, 1));
        check(&both, until - INSTANT, (Some(2), None, &[(1, until)], None));
        let ended = check(&both, until, (Some(2), None, &[], None));
        assert_eq!((ended.changes_at, ended.delete_below), (day(179), 2));
    }

    /// X7: after a long pause the new key is still published for a day before it signs.
    #[test]
    fn late_rotation_is_published_ahead_too() {
        check(&[day(0)], day(300), (Some(1), None, &[], Some(day(301))));
        check(&[day(0), day(90)], day(300), (Some(2), None, &[], Some(day(301))));
    }

    /// X7: each of several quickly replaced keys stays published for its own nine hours.
    #[test]
    fn each_key_retires_after_its_own_use() {
        let starts = [day(0), day(1), day(1) + HOUR];
        let now = day(1) + 2 * HOUR;
        let (first, second) = (day(1) + 9 * HOUR, day(1) + 10 * HOUR);
        let plan = check(&starts, now, (Some(3), None, &[(1, first), (2, second)], None));
        assert_eq!(plan.changes_at, first);
        let plan = check(&starts, first, (Some(3), None, &[(2, second)], None));
        assert_eq!((plan.changes_at, plan.delete_below), (second, 2));
    }
}
