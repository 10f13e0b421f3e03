//! Cases that walk the state tables of codes and refresh tokens.

/// The cases of state tables in `session_store!`.
#[host_ports_conformance::kit(session_store_tables)]
mod cases {
    use std::sync::Arc;

    use crate::history::{CodeOutcome, CodeState, CodeTrigger, RefreshState, RefreshTrigger};
    use crate::records::{
        answer, code, family_id, hash, redemption, refresh, rotation, session, session_id, start,
    };
    use oauth_core::store::{Insertion, RedeemOutcome, RevocationReason, RotateOutcome, SessionStore};

    const REASON: RevocationReason = RevocationReason::SignedOut;

    /// O6, S6: every trigger from every state of a code gives the state and the result of its
    /// table.
    pub async fn code_follows_its_state_table(store: &Arc<dyn SessionStore>) {
        for state in CodeState::ALL {
            for trigger in CodeTrigger::ALL {
                let label = format!("{state:?} {trigger:?}");
                put_code(store, &label, state, trigger).await;
                let (after, expected) = state.after(trigger);
                let now = match trigger {
                    CodeTrigger::RedeemedLate => code(&label).expires_at,
                    _ => start(),
                };
                let answered = if trigger == CodeTrigger::GrantEnded {
                    end_session(store, &label).await;
                    CodeOutcome::None
                } else {
                    let mut again = redemption(&label, &format!("{label} again"));
                    again.family.grant.session = Some(session_id(&label));
                    CodeOutcome::from_outcome(&answer(store.redeem_code(again, now).await))
                };
                assert_eq!(answered, expected, "{label}");
                let found = match answer(store.code(&hash(&label)).await).map(|code| code.redeemed) {
                    None => CodeState::Absent,
                    Some(None) => CodeState::Fresh,
                    Some(Some(_)) => CodeState::Spent,
                };
                assert_eq!(found, after, "{label}");
            }
        }
    }

    /// O10, S6: every trigger from every state of a refresh token gives the state and the result of
    /// its table.
    pub async fn refresh_token_follows_its_state_table(store: &Arc<dyn SessionStore>) {
        for state in RefreshState::ALL {
            for trigger in RefreshTrigger::ALL {
                let label = format!("{state:?} {trigger:?}");
                let presented = format!("{label} rt 0");
                put_link(store, &label, state).await;
                let (after, expected) = state.after(trigger);
                let now = match trigger {
                    RefreshTrigger::RotatedLate => refresh(&presented, &label, 0).expires_at,
                    RefreshTrigger::Rotated | RefreshTrigger::FamilyRevoked => start(),
                };
                let answered = if trigger == RefreshTrigger::FamilyRevoked {
                    let _outcome = answer(store.revoke_family(&family_id(&label), REASON, now).await);
                    None
                } else {
                    let again = rotation(&presented, &format!("{label} again"), &label);
                    Some(answer(store.rotate(again, now).await))
                };
                assert_eq!(answered, expected, "{label}");
                let found = answer(store.refresh_token(&hash(&presented)).await);
                assert_eq!(RefreshState::from_lookup(found.as_ref()), after, "{label}");
            }
        }
    }

    /// Stores a code in this state; if `trigger` needs it, of a session that ends before.
    async fn put_code(store: &dyn SessionStore, label: &str, state: CodeState, trigger: CodeTrigger) {
        let inserted = store.insert_session(session(label)).await;
        assert_eq!(answer(inserted), Insertion::Inserted);
        let over = trigger == CodeTrigger::RedeemedAfterSession;
        if over && state != CodeState::Spent {
            end_session(store, label).await;
        }
        if state != CodeState::Absent {
            let mut code = code(label);
            code.grant.session = Some(session_id(label));
            assert_eq!(answer(store.insert_code(code).await), Insertion::Inserted);
        }
        if state == CodeState::Spent {
            let mut bought = redemption(label, label);
            bought.family.grant.session = Some(session_id(label));
            let redeemed = answer(store.redeem_code(bought, start()).await);
            assert_eq!(redeemed, RedeemOutcome::Redeemed);
            if over {
                end_session(store, label).await;
            }
        }
    }

    /// Stores the first refresh token of a family in this state.
    async fn put_link(store: &dyn SessionStore, label: &str, state: RefreshState) {
        if state == RefreshState::Absent {
            return;
        }
        assert_eq!(answer(store.insert_code(code(label)).await), Insertion::Inserted);
        let redeemed = answer(store.redeem_code(redemption(label, label), start()).await);
        assert_eq!(redeemed, RedeemOutcome::Redeemed);
        if matches!(state, RefreshState::Tombstone | RefreshState::RevokedTombstone) {
            let first = rotation(&format!("{label} rt 0"), &format!("{label} rt 1"), label);
            assert_eq!(answer(store.rotate(first, start()).await), RotateOutcome::Rotated);
        }
        if matches!(state, RefreshState::Revoked | RefreshState::RevokedTombstone) {
            let _outcome = answer(store.revoke_family(&family_id(label), REASON, start()).await);
        }
    }

    async fn end_session(store: &dyn SessionStore, label: &str) {
        let _counts = answer(store.end_session(&session_id(label), REASON, start()).await);
    }
}

pub use cases::*;
