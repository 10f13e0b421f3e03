//! The checker of histories catches every store that breaks a promise: each of these is the memory store with one flaw.
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

/// The memory store, behind what a flaw makes of each verb.
struct Flawed<F> {
    store: Memory,
    flaw: F,
}

/// Answers at once.
struct Memory(MemoryTokens);

impl Memory {
    fn ask(&self, verb: impl Into<Verb>) -> Reply {
        let store: &dyn SessionStore = &self.0;
        let reply = store.respond(verb.into()).now_or_never();
        reply.expect("memory stores never wait").expect("nor fail")
    }

    /// With time for the others in between, as between two statements.
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

/// What the checker says first about a store with this flaw, and how often it says anything.
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
    assert!(!found.is_empty(), "nobody noticed");
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

/// O6, O10: without a flaw there is nothing to say.
#[test]
fn a_sound_store_is_not_accused() {
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

/// O10: looks whether the token is the leaf, and rotates it later, come what may.
#[test]
fn a_store_that_forks_is_caught() {
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
    let fork = |found: &Violation| matches!(found, Violation::TwoSuccessors(_) | Violation::TwoLeaves(_));
    assert!(found.iter().any(fork), "{found:?}");
}

/// O6: nobody sees that the code was spent.
#[test]
fn a_store_that_sells_a_code_twice_is_caught() {
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

/// O10: a theft looks like a token that never was.
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

/// O10: says that the family is revoked, and lets it be.
#[test]
fn a_store_that_loses_the_revocation_is_caught() {
    let found = violations(tokens, || {
        |store: &Memory, verb: Verb| match verb {
            Verb::Token(TokenVerb::RevokeFamily(..)) => RevokeOutcome::Revoked.into(),
            verb => store.ask(verb),
        }
    });
    let lost = |found: &Violation| matches!(found, Violation::RevokedFamilyYields(_));
    assert!(found.iter().any(lost), "{found:?}");
}

/// O10: tells whoever presented a tombstone nothing, so that the thief goes on.
#[test]
fn a_replay_that_ends_nothing_is_caught() {
    let found = violations(tokens, || {
        |store: &Memory, verb: Verb| match verb {
            // not even heard, as by a caller that does not revoke
            Verb::Token(TokenVerb::RevokeFamily(..)) => RevokeOutcome::NotFound.into(),
            verb => store.ask(verb),
        }
    });
    let forgiven = |found: &Violation| matches!(found, Violation::ReplayForgiven(_));
    assert!(found.iter().any(forgiven), "{found:?}");
}

/// O10: what is answered happens when the next but one is asked.
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

/// O10: every third rotation that is answered is gone.
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

/// O10: every lookup is answered as it was the first time.
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

/// O6, O10: its clock is a day slow, which shows once the clocks of its callers jump.
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

/// S3: ends the session, and leaves what was granted in it.
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
    let lost = |found: &Violation| matches!(found, Violation::RevokedFamilyYields(_));
    assert!(found.iter().any(lost), "{found:?}");
}

/// S3: ends the session first and everything else a little later.
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

/// S3: sells to whoever comes when the session is over.
#[test]
fn a_store_that_does_not_look_at_the_session_of_a_code_is_caught() {
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

/// S5: a reset token is good as often as it is presented.
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
