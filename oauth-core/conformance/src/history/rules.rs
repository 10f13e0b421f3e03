//! The promises of the ports, one function each.

use std::collections::{HashMap, HashSet};

use super::table::RefreshState;
use super::{Entry, History, Violation};
use crate::verbs::{Reply, SessionVerb, TokenVerb, Verb};
use oauth_core::secret::TokenHash;
use oauth_core::store::{FamilyId, Grant, RedeemOutcome, ResetOutcome, RevokeOutcome, RotateOutcome};

/// One code is redeemed for at most one family.
pub(super) fn two_families(history: &History) -> Option<Violation> {
    let redeemed = history
        .answers()
        .filter_map(|(entry, _, reply)| match (&entry.verb, reply) {
            (Verb::Token(TokenVerb::RedeemCode(redemption, _)), Reply::Redeem(RedeemOutcome::Redeemed)) => {
                Some(redemption.code)
            }
            _ => None,
        });
    twice(redeemed).map(Violation::TwoFamilies)
}

/// One refresh token is rotated at most once.
pub(super) fn two_successors(history: &History) -> Option<Violation> {
    let rotated = history
        .answers()
        .filter_map(|(entry, _, reply)| match (&entry.verb, reply) {
            (Verb::Token(TokenVerb::Rotate(rotation, _)), Reply::Rotate(RotateOutcome::Rotated)) => {
                Some(rotation.presented)
            }
            _ => None,
        });
    twice(rotated).map(Violation::TwoSuccessors)
}

/// At most one refresh token of a family is active at any moment.
///
/// A token that is active at one lookup was active since its issue or its first lookup, because no
/// token becomes active again.
pub(super) fn two_active_tokens(history: &History) -> Option<Violation> {
    let mut known: HashMap<TokenHash, usize> = HashMap::new();
    let mut spans: HashMap<TokenHash, (FamilyId, usize, usize)> = HashMap::new();
    let mut answers: Vec<_> = history.answers().collect();
    answers.sort_by_key(|(_, answered, _)| *answered);
    for (entry, answered, reply) in answers {
        match (&entry.verb, reply) {
            (Verb::Token(TokenVerb::RedeemCode(bought, _)), Reply::Redeem(RedeemOutcome::Redeemed)) => {
                known.extend(bought.refresh.iter().map(|token| (token.hash, answered)));
            }
            (Verb::Token(TokenVerb::Rotate(rotation, _)), Reply::Rotate(RotateOutcome::Rotated)) => {
                known.insert(rotation.successor.hash, answered);
            }
            (Verb::Token(TokenVerb::RefreshToken(hash)), Reply::Refresh(Some(state)))
                if RefreshState::from_lookup(Some(state)) == RefreshState::Active =>
            {
                let since = *known.entry(*hash).or_insert(answered);
                spans.insert(*hash, (state.family.id, since, entry.began));
            }
            _ => {}
        }
    }
    let overlap = |(a, (family, since, until)): (&TokenHash, &(FamilyId, usize, usize))| {
        let other = |(b, (of, from, to)): (&TokenHash, &(FamilyId, usize, usize))| {
            a != b && of == family && since.max(from) < until.min(to)
        };
        spans.iter().any(other).then_some(*family)
    };
    spans.iter().find_map(overlap).map(Violation::TwoActiveTokens)
}

/// A revoked family stays revoked for every later verb.
pub(super) fn revoked_family_used(history: &History) -> Option<Violation> {
    let families = history.families();
    let ended = history.answers().flat_map(|(entry, answered, reply)| {
        let ends = |(family, (grant, bought)): &(&FamilyId, &(Grant, usize))| {
            *bought < entry.began && ends(&entry.verb, reply, family, grant)
        };
        let ended = families.iter().filter(ends);
        ended
            .map(move |(family, _)| (*family, answered))
            .collect::<Vec<_>>()
    });
    let mut first: HashMap<FamilyId, usize> = HashMap::new();
    for (family, answered) in ended {
        let first = first.entry(family).or_insert(answered);
        *first = answered.min(*first);
    }
    history.answers().find_map(|(entry, _, reply)| {
        let family = stands(&entry.verb, reply)?;
        let revoked = first.get(&family)?;
        (entry.began > *revoked).then_some(Violation::RevokedFamilyUsed(family))
    })
}

