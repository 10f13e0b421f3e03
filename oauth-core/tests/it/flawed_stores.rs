//! The checker of histories detects each flaw of a store. Each store here is the memory store with
//! one flaw.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt as _;
use oauth_core::memory::MemoryTokens;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    RedeemOutcome, ResetOutcome, RevokeOutcome, Revoked, RotateOutcome, SessionOutcome, SessionStore,
};
use oauth_core_conformance::history::{History, Violation, Workload, record};
use oauth_core_conformance::verbs::{Reply, Respond, SessionVerb, TokenVerb, Verb};
use tokio::runtime::{Builder, Runtime};

/// The memory store with a function that changes the response to each verb.
struct Flawed<F> {
    store: Memory,
    flaw: F,
}

/// A store that responds at once.
struct Memory(MemoryTokens);

impl Memory {
    fn ask(&self, verb: impl Into<Verb>) -> Reply {
        let store: &dyn SessionStore = &self.0;
        let reply = store.respond(verb.into()).now_or_never();
        reply.expect("memory stores never wait").expect("nor fail")
    }

    /// Lets other callers run between two statements.
    fn ask_twice(&self, first: impl Into<Verb>, second: impl Into<Verb>) -> (Reply, Reply) {
        let first = self.ask(first);
        for _ in 0..200 {
            thread::yield_now();
        }
        (first, self.ask(second))
    }
}

#[async_trait::async_trait]
impl<F: Fn(&Memory, Verb) -> Reply + Send + Sync> Respond for Flawed<F> {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        Ok((self.flaw)(&self.store, verb))
    }
}

