//! Concurrent callers that act as a server does: look up, decide, write, and revoke on reuse.
#![expect(clippy::expect_used, reason = "a history is played in tests")]

mod refresh;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{History, Recorder};
use crate::faults::{Fault, Faulty};
use crate::records;
use crate::verbs::{Respond, SessionVerb, TokenVerb, Verb, VerbStore};
use host_ports_conformance::race_of;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, RedeemOutcome, RevocationReason, Rotation,
    SessionId, SessionRenewal, SessionStore, TokenStore,
};
use oauth_core::vocabulary::Subject;

/// The settings of a recorded workload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Workload {
    /// The seed of all random choices. Workloads with different seeds write different rows.
    pub seed: u64,
    /// Adds sessions, password resets and sign-out everywhere. The store must then be a
    /// [`SessionStore`].
    pub sessions: bool,
    /// Injects lost calls, lost responses, stale lookups and clock jumps.
    pub faults: bool,
    /// Allows a retry of a refresh for 60 seconds, so that it is no reuse.
    pub retries: bool,
}

impl Workload {
    /// Creates a workload of codes and tokens alone, without faults.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            sessions: false,
            faults: false,
            retries: false,
        }
    }

    /// Adds sessions.
    #[must_use]
    pub const fn with_sessions(self) -> Self {
        Self {
            sessions: true,
            ..self
        }
    }

    /// Adds faults: lost calls, lost responses, stale lookups and clock jumps.
    #[must_use]
    pub const fn with_faults(self) -> Self {
        Self { faults: true, ..self }
    }

    /// Adds a retry window of 60 seconds.
    #[must_use]
    pub const fn with_retries(self) -> Self {
        Self {
            retries: true,
            ..self
        }
    }
}

const ACTORS: usize = 3;
const ACTS: usize = 4;

/// Records the history of a workload.
///
/// Three callers on three threads use two codes, their tokens and one subject. Afterwards `record`
/// looks up every record that they wrote.
///
/// # Panics
///
/// If the store fails without an injected fault.
pub async fn record(store: impl Respond + 'static, workload: Workload) -> History {
    let recorder = Arc::new(Recorder::new(store));
    let direct = VerbStore(Arc::clone(&recorder));
    let run = Arc::new(Run::new(workload));
    run.set(&direct).await;
    let plan = move |number, verb: &Verb| workload.fault(number, verb);
    let faulty = Faulty::new(Arc::clone(&recorder), plan);
    race_of(ACTORS, &run, async move |run, actor| {
        run.act(&faulty, actor).await;
    })
    .await;
    run.look_at_everything(&direct, &recorder.history()).await;
    let mut history = recorder.history();
    history.repeated.clone_from(&lock(&run.repeated));
    history
}

fn lock<T>(items: &Mutex<T>) -> MutexGuard<'_, T> {
    items.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workload {
    fn fault(self, number: usize, verb: &Verb) -> Option<Fault> {
        let dice = mix(self.seed, 1 << 32 | number as u64);
        match dice % 24 {
            _ if !self.faults => None,
            0 | 1 => Some(Fault::LostCall),
            2 | 3 => Some(Fault::LostAnswer),
            4..=7 if verb.is_lookup() => Some(Fault::StaleRead),
            8 => Some(Fault::Clock(records::start() + Duration::from_secs(61))),
            9 => Some(Fault::Clock(records::start() - Duration::from_secs(3600))),
            10 => Some(Fault::Clock(
                records::start() + Duration::from_secs(15 * 24 * 3600),
            )),
            _ => None,
        }
    }
}

/// The state that the callers of one workload share.
struct Run {
    workload: Workload,
    subject: Subject,
    /// Labels of refresh tokens, each with its family.
    refresh_tokens: Mutex<Vec<(String, FamilyId)>>,
    /// The secrets of the session.
    secrets: Mutex<Vec<TokenHash>>,
    /// Rotated refresh tokens that were presented within the retry window.
    repeated: Mutex<HashSet<TokenHash>>,
}

/// The records that one act of a caller uses.
struct Targets {
    code: &'static str,
    /// A refresh token: its label and its family.
    presented: Option<(String, FamilyId)>,
    /// A secret of the session.
    secret: Option<TokenHash>,
}

