//! Proof of possession (DPoP): tokens that are useless to a thief without the client's key.

use std::time::Duration;

use http::{Method, Request, StatusCode};
use oauth_core::dpop::{Htu, Proof, SignedProof};
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;

use super::http::{FullResponse, send};
use super::report::{Mismatch, Step, Stopped, expect, found, mismatch, passed};
use super::{Tour, with_header};
use crate::demo::SERVICE_SECRET;

const SERVICE: Option<(&str, &str)> = Some(("demo-service", SERVICE_SECRET));
const CHARGES: &str = "/v1/charges";

pub(super) async fn chapter(tour: &mut Tour<'_>) -> Result<(), Stopped> {
    tour.report.chapter("Proof of possession");
    let made = keys();
    let (own, stolen) = tour.report.step("a client and a thief make keys", made)?;

    let step = nonce(tour, &own).await;
    let nonce = tour.report.step("a proof without the server's nonce", step)?;
    let step = bound_token(tour, &own, &nonce).await;
    let token = tour.report.step("a proof with the nonce: a bound token", step)?;

    let step = nonce_of_api(tour, &own, &token, &nonce).await;
    let nonce = tour.report.step("the API requires a nonce of its own", step)?;
    let step = call(tour, &own, &token, &nonce).await;
    let proof = tour.report.step("the token with a proof", step)?;
    let step = replay(tour, &proof, &token).await;
    tour.report.step("the same proof again: a replay", step)?;
    let step = next_nonce(tour, &own, &token, &nonce).await;
    let nonce = tour.report.step("a minute later: the next nonce", step)?;
    let step = stolen_call(tour, &stolen, &token, &nonce).await;
    tour.report.step("the token with the proof of a thief", step)?;
    let step = as_bearer(tour, &token).await;
    tour.report.step("the token without a proof", step)
}

fn keys() -> Step<(SigningKey, SigningKey)> {
    let key =
        || SigningKey::generate_es256(&OsEntropy).map_err(|error| mismatch("a key", "an ES256 key", error));
    let keys = (key()?, key()?);
    found("ES256", "two keys, which are never sent", keys)
}

fn proof(tour: &Tour<'_>, method: Method, path: &str) -> Result<Proof, Mismatch> {
    let uri: Htu = tour
        .url(path)
        .parse()
        .map_err(|error| mismatch(path, "a valid htu", error))?;
    Ok(Proof::new(method, uri, &OsEntropy, tour.desk.now()))
}

fn signed(proof: &Proof, key: &SigningKey) -> Result<SignedProof, Mismatch> {
    proof
        .sign(key)
        .map_err(|error| mismatch("a proof", "a signature", error))
}

async fn ask(tour: &Tour<'_>, proof: &SignedProof) -> Result<FullResponse, Mismatch> {
    let fields = [("grant_type", "client_credentials"), ("scope", "read:charges")];
    let request = tour.form("/token", SERVICE, &fields)?;
    send(with_header(request, "dpop", proof.expose())?).await
}

async fn nonce(tour: &Tour<'_>, key: &SigningKey) -> Step<String> {
    let proof = proof(tour, Method::POST, "/token")?;
    let answer = ask(tour, &signed(&proof, key)?).await?;
    answer
        .expect(StatusCode::BAD_REQUEST)?
        .expect_at("/error", "use_dpop_nonce")?;
    let nonce = answer.expect_header("dpop-nonce")?.to_owned();
    found(&answer.sent, "400 use_dpop_nonce, with a nonce", nonce)
}

async fn bound_token(tour: &Tour<'_>, key: &SigningKey, nonce: &str) -> Step<String> {
    let proof = proof(tour, Method::POST, "/token")?.with_nonce(nonce);
    let answer = ask(tour, &signed(&proof, key)?).await?;
    answer.expect(StatusCode::OK)?.expect_at("/token_type", "DPoP")?;
    let token = answer.string_at("/access_token")?;
    found(&answer.sent, "200, token_type: DPoP", token)
}

fn presenting(tour: &Tour<'_>, proof: &SignedProof, token: &str) -> Result<Request<bytes::Bytes>, Mismatch> {
    let request = tour.bearing(Method::GET, CHARGES, token)?;
    let request = with_header(request, "authorization", &format!("DPoP {token}"))?;
    with_header(request, "dpop", proof.expose())
}

/// Calls `/v1/charges` with the token and a proof.
async fn present(
    tour: &Tour<'_>,
    key: &SigningKey,
    token: &str,
    nonce: &str,
) -> Result<(FullResponse, SignedProof), Mismatch> {
    let proof = proof(tour, Method::GET, CHARGES)?.with_access_token(token);
    let proof = signed(&proof.with_nonce(nonce), key)?;
    let answer = send(presenting(tour, &proof, token)?).await?;
    Ok((answer, proof))
}

async fn nonce_of_api(tour: &Tour<'_>, key: &SigningKey, token: &str, other: &str) -> Step<String> {
    let (answer, _) = present(tour, key, token, other).await?;
    refused(&answer, "DPoP", "use_dpop_nonce")?;
    let nonce = answer.expect_header("dpop-nonce")?.to_owned();
    found(&answer.sent, "401 use_dpop_nonce, with a nonce", nonce)
}

async fn call(tour: &Tour<'_>, key: &SigningKey, token: &str, nonce: &str) -> Step<SignedProof> {
    let (answer, proof) = present(tour, key, token, nonce).await?;
    answer.expect(StatusCode::OK)?;
    found(&answer.sent, "200", proof)
}

async fn next_nonce(tour: &Tour<'_>, key: &SigningKey, token: &str, nonce: &str) -> Step<String> {
    tour.desk.advance(Duration::from_secs(60));
    let (answer, _) = present(tour, key, token, nonce).await?;
    answer.expect(StatusCode::OK)?;
    let next = answer.expect_header("dpop-nonce")?.to_owned();
    expect(&answer.sent, "another nonce", next != nonce, true)?;
    found(&answer.sent, "200, with the next nonce", next)
}

fn refused(answer: &FullResponse, scheme: &str, error: &str) -> Step {
    answer.expect(StatusCode::UNAUTHORIZED)?;
    let challenge = answer.expect_header("www-authenticate")?;
    let told = challenge.starts_with(scheme) && challenge.contains(error);
    expect(&answer.sent, challenge, told, true)?;
    passed(&answer.sent, format_args!("401 {error}"))
}

async fn replay(tour: &Tour<'_>, proof: &SignedProof, token: &str) -> Step {
    let answer = send(presenting(tour, proof, token)?).await?;
    refused(&answer, "DPoP", "invalid_dpop_proof")
}

async fn stolen_call(tour: &Tour<'_>, key: &SigningKey, token: &str, nonce: &str) -> Step {
    let (answer, _) = present(tour, key, token, nonce).await?;
    refused(&answer, "DPoP", "invalid_token")
}

async fn as_bearer(tour: &Tour<'_>, token: &str) -> Step {
    let answer = send(tour.bearing(Method::GET, CHARGES, token)?).await?;
    refused(&answer, "Bearer", "invalid_token")
}