/// Returns the first violation of each of 300 histories of a store with this flaw.
fn violations<F>(workload: impl Fn(u64) -> Workload, flaw: impl Fn() -> F) -> Vec<Violation>
where
    F: Fn(&Memory, Verb) -> Reply + Send + Sync + 'static,
{
    let runtime = runtime();
    let check = |seed| {
        let store = Memory(MemoryTokens::new());
        let flawed = Flawed { store, flaw: flaw() };
        let history: History = runtime.block_on(record(flawed, workload(seed)));
        history.check().err()
    };
    let found: Vec<_> = (0..300).filter_map(check).collect();
    assert!(!found.is_empty(), "the checker found nothing");
    found
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

fn tokens(seed: u64) -> Workload {
    Workload::new(seed)
}

fn sessions(seed: u64) -> Workload {
    Workload::new(seed).with_sessions()
}

/// O6, O10: the checker finds nothing in a correct store.
#[test]
fn correct_store_has_no_violation() {
    let runtime = runtime();
    for seed in 100..200 {
        for workload in [
            tokens(seed),
            sessions(seed),
            tokens(seed).with_faults(),
            sessions(seed).with_faults(),
        ] {
            let flawed = Flawed {
                store: Memory(MemoryTokens::new()),
                flaw: |store: &Memory, verb| store.ask(verb),
            };
            let history = runtime.block_on(record(flawed, workload));
            assert_eq!(history.check(), Ok(()), "{history:?}");
        }
    }
}

/// O10: a store reads that the token is active, and rotates it in a second step.
#[test]
fn store_that_forks_chain_is_caught() {
    let found = violations(tokens, || {
        let forks: Mutex<HashMap<TokenHash, Reply>> = Mutex::default();
        move |store: &Memory, verb: Verb| match verb {
            Verb::Token(TokenVerb::Rotate(rotation, now)) => {
                let (seen, done) = store.ask_twice(
                    TokenVerb::RefreshToken(rotation.presented),
                    TokenVerb::Rotate(rotation.clone(), now),
                );
                match (seen, &done) {
                    (Reply::Refresh(Some(mut state)), Reply::Rotate(RotateOutcome::Superseded))
                        if state.is_active(now) =>
                    {
                        state.token = rotation.successor;
                        let (hash, fork) = (state.token.hash, Reply::Refresh(Some(state)));
                        forks.lock().unwrap().insert(hash, fork);
                        RotateOutcome::Rotated.into()
                    }
                    _ => done,
                }
            }
            Verb::Token(TokenVerb::RefreshToken(hash)) => {
                let fork = forks.lock().unwrap().get(&hash).cloned();
                fork.unwrap_or_else(|| store.ask(verb))
            }
            verb => store.ask(verb),
        }
    });
    let fork =
        |found: &Violation| matches!(found, Violation::TwoSuccessors(_) | Violation::TwoActiveTokens(_));
    assert!(found.iter().any(fork), "{found:?}");
}

/// O6: a store redeems a code again.
#[test]
fn store_that_redeems_twice_is_caught() {
    let found = violations(tokens, || {
        |store: &Memory, verb: Verb| match (verb.clone(), store.ask(verb)) {
            (Verb::Token(_), Reply::Redeem(RedeemOutcome::AlreadyRedeemed { .. })) => {
                RedeemOutcome::Redeemed.into()
            }
            (Verb::Token(_), Reply::Code(Some(mut code))) => {
                code.redeemed = None;
                Reply::Code(Some(code))
            }
            (_, reply) => reply,
        }
    });
    let twice = |found: &Violation| matches!(found, Violation::TwoFamilies(_));
    assert!(found.iter().any(twice), "{found:?}");
}

/// O10: a store reports a reused token as unknown.
#[test]
fn a_store_that_forgets_the_tombstone_is_caught() {
    violations(tokens, || {
        |store: &Memory, verb: Verb| match store.ask(verb) {
            Reply::Refresh(Some(state)) if state.token.rotated.is_some() => Reply::Refresh(None),
            Reply::Rotate(RotateOutcome::Superseded) => RotateOutcome::NotFound.into(),
            reply => reply,
        }
    });
}

/// O10: a store reports a revocation that it did not store.
#[test]
fn a_store_that_loses_the_revocation_is_caught() {
    let found = violations(tokens, || {
        |store: &Memory, verb: Verb| match verb {
            Verb::Token(TokenVerb::RevokeFamily(..)) => RevokeOutcome::Revoked.into(),
            verb => store.ask(verb),
        }
    });
    let lost = |found: &Violation| matches!(found, Violation::RevokedFamilyUsed(_));
    assert!(found.iter().any(lost), "{found:?}");
}

/// O10: a store reports no reuse, so that the family is never revoked.
#[test]
fn store_that_hides_reuse_is_caught() {
    let found = violations(tokens, || {
        |store: &Memory, verb: Verb| match verb {
            // the caller does not revoke
            Verb::Token(TokenVerb::RevokeFamily(..)) => RevokeOutcome::NotFound.into(),
            verb => store.ask(verb),
        }
    });
    let forgiven = |found: &Violation| matches!(found, Violation::ReplayNotRevoked(_));
    assert!(found.iter().any(forgiven), "{found:?}");
}

/// O10: a store applies each write two calls later.
#[test]
fn a_store_that_answers_before_it_commits_is_caught() {
    violations(tokens, || {
        let late: Mutex<Vec<Verb>> = Mutex::default();
        move |store: &Memory, verb: Verb| {
            let mut late = late.lock().unwrap();
            if late.len() > 1 {
                store.ask(late.remove(0));
            }
            match verb {
                Verb::Token(TokenVerb::RevokeFamily(..)) => {
                    late.push(verb);
                    RevokeOutcome::Revoked.into()
                }
                Verb::Token(TokenVerb::Rotate(..)) => {
                    late.push(verb);
                    RotateOutcome::Rotated.into()
                }
                verb => store.ask(verb),
            }
        }
    });
}

/// O10: a store loses every third rotation that it confirmed.
#[test]
fn a_store_that_loses_what_it_acknowledged_is_caught() {
    violations(tokens, || {
        let rotations = AtomicUsize::new(0);
        move |store: &Memory, verb: Verb| match verb {
            Verb::Token(TokenVerb::Rotate(..)) if rotations.fetch_add(1, Ordering::Relaxed) % 3 == 2 => {
                RotateOutcome::Rotated.into()
            }
            verb => store.ask(verb),
        }
    });
}

/// O10: a store answers every lookup with its first result.
#[test]
fn a_store_that_reads_from_a_replica_is_caught() {
    violations(tokens, || {
        let read: Mutex<HashMap<String, Reply>> = Mutex::default();
        move |store: &Memory, verb: Verb| {
            if !verb.is_lookup() {
                return store.ask(verb);
            }
            let mut read = read.lock().unwrap();
            read.entry(format!("{verb:?}"))
                .or_insert_with(|| store.ask(verb))
                .clone()
        }
    });
}

/// O6, O10: the clock of the store is one day slow, which shows once the clocks of the callers
/// jump.
#[test]
fn a_store_with_a_clock_of_its_own_is_caught() {
    let faults = |seed| tokens(seed).with_faults();
    violations(faults, || {
        |store: &Memory, mut verb: Verb| {
            if let Some(now) = verb.now_mut() {
                *now -= Duration::from_secs(24 * 3600);
            }
            store.ask(verb)
        }
    });
}

/// S3: ending a session leaves its grants active.
#[test]
fn a_store_that_ends_a_session_alone_is_caught() {
    let found = violations(sessions, || {
        |store: &Memory, verb: Verb| match verb {
            Verb::Session(SessionVerb::EndSession(..) | SessionVerb::RevokeSubject(..)) => {
                Revoked::default().into()
            }
            verb => store.ask(verb),
        }
    });
    let lost = |found: &Violation| matches!(found, Violation::RevokedFamilyUsed(_));
    assert!(found.iter().any(lost), "{found:?}");
}

/// S3: ending a session and revoking its grants are two steps.
#[test]
fn a_store_that_signs_out_everywhere_in_two_steps_is_caught() {
    violations(sessions, || {
        let session = Mutex::new(None);
        move |store: &Memory, verb: Verb| match verb {
            Verb::Session(SessionVerb::InsertSession(ref record)) => {
                *session.lock().unwrap() = Some(record.id);
                store.ask(verb)
            }
            Verb::Session(SessionVerb::RevokeSubject(_, None, reason, now)) => {
                let id = session.lock().unwrap().expect("it was begun");
                match store.ask_twice(SessionVerb::EndSession(id, reason, now), verb) {
                    (Reply::Revoked(mut first), Reply::Revoked(second)) => {
                        first.families += second.families;
                        first.codes += second.codes;
                        first.reset_tokens += second.reset_tokens;
                        first.into()
                    }
                    (_, reply) => reply,
                }
            }
            verb => store.ask(verb),
        }
    });
}

/// S3: a store redeems a code after the end of its session.
#[test]
fn store_that_ignores_ended_session_is_caught() {
    violations(sessions, || {
        |store: &Memory, verb: Verb| match verb {
            Verb::Token(TokenVerb::InsertCode(mut code)) => {
                code.grant.session = None;
                store.ask(TokenVerb::InsertCode(code))
            }
            Verb::Token(TokenVerb::RedeemCode(mut redemption, now)) => {
                redemption.family.grant.session = None;
                store.ask(TokenVerb::RedeemCode(redemption, now))
            }
            verb => store.ask(verb),
        }
    });
}

/// S4: the old secret of a renewed session still opens it.
#[test]
fn a_store_that_keeps_the_old_secret_is_caught() {
    violations(sessions, || {
        let old: Mutex<HashMap<TokenHash, Reply>> = Mutex::default();
        move |store: &Memory, verb: Verb| match verb {
            Verb::Session(SessionVerb::RenewSession(hash, ..)) => {
                let (before, reply) = store.ask_twice(SessionVerb::Session(hash), verb);
                if reply == SessionOutcome::Done.into() {
                    old.lock().unwrap().insert(hash, before);
                }
                reply
            }
            Verb::Session(SessionVerb::Session(hash)) => {
                let old = old.lock().unwrap().get(&hash).cloned();
                old.unwrap_or_else(|| store.ask(verb))
            }
            verb => store.ask(verb),
        }
    });
}

/// S5: a reset token can be redeemed repeatedly.
#[test]
fn a_store_that_redeems_a_reset_token_twice_is_caught() {
    violations(sessions, || {
        let redeemed: Mutex<Option<Reply>> = Mutex::default();
        move |store: &Memory, verb: Verb| match store.ask(verb) {
            Reply::ResetOutcome(ResetOutcome::NotFound) => {
                let redeemed = redeemed.lock().unwrap().clone();
                redeemed.unwrap_or_else(|| ResetOutcome::NotFound.into())
            }
            reply @ Reply::ResetOutcome(ResetOutcome::Redeemed { .. }) => {
                *redeemed.lock().unwrap() = Some(reply.clone());
                reply
            }
            reply => reply,
        }
    });
}
