//! `webhook verify`: whether a captured message is right, and if not, why.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};
use webhook_core::receiver::{VerifyFailure, diagnosis::Finding};

use crate::{Failure, args::Args, failed, keys, show, usage};

pub(crate) fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let valued = [scheme, secret, file, "--header", "--now", "--tolerance"];
    let args = Args::parse(words, &valued, &["--explain"])?.without_operands()?;
    let (mut verifier, mut diagnosis) = keys::verifier(&args)?;
    let tolerance: Option<u64> = args.read("--tolerance", "whole seconds")?;
    if let Some(tolerance) = tolerance.map(Duration::from_secs) {
        (verifier, diagnosis) = (
            verifier.with_tolerance(tolerance),
            diagnosis.with_tolerance(tolerance),
        );
    }
    let now: Option<u64> = args.read("--now", "whole Unix seconds")?;
    let now = match now {
        None => SystemTime::now(),
        Some(seconds) => SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_secs(seconds))
            .ok_or_else(|| usage("--now is beyond the end of time"))?,
    };
    let headers = headers(&args)?;
    let body = show::stdin()?;
    match verifier.verify(&headers, body.clone(), now) {
        Ok(verified) => {
            show::line(&format!(
                "verified: {}, signed at {}",
                verified.scheme(),
                show::time(verified.timestamp())
            ));
            Ok(())
        }
        Err(error) => {
            let is_asked = args.has("--explain");
            let finding = is_asked.then(|| diagnosis.finding(&headers, &body, now));
            Err(failed(format!(
                "not verified: {}{}",
                words_of(error.reason()),
                explained(finding)
            )))
        }
    }
}

/// The headers as given, repeats included.
fn headers(args: &Args) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for header in args.all("--header") {
        let malformed = || {
            usage(format!(
                "--header does not take `{}`: Name: value",
                show::word(header)
            ))
        };
        let (name, value) = header.split_once(':').ok_or_else(malformed)?;
        let name: HeaderName = name.parse().map_err(|_| malformed())?;
        // a message with such a header cannot have come over HTTP
        let value = HeaderValue::from_bytes(value.trim_matches([' ', '\t']).as_bytes()).map_err(|_| {
            failed(format!(
                "not verified: {name} has a character that no header can carry"
            ))
        })?;
        headers
            .try_append(name, value)
            .map_err(|_| usage("too many headers"))?;
    }
    Ok(headers)
}

/// One line for each cause.
pub(crate) fn explained(finding: Option<Finding>) -> String {
    match finding {
        None => String::new(),
        // asked a moment after the verifier was
        Some(Finding::Verifies) => {
            "\n  likely: a clock that is a little behind; it verifies by now".to_owned()
        }
        Some(Finding::Unexplained) => {
            "\n  likely: another secret altogether, or another body; none of the usual mistakes".to_owned()
        }
        Some(Finding::Explained(causes)) => causes
            .iter()
            .map(|cause| format!("\n  likely: {cause}"))
            .collect(),
    }
}

/// The reason in words, for whoever holds the secret.
pub(crate) fn words_of(failure: VerifyFailure) -> &'static str {
    match failure {
        VerifyFailure::MissingHeader => "a header is missing",
        VerifyFailure::RepeatedHeader => "a header appears twice",
        VerifyFailure::InvalidId => "the id is malformed",
        VerifyFailure::InvalidTimestamp => "the timestamp is malformed",
        VerifyFailure::TooManySignatures => "there are too many signatures",
        VerifyFailure::NoUsableSignature => "no signature has the form of the scheme",
        VerifyFailure::Mismatch => "no signature is right",
        VerifyFailure::TooOld => "rightly signed, but too long ago",
        VerifyFailure::TooNew => "rightly signed, but in the future",
        VerifyFailure::MissingEnvelopeId => "rightly signed, but the body has no id",
        VerifyFailure::IdMismatch => "rightly signed, but the id is not the one in the body",
        _ => "for another reason",
    }
}