const CODES: [&str; 2] = ["of the session", "of none"];

impl Run {
    fn new(workload: Workload) -> Self {
        Self {
            workload,
            subject: format!("ada {}", workload.seed).parse().expect("printable"),
            refresh_tokens: Mutex::default(),
            secrets: Mutex::default(),
            repeated: Mutex::default(),
        }
    }

    fn label(&self, name: &str) -> String {
        format!("play {} {name}", self.workload.seed)
    }

    fn session(&self) -> SessionId {
        records::session_id(&self.label("session"))
    }

    /// A grant without long fields, because a history holds many copies.
    fn grant(&self, code: &str) -> Grant {
        let session = self.workload.sessions && code == "of the session";
        Grant {
            subject: self.subject.clone(),
            session: session.then(|| self.session()),
            name: None,
            claims: Default::default(),
            ..records::grant()
        }
    }

    async fn set(&self, store: &VerbStore<impl Respond>) {
        if self.workload.sessions {
            let mut session = records::session(&self.label("session"));
            session.subject = self.subject.clone();
            put(&self.secrets, session.hash);
            let inserted = store.insert_session(session).await;
            let _inserted = inserted.expect("the store answers");
            let reset = records::reset(&self.label("reset"), Some(self.subject.clone()));
            store.put_reset_token(reset).await.expect("the store answers");
        }
        for code in CODES {
            let code = AuthorizationCodeRecord {
                grant: self.grant(code),
                ..records::code(&self.label(code))
            };
            let inserted = store.insert_code(code).await;
            let _inserted = inserted.expect("the store answers");
        }
    }

    async fn act(&self, store: &VerbStore<impl Respond>, actor: usize) {
        for act in 0..ACTS {
            let dice = mix(self.workload.seed, (actor * ACTS + act) as u64);
            let with = Targets {
                code: if dice >> 8 & 1 == 0 { CODES[0] } else { CODES[1] },
                presented: pick(&self.refresh_tokens, dice >> 16),
                secret: pick(&self.secrets, dice >> 16),
            };
            // a caller without a response retries, as a client does
            let (mut attempt, mut answered) = (0, None);
            while answered.is_none() {
                let name = format!("{actor} {act} {attempt}");
                answered = self.answered(self.act_once(store, dice, &with, &name).await);
                attempt += 1;
            }
        }
    }

    async fn act_once(
        &self,
        store: &VerbStore<impl Respond>,
        dice: u64,
        with: &Targets,
        name: &str,
    ) -> Result<(), StoreError> {
        match (
            dice % if self.workload.sessions { 16 } else { 8 },
            &with.presented,
        ) {
            (0..=1, _) | (_, None) => self.redeem(store, with.code, name).await,
            (2..=5, Some((label, _))) => self.refresh(store, label, name).await,
            (6, Some((_, family))) => self.revoke(store, *family).await,
            (7, Some((label, _))) => {
                let token = records::hash(&format!("at of {label}"));
                let _revoked = store.revoke_access_token(&token, records::start()).await?;
                Ok(())
            }
            _ => self.act_on_session(store, dice, with, name).await,
        }
    }

    async fn act_on_session(
        &self,
        store: &VerbStore<impl Respond>,
        dice: u64,
        with: &Targets,
        name: &str,
    ) -> Result<(), StoreError> {
        let now = records::start();
        let reason = RevocationReason::SignedOutEverywhere;
        let secret = with.secret.expect("a session was begun");
        match dice % 16 {
            8 if dice % 32 == 8 => {
                let _ended = store.end_session(&self.session(), reason, now).await?;
            }
            8 => {
                let _ended = store.end_session_by_secret(&secret, reason, now).await?;
            }
            9 => {
                let _ended = store.revoke_subject(&self.subject, None, reason, now).await?;
            }
            10 => {
                let keep = Some(self.session());
                let ended = store.revoke_subject(&self.subject, keep.as_ref(), reason, now);
                let _ended = ended.await?;
            }
            11 => {
                let new = records::hash(&self.label(&format!("secret {name}")));
                put(&self.secrets, new);
                let _renewed = store
                    .renew_session(&secret, new, SessionRenewal::Proven, now)
                    .await?;
            }
            12 => {
                let _touched = store.touch_session(&secret, now + Duration::from_secs(1)).await?;
            }
            13 => {
                let token = self.label("reset");
                store
                    .put_reset_token(records::reset(&token, Some(self.subject.clone())))
                    .await?;
            }
            14 => {
                let token = records::hash(&self.label("reset"));
                let _redeemed = store.redeem_reset_token(&token, now).await?;
            }
            _ => {
                let _read = store.session(&secret).await?;
                let _listed = store.sessions_of(&self.subject, now).await?;
            }
        }
        Ok(())
    }

