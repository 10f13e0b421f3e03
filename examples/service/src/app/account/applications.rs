//! Connected applications: the consents of the user.

use oauth_core::params::Params;
use oauth_core::session::Session;
use oauth_core::store::{ClientStore, ConsentRecord, ConsentStore};
use oauth_core::vocabulary::{ClientId, Subject};
use std::collections::BTreeSet;

use super::super::browser::see_other;
use super::super::{App, Handled};
use super::{Problem, ago};

/// An application to which the user has consented.
pub(in super::super) struct ApplicationShown {
    pub(in super::super) client_id: ClientId,
    pub(in super::super) name: String,
    pub(in super::super) scopes: Vec<String>,
    pub(in super::super) allowed: String,
}

impl App {
    pub(in super::super) async fn applications(
        &self,
        subject: &Subject,
    ) -> Result<Vec<ApplicationShown>, Problem> {
        let consents = self.stores.consents.consents_of(subject).await;
        let consents = consents.map_err(|error| self.store_failed(&error))?;
        let mut shown = Vec::with_capacity(consents.len());
        for consent in consents {
            let client = self.stores.clients.client(&consent.client_id).await;
            let client = client.map_err(|error| self.store_failed(&error))?;
            let name = client.and_then(|client| client.name);
            shown.push(ApplicationShown {
                name: name.unwrap_or_else(|| consent.client_id.to_string()),
                scopes: scopes(&consent),
                allowed: ago(self.clock.now(), consent.granted_at),
                client_id: consent.client_id,
            });
        }
        Ok(shown)
    }

    pub(super) async fn withdraw_consent(&self, form: &Params, session: &Session) -> Handled {
        if let Some(client_id) = form.optional("client").and_then(|id| id.parse().ok()) {
            let subject = &session.record.subject;
            let withdrawn = self.server().withdraw_consent(subject, &client_id).await;
            let event = withdrawn.map_err(|error| self.store_failed(&error))?;
            self.log_events(&[event]);
        }
        Ok(see_other("/account?notice=withdrawn", None))
    }

    /// Signs the user out of an application in every session; its consent stays.
    pub(super) async fn sign_out_of_application(&self, form: &Params, session: &Session) -> Handled {
        if let Some(client_id) = form.optional("client").and_then(|id| id.parse().ok()) {
            let subject = &session.record.subject;
            let signed_out = self.server().sign_out_of_client(subject, &client_id).await;
            let event = signed_out.map_err(|error| self.store_failed(&error))?;
            self.log_events(&[event]);
        }
        Ok(see_other("/account?notice=application", None))
    }
}

/// Names of the granted scopes, over all resource servers.
fn scopes(consent: &ConsentRecord) -> Vec<String> {
    let scopes = consent.scopes.values().flat_map(|scopes| scopes.iter());
    let names: BTreeSet<_> = scopes.map(|scope| scope.as_str().to_owned()).collect();
    names.into_iter().collect()
}