/// A caller that learns of a replay outside a retry window revokes the family: it is not active at
/// the last lookup.
pub(super) fn replay_not_revoked(history: &History) -> Option<Violation> {
    let mut replayed: HashSet<FamilyId> = HashSet::new();
    let mut standing: HashMap<FamilyId, bool> = HashMap::new();
    for (entry, _, reply) in history.answers() {
        match (&entry.verb, reply) {
            (_, Reply::Redeem(RedeemOutcome::AlreadyRedeemed { family })) => {
                replayed.insert(*family);
            }
            (Verb::Token(TokenVerb::Rotate(rotation, _)), Reply::Rotate(RotateOutcome::Superseded))
                if !history.repeated.contains(&rotation.presented) =>
            {
                replayed.insert(rotation.successor.family);
            }
            (Verb::Token(TokenVerb::RefreshToken(_)), Reply::Refresh(Some(state))) => {
                standing.insert(state.family.id, state.family.revoked.is_none());
            }
            _ => {}
        }
    }
    let forgiven = |family: &FamilyId| standing.get(family) == Some(&true);
    replayed
        .into_iter()
        .find(forgiven)
        .map(Violation::ReplayNotRevoked)
}

impl History {
    /// The verbs with responses, in the order of their starts.
    fn answers(&self) -> impl Iterator<Item = (&Entry, usize, &Reply)> {
        let answered = |entry: &'_ Entry| entry.answered.is_some();
        let entries = self.entries.iter().filter(move |entry| answered(entry));
        entries.filter_map(|entry| {
            let (answered, reply) = entry.answered.as_ref()?;
            Some((entry, *answered, reply))
        })
    }

    /// The families that were stored: each with its grant and the position of the response.
    fn families(&self) -> HashMap<FamilyId, (Grant, usize)> {
        let bought = self
            .answers()
            .filter_map(|(entry, answered, reply)| match (&entry.verb, reply) {
                (Verb::Token(TokenVerb::RedeemCode(bought, _)), Reply::Redeem(RedeemOutcome::Redeemed)) => {
                    Some((bought.family.id, (bought.family.grant.clone(), answered)))
                }
                _ => None,
            });
        bought.collect()
    }
}

/// Returns `true` if the verb with this response ended the family.
fn ends(verb: &Verb, reply: &Reply, family: &FamilyId, grant: &Grant) -> bool {
    match (verb, reply) {
        (
            Verb::Token(TokenVerb::RevokeFamily(id, ..)),
            Reply::Revoke(RevokeOutcome::Revoked | RevokeOutcome::AlreadyRevoked),
        ) => id == family,
        (Verb::Token(TokenVerb::RevokeGrants(subject, client_id, ..)), Reply::Revoked(_)) => {
            *subject == grant.subject && *client_id == grant.client_id
        }
        (Verb::Session(SessionVerb::EndSession(id, ..)), Reply::Revoked(_)) => grant.session == Some(*id),
        (Verb::Session(SessionVerb::EndSessionBySecret(..)), Reply::Session(Some(ended))) => {
            grant.session == Some(ended.id)
        }
        (Verb::Session(SessionVerb::RevokeSubject(subject, keep, ..)), Reply::Revoked(_)) => {
            *subject == grant.subject && (keep.is_none() || grant.session != *keep)
        }
        (
            Verb::Session(SessionVerb::RedeemResetToken(..)),
            Reply::ResetOutcome(ResetOutcome::Redeemed { subject, .. }),
        ) => *subject == grant.subject,
        _ => false,
    }
}

/// The family that the response shows as active.
fn stands(verb: &Verb, reply: &Reply) -> Option<FamilyId> {
    match (verb, reply) {
        (Verb::Token(TokenVerb::Rotate(rotation, _)), Reply::Rotate(RotateOutcome::Rotated)) => {
            Some(rotation.successor.family)
        }
        (_, Reply::Refresh(Some(state))) => state.family.revoked.is_none().then_some(state.family.id),
        (_, Reply::Access(Some(state))) => {
            let family = state.family.as_ref()?;
            family.revoked.is_none().then_some(family.id)
        }
        _ => None,
    }
}

fn twice<T: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    items.into_iter().find(|item| !seen.insert(*item))
}
