//! Callers as a server is one: they look, decide, write, and end what was presented twice.
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

/// Who plays, and what goes wrong meanwhile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Cast {
    /// Another seed is another play; no two share a row.
    pub seed: u64,
    /// Whether sessions, resets and signing out everywhere come into it: for a store that has them.
    pub sessions: bool,
    /// Whether calls and answers are lost, lookups lag behind and clocks jump.
    pub faults: bool,
    /// Whether a refresh may be repeated for a minute.
    pub retries: bool,
}

impl Cast {
    /// A play with tokens alone, and no faults.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            sessions: false,
            faults: false,
            retries: false,
        }
    }

    /// With sessions.
    #[must_use]
    pub const fn with_sessions(self) -> Self {
        Self {
            sessions: true,
            ..self
        }
    }

    /// With faults.
    #[must_use]
    pub const fn with_faults(self) -> Self {
        Self { faults: true, ..self }
    }

    /// With a retry window.
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

/// Records a history: three callers on three threads act on two codes, their tokens and one subject; afterwards every record is
/// looked up.
///
/// # Panics
///
/// If the store fails by itself.
pub async fn play(store: impl Respond + 'static, cast: Cast) -> History {
    let recorder = Arc::new(Recorder::new(store));
    let direct = VerbStore(Arc::clone(&recorder));
    let stage = Arc::new(Stage::new(cast));
    stage.set(&direct).await;
    let plan = move |number, verb: &Verb| cast.fault(number, verb);
    let faulty = Faulty::new(Arc::clone(&recorder), plan);
    race_of(ACTORS, &stage, async move |stage, actor| {
        stage.act(&faulty, actor).await
    })
    .await;
    stage.look_at_everything(&direct, &recorder.history()).await;
    let mut history = recorder.history();
    history.repeated.clone_from(&lock(&stage.repeated));
    history
}

fn lock<T>(items: &Mutex<T>) -> MutexGuard<'_, T> {
    items.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cast {
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

/// What the callers of one play share.
struct Stage {
    cast: Cast,
    subject: Subject,
    /// By label, with the family.
    refresh_tokens: Mutex<Vec<(String, FamilyId)>>,
    /// Secrets of the session.
    secrets: Mutex<Vec<TokenHash>>,
    /// Tombstones that were presented within the window.
    repeated: Mutex<HashSet<TokenHash>>,
}

/// What one act is about.
struct Props {
    code: &'static str,
    /// A refresh token, by label, and its family.
    presented: Option<(String, FamilyId)>,
    /// A secret of the session.
    secret: Option<TokenHash>,
}

const CODES: [&str; 2] = ["of the session", "of none"];

impl Stage {
    fn new(cast: Cast) -> Self {
        Self {
            cast,
            subject: format!("ada {}", cast.seed).parse().expect("printable"),
            refresh_tokens: Mutex::default(),
            secrets: Mutex::default(),
            repeated: Mutex::default(),
        }
    }

    fn label(&self, name: &str) -> String {
        format!("play {} {name}", self.cast.seed)
    }

    fn session(&self) -> SessionId {
        records::session_id(&self.label("session"))
    }

    /// For a grant whose every copy is small: a history has many.
    fn grant(&self, code: &str) -> Grant {
        let session = self.cast.sessions && code == "of the session";
        Grant {
            subject: self.subject.clone(),
            session: session.then(|| self.session()),
            name: None,
            ..records::grant()
        }
    }

    async fn set(&self, store: &VerbStore<impl Respond>) {
        if self.cast.sessions {
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
            let dice = mix(self.cast.seed, (actor * ACTS + act) as u64);
            let with = Props {
                code: if dice >> 8 & 1 == 0 { CODES[0] } else { CODES[1] },
                presented: pick(&self.refresh_tokens, dice >> 16),
                secret: pick(&self.secrets, dice >> 16),
            };
            // who gets no answer asks the same again, as a client would
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
        with: &Props,
        name: &str,
    ) -> Result<(), StoreError> {
        match (dice % if self.cast.sessions { 16 } else { 8 }, &with.presented) {
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
        with: &Props,
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
            // another refusal: nothing was stored
            _ => {}
        }
        Ok(())
    }

    /// Until it is answered: what was presented twice is to die.
    async fn revoke(&self, store: &VerbStore<impl Respond>, family: FamilyId) -> Result<(), StoreError> {
        let reason = RevocationReason::RefreshTokenReused;
        let mut outcome = None;
        while outcome.is_none() {
            outcome = self.answered(store.revoke_family(&family, reason, records::start()).await);
        }
        Ok(())
    }

    /// The answer; `None` where the play has it that there is none.
    fn answered<T>(&self, answer: Result<T, StoreError>) -> Option<T> {
        if self.cast.faults {
            answer.ok()
        } else {
            Some(answer.expect("the store answers"))
        }
    }

    /// Looks at whatever was to be stored, also where nobody was told whether it is.
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

/// A die that falls the same way in every run (`splitmix64`).
const fn mix(seed: u64, number: u64) -> u64 {
    let mut dice = (seed << 40 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    dice = (dice ^ (dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    dice = (dice ^ (dice >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    dice ^ (dice >> 31)
}
