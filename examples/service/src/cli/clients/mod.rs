//! Clients of the configuration file: each table `[[client]]` is one registered client.

mod authentication;
mod table;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use oauth_core::store::{GrantType, SenderConstraint};
use oauth_core::vocabulary::{Audience, ClientId, RegisteredRedirectUri};
use oauth_core::{RegisteredClient, Scopes};

use self::table::ClientTable;
use super::settings::Settings;
use crate::app::open::{RESERVED_CLIENTS, SCOPES};

const REDIRECTS: &str = "redirect-uris";
const LOOPBACK_REDIRECTS: &str = "loopback-redirect-uris";
const GRANTS: &str = "grants";
const POST_LOGOUT_REDIRECTS: &str = "post-logout-redirect-uris";
const BACKCHANNEL_LOGOUT: &str = "backchannel-logout-uri";
const AUDIENCES: &str = "audiences";

/// Scopes and APIs of the tokens that the service issues.
struct Issued<'a> {
    scopes: Scopes,
    apis: &'a [String],
}

/// Variables of the environment, and the files that settings name.
struct Sources<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    read: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// Parses the tables `[[client]]` for a service that issues tokens for these scopes, beside its
/// own, and for these APIs. Each fault is a mistake of the settings.
pub(super) fn parse(
    settings: &mut Settings,
    (other_scopes, apis): (&Scopes, &[String]),
    variable: &impl Fn(&str) -> Option<String>,
    read: &impl Fn(&Path) -> io::Result<String>,
) -> Vec<RegisteredClient> {
    let Some((file, tables)) = settings.clients.take() else {
        return Vec::new();
    };
    let issued = Issued {
        scopes: SCOPES.parse::<Scopes>().unwrap_or_default().union(other_scopes),
        apis,
    };
    let sources = Sources { variable, read };
    let mut ids = BTreeSet::new();
    let mut clients = Vec::new();
    for (number, values) in (1..).zip(tables) {
        let mut table = ClientTable::new(number, &file, values, &mut settings.mistakes);
        let client = client(&mut table, &issued, &sources);
        table.refuse_unknown_keys();
        let Some(client) = client else { continue };
        if ids.insert(client.id.as_str().to_owned()) {
            clients.push(client);
        } else {
            table.refuse("id", "another client has this id; give each client its own");
        }
    }
    clients
}

/// Builds the client of a table; `None` if the table has no usable id or authentication.
fn client(
    table: &mut ClientTable<'_>,
    issued: &Issued<'_>,
    sources: &Sources<'_>,
) -> Option<RegisteredClient> {
    let id = id(table);
    let client = authentication::client(table, id, sources);
    let grants = grants(table);
    let name = table.text("name");
    let scopes = scopes(table, &issued.scopes);
    let redirect_uris = redirect_uris(table);
    let post_logout = table.list(POST_LOGOUT_REDIRECTS);
    let backchannel = table.parsed(BACKCHANNEL_LOGOUT);
    let audiences = audiences(table, issued.apis);
    let sender_constraint = table.one_of("sender-constraint", &[("dpop", SenderConstraint::Dpop)]);
    let mut client = client?;
    if let Some(name) = name {
        client = client.with_name(name);
    }
    if let Some(uri) = backchannel {
        client = client.with_backchannel_logout_uri(uri);
    }
    if let Some(constraint) = sender_constraint {
        client = client.with_sender_constraint(constraint);
    }
    if let Some(grants) = grants {
        client = client.with_grant_types(grants);
    }
    let client = client.with_scopes(scopes);
    let client = redirect_uris
        .into_iter()
        .fold(client, |client, uri| client.with_redirect_uri(uri));
    let client = post_logout
        .into_iter()
        .fold(client, |client, uri| client.with_post_logout_redirect_uri(uri));
    let client = audiences
        .into_iter()
        .fold(client, |client, api| client.with_audience(api));
    check_combinations(table, &client);
    Some(client)
}

