//! `webhook verify`: verifies a captured message, and explains a failure.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use webhook_core::receiver::{Head, VerifyFailure, diagnosis::Finding};

use crate::{Failure, args::Args, failed, keys, show, usage};

pub(crate) fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let [provider, url] = keys::PROVIDER;
    let valued = [
        scheme,
        secret,
        file,
        provider,
        url,
        "--header",
        "--now",
        "--tolerance",
        "--method",
    ];
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
            .ok_or_else(|| usage("--now is out of range"))?,
    };
    let headers = headers(&args)?;
    let method: Option<Method> = args.read("--method", "a method of HTTP")?;
    let head = Head {
        method: &method.unwrap_or(Method::POST),
        query: keys::url(&args)?.1,
        headers: &headers,
    };
    let body = show::stdin()?;
    match verifier.verify(head, body.clone(), now) {
        Ok(verified) => {
            let time = verified.timestamp().map(show::time);
            let time = time.map_or_else(String::new, |time| format!(", signed at {time}"));
            show::line(&format!("verified: {}{time}", verified.provider().name()));
            Ok(())
        }
        Err(error) => {
            let is_asked = args.has("--explain") || args.has("--as");
            let finding = is_asked.then(|| diagnosis.finding(head, &body, now));
            Err(failed(format!(
                "not verified: {}{}",
                words_of(error.reason()),
                explained(finding)
            )))
        }
    }
}

/// The headers as given, with repetitions.
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
        // no HTTP message can have such a header
        let value = HeaderValue::from_bytes(value.trim_matches([' ', '\t']).as_bytes()).map_err(|_| {
            failed(format!(
                "not verified: {name} has a character that is invalid in a header"
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
        // the diagnosis ran a moment after the verification
        Some(Finding::Verifies) => {
            "\n  likely: a clock that is slightly behind; the message verifies now".to_owned()
        }
        Some(Finding::Unexplained) => {
            "\n  likely: another secret or another body; no common mistake fits".to_owned()
        }
        Some(Finding::Explained(causes)) => causes
            .iter()
            .map(|cause| format!("\n  likely: {cause}"))
            .collect(),
    }
}

/// Reason in words, for the holder of the secret.
pub(crate) fn words_of(failure: VerifyFailure) -> String {
    match failure {
        VerifyFailure::NoUrl => "the scheme signs the URL: give it with --url".to_owned(),
        other => other.to_string(),
    }
}