    async fn redeem(
        &self,
        store: &VerbStore<impl Respond>,
        code: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let Some(record) = store.code(&records::hash(&self.label(code))).await? else {
            return Ok(());
        };
        if let Some(family) = record.redeemed {
            return self.revoke(store, family).await;
        }
        let family = self.label(&format!("family {name}"));
        let token = self.label(&format!("token {name}"));
        let mut wanted = records::redemption(&self.label(code), &family);
        wanted.family.grant = record.grant;
        wanted.access.hash = records::hash(&format!("at of {token}"));
        wanted.access.terms.subject = self.subject.clone();
        wanted.refresh = Some(records::refresh(&token, &family, 0));
        let (id, now) = (wanted.family.id, records::start());
        match store.redeem_code(wanted, now).await? {
            RedeemOutcome::Redeemed => put(&self.refresh_tokens, (token, id)),
            RedeemOutcome::AlreadyRedeemed { family } => self.revoke(store, family).await?,
            // any other refusal stores nothing
            _ => {}
        }
        Ok(())
    }

    /// Revokes until the store responds, because a reused token must end its family.
    async fn revoke(&self, store: &VerbStore<impl Respond>, family: FamilyId) -> Result<(), StoreError> {
        let reason = RevocationReason::RefreshTokenReused;
        let mut outcome = None;
        while outcome.is_none() {
            outcome = self.answered(store.revoke_family(&family, reason, records::start()).await);
        }
        Ok(())
    }

    /// Returns the response; `None` after an injected fault.
    fn answered<T>(&self, answer: Result<T, StoreError>) -> Option<T> {
        if self.workload.faults {
            answer.ok()
        } else {
            Some(answer.expect("the store answers"))
        }
    }

    /// Looks up every record that was written, also those whose response was lost.
    async fn look_at_everything(&self, store: &VerbStore<impl Respond>, history: &History) {
        for entry in &history.entries {
            let looked = match &entry.verb {
                Verb::Token(TokenVerb::InsertCode(code)) => store.code(&code.hash).await.map(|_| ()),
                Verb::Token(TokenVerb::RedeemCode(CodeRedemption { refresh, access, .. }, _)) => {
                    look(store, refresh.as_ref().map(|token| token.hash), access.hash).await
                }
                Verb::Token(TokenVerb::Rotate(
                    Rotation {
                        successor, access, ..
                    },
                    _,
                )) => look(store, Some(successor.hash), access.hash).await,
                Verb::Session(SessionVerb::InsertSession(session)) => {
                    store.session(&session.hash).await.map(|_| ())
                }
                Verb::Session(SessionVerb::RenewSession(_, new, ..)) => store.session(new).await.map(|_| ()),
                _ => Ok(()),
            };
            looked.expect("the store answers");
        }
    }
}

async fn look(
    store: &VerbStore<impl Respond>,
    refresh: Option<TokenHash>,
    access: TokenHash,
) -> Result<(), StoreError> {
    if let Some(refresh) = refresh {
        store.refresh_token(&refresh).await?;
    }
    store.access_token(&access).await?;
    Ok(())
}

fn put<T>(items: &Mutex<Vec<T>>, item: T) {
    lock(items).push(item);
}

fn pick<T: Clone>(items: &Mutex<Vec<T>>, dice: u64) -> Option<T> {
    let items = lock(items);
    let place = usize::try_from(dice % (items.len().max(1) as u64)).unwrap_or(0);
    items.get(place).cloned()
}

/// A deterministic random number (`splitmix64`).
const fn mix(seed: u64, number: u64) -> u64 {
    let mut dice = (seed << 40 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    dice = (dice ^ (dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    dice = (dice ^ (dice >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    dice ^ (dice >> 31)
}
