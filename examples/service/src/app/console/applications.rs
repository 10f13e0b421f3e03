//! `/console/applications`: applications of the user, token families, and sessions.

use std::time::SystemTime;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use oauth_core::params::Params;
use oauth_core::store::RevocationReason;
use oauth_core::vocabulary::ClientId;

use super::super::account::{ApplicationShown, SessionShown};
use super::super::browser::see_other;
use super::super::lists::query_parameter;
use super::super::{App, Handled};
use super::place::ApplicationForm;
use super::state::Pill;
use super::text::moment;
use super::{Frame, Ticket, Visitor, page};
use crate::desk::FamilySeen;

#[derive(Template)]
#[template(path = "console/applications.html")]
struct ApplicationsPage {
    frame: Frame,
    notice: Option<&'static str>,
    applications: Vec<(Ticket, ApplicationShown)>,
    families: Vec<(Ticket, FamilyShown)>,
    sessions: Vec<(Ticket, SessionShown)>,
}

struct FamilyShown {
    id: String,
    application: String,
    pill: Pill,
    /// Reason and time of the revocation.
    why: Option<String>,
    is_bound: bool,
    begun: String,
    ends: String,
    tokens: Vec<TokenShown>,
    is_active: bool,
}

struct TokenShown {
    number: u32,
    class: &'static str,
    word: &'static str,
}

impl App {
    pub(super) async fn show_applications(&self, request: &Request<Bytes>, visitor: &Visitor) -> Handled {
        let record = &visitor.session.record;
        let now = self.clock.now();
        let sessions = self.sessions.list(&record.subject).await;
        let sessions = sessions.map_err(|error| self.store_failed(&error))?;
        let sessions = sessions
            .iter()
            .map(|known| SessionShown::of(known, &record.id, now));
        let seen = self.desk.families_of(record.subject.to_string()).await;
        let mut families = Vec::new();
        for family in seen.map_err(|error| self.refused(error))? {
            let name = self.client_name(&family.family.grant.client_id).await?;
            families.push((visitor.ticket(), FamilyShown::of(&family, name, now)));
        }
        let applications = self.applications(&record.subject).await?;
        let shown = ApplicationsPage {
            frame: self.frame("applications", visitor).await?,
            notice: query_parameter(request, "notice").and_then(|notice| notice_of(&notice)),
            applications: applications
                .into_iter()
                .map(|shown| (visitor.ticket(), shown))
                .collect(),
            families,
            sessions: sessions.map(|shown| (visitor.ticket(), shown)).collect(),
        };
        page(StatusCode::OK, &shown)
    }

    async fn client_name(&self, id: &ClientId) -> Result<String, Problem> {
        let client = self.stores.clients.client(id).await;
        let client = client.map_err(|error| self.store_failed(&error))?;
        Ok(client
            .and_then(|client| client.name)
            .unwrap_or_else(|| id.to_string()))
    }

    /// Changes what belongs to the visitor; what does not is ignored.
    pub(super) async fn application_form(
        &self,
        form: ApplicationForm,
        fields: &Params,
        visitor: &Visitor,
    ) -> Handled {
        let subject = &visitor.session.record.subject;
        let notice = match form {
            ApplicationForm::Disconnect => {
                if let Some(client) = fields.optional("client").and_then(|id| id.parse().ok()) {
                    let event = self.server().withdraw_consent(subject, &client).await;
                    self.log_events(&[event.map_err(|error| self.store_failed(&error))?]);
                }
                "disconnected"
            }
            ApplicationForm::RevokeFamily => {
                let wanted = fields.optional("family").unwrap_or_default();
                let own = self.desk.families_of(subject.to_string()).await;
                let own = own.map_err(|error| self.refused(error))?;
                if let Some(found) = own.iter().find(|seen| seen.family.id.to_string() == wanted) {
                    let revoked = self
                        .stores
                        .tokens
                        .revoke_family(&found.family.id, RevocationReason::Requested, self.clock.now())
                        .await;
                    let _outcome = revoked.map_err(|error| self.store_failed(&error))?;
                    tracing::info!(%subject, family = %found.family.id, "token family revoked");
                }
                "revoked"
            }
            ApplicationForm::EndSession => {
                if let Some(id) = fields.optional("session").and_then(|id| id.parse().ok()) {
                    let ended = self.sessions.end(subject, &id).await;
                    if ended.map_err(|error| self.store_failed(&error))? {
                        tracing::info!(%subject, session = %id, "session ended");
                    }
                }
                "ended"
            }
        };
        Ok(see_other(&format!("/console/applications?notice={notice}"), None))
    }
}

impl FamilyShown {
    fn of(seen: &FamilySeen, application: String, now: SystemTime) -> Self {
        let family = &seen.family;
        let revoked = family.revoked;
        let is_active = revoked.is_none() && family.expires_at > now;
        let pill = match (is_active, revoked) {
            (true, _) => Pill::ACTIVE,
            (false, Some(_)) => Pill::REVOKED,
            (false, None) => Pill::EXPIRED,
        };
        let tokens = seen.tokens.iter().map(|token| TokenShown {
            number: token.generation.saturating_add(1),
            class: if !token.is_rotated && is_active { "now" } else { "" },
            word: match (token.is_rotated, is_active) {
                (false, true) => "current",
                (false, false) => "ended",
                (true, _) => "used",
            },
        });
        Self {
            id: family.id.to_string(),
            application,
            pill,
            why: revoked.map(|revoked| {
                format!(
                    "{} at {}",
                    revoked.reason.code().replace('_', " "),
                    moment(revoked.at)
                )
            }),
            is_bound: family.confirmation.is_some(),
            begun: moment(family.created_at),
            ends: moment(family.expires_at),
            tokens: tokens.collect(),
            is_active,
        }
    }
}

fn notice_of(notice: &str) -> Option<&'static str> {
    match notice {
        "disconnected" => Some("The application is disconnected. It must ask for your consent again."),
        "revoked" => Some("The token family is revoked. Its tokens are refused from now on."),
        "ended" => {
            Some("That session has ended. Applications that you allowed in it have lost their access.")
        }
        _ => None,
    }
}