fn id(table: &mut ClientTable<'_>) -> Option<ClientId> {
    let id: ClientId = table.required("id")?;
    if RESERVED_CLIENTS
        .iter()
        .any(|prefix| id.as_str().starts_with(prefix))
    {
        let reserved = RESERVED_CLIENTS.join("` and `");
        table.refuse(
            "id",
            format!("ids that begin with `{reserved}` are the service's own; choose another"),
        );
        return None;
    }
    Some(id)
}

fn grants(table: &mut ClientTable<'_>) -> Option<Vec<GrantType>> {
    let named = GrantType::ALL.map(|grant| (grant.as_str(), grant));
    table.list_of(GRANTS, &named)
}

/// Scopes of the client, which the service must issue.
fn scopes(table: &mut ClientTable<'_>, known: &Scopes) -> Scopes {
    let scopes: Scopes = table.list("scopes").into_iter().collect();
    for scope in scopes.iter().filter(|scope| !known.contains(scope)) {
        let scope = scope.as_str();
        let fault = format!(
            "the service does not issue `{scope}`; it issues {known}; \
             add a scope of another API by the setting `scope`"
        );
        table.refuse("scopes", fault);
    }
    scopes
}

/// APIs of the client, for which the service must issue tokens.
fn audiences(table: &mut ClientTable<'_>, known: &[String]) -> Vec<Audience> {
    let audiences: Vec<Audience> = table.list(AUDIENCES);
    let unknown = audiences.iter().map(Audience::as_str);
    for api in unknown.filter(|api| !known.iter().any(|known| known == api)) {
        let known = known.join(" ");
        let fault = format!(
            "the service issues no tokens for `{api}`; it issues them for {known}; \
             add another API by the setting `api`"
        );
        table.refuse(AUDIENCES, fault);
    }
    audiences
}

fn redirect_uris(table: &mut ClientTable<'_>) -> Vec<RegisteredRedirectUri> {
    let mut uris = table.list_by(REDIRECTS, RegisteredRedirectUri::exact);
    uris.extend(table.list_by(LOOPBACK_REDIRECTS, RegisteredRedirectUri::loopback_any_port));
    uris
}

/// Refuses combinations that would have no effect.
fn check_combinations(table: &mut ClientTable<'_>, client: &RegisteredClient) {
    let uses_codes = client.may_use(GrantType::AuthorizationCode);
    if uses_codes && client.redirect_uris.is_empty() && !table.is_refused(REDIRECTS) {
        let fault = "a client of the grant authorization_code needs one; add it, or name other `grants`";
        table.refuse(REDIRECTS, fault);
    }
    if !uses_codes && !client.redirect_uris.is_empty() {
        let fault = "only the grant authorization_code uses it; leave it out or add this grant";
        table.refuse(REDIRECTS, fault);
    }
    let logouts = [
        (
            POST_LOGOUT_REDIRECTS,
            !client.post_logout_redirect_uris.is_empty(),
        ),
        (BACKCHANNEL_LOGOUT, client.backchannel_logout_uri.is_some()),
    ];
    for (key, _) in logouts.iter().filter(|(_, is_set)| *is_set && !uses_codes) {
        let fault = "only users of the grant authorization_code sign out; leave it out or add this grant";
        table.refuse(key, fault);
    }
    if !uses_codes && client.may_use(GrantType::RefreshToken) {
        table.refuse(GRANTS, "refresh_token also needs authorization_code");
    }
    if !client.is_confidential() && client.may_use(GrantType::ClientCredentials) {
        let fault = "client_credentials needs a client that authenticates; name another `auth-method`";
        table.refuse(GRANTS, fault);
    }
    if client.is_confidential()
        && client
            .redirect_uris
            .iter()
            .any(RegisteredRedirectUri::is_any_port)
    {
        let fault = "only a client without authentication may use any port; list the URIs in `redirect-uris`";
        table.refuse(LOOPBACK_REDIRECTS, fault);
    }
    if !client.grant_types.is_empty() && client.scopes.is_empty() && !table.is_refused("scopes") {
        table.refuse("scopes", "missing; list the scopes that the client may request");
    }
}

#[cfg(test)]
mod tests;
