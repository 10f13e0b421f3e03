//! Attacks a server with raw requests.

use std::fmt::Write as _;
use std::net::ToSocketAddrs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host_adapter_conformance::attacks::{self, Attack, Target};
use http::Uri;
use serde_json::json;

/// Attacks that run at the same time.
const PARALLEL: usize = 16;
/// Time limit of one attack. It exceeds the usual time limits of servers, which are at most 30 s.
const PATIENCE: Duration = Duration::from_secs(40);

/// Findings of all attacks on one server.
#[derive(Clone, Debug, Default)]
pub struct AttackReport {
    attacks: usize,
    /// In the order of the attacks.
    findings: Vec<(usize, Attack, String)>,
}

/// Runs the attacks of [`host_adapter_conformance::attacks`] on the server of the URL `base`,
/// except the attacks named in `excepted`. The resource at `path` must answer GET and POST without
/// a 5xx.
///
/// # Errors
///
/// `base` has no host that resolves, or a name in `excepted` is not that of an attack.
pub fn attack(base: &str, path: &str, excepted: &[String]) -> Result<AttackReport, String> {
    let target = target(base, path)?;
    let all = attacks::all();
    if let Some(unknown) = excepted
        .iter()
        .find(|name| all.iter().all(|attack| attack.name != **name))
    {
        return Err(format!("--except: no attack is named {unknown:?}"));
    }
    let attacks: Vec<_> = all
        .into_iter()
        .filter(|attack| excepted.iter().all(|name| attack.name != *name))
        .collect();
    let mut report = AttackReport {
        attacks: attacks.len(),
        findings: Vec::new(),
    };
    let (next, findings) = (
        Mutex::new(attacks.into_iter().enumerate()),
        Mutex::new(&mut report.findings),
    );
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some((index, attack)) = take() {
                    if let Err(finding) = attacks::run(&attack, &target) {
                        let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
                        findings.push((index, attack, finding));
                    }
                }
            });
        }
    });
    report.findings.sort_by_key(|(index, ..)| *index);
    Ok(report)
}

fn target(base: &str, path: &str) -> Result<Target, String> {
    let invalid = || format!("{base} is not the URL of a server, for example http://127.0.0.1:8080");
    let url: Uri = base.parse().map_err(|_| invalid())?;
    let host = url.authority().ok_or_else(invalid)?;
    let address = (
        host.host().trim_matches(['[', ']']),
        host.port_u16().unwrap_or(80),
    );
    let address = address.to_socket_addrs().ok().and_then(|mut found| found.next());
    Ok(Target {
        address: address.ok_or_else(invalid)?,
        host: host.as_str().to_owned(),
        path: path.to_owned(),
        patience: PATIENCE,
    })
}

impl AttackReport {
    /// Returns `true` if the server withstood all attacks.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Formats one line per finding, and a last line with the numbers of findings and attacks.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (_, attack, finding) in &self.findings {
            // writing to a string never fails
            let _written = writeln!(text, "{} ({}): {finding}", attack.name, attack.section);
        }
        let _written = write!(
            text,
            "{} findings in {} attacks",
            self.findings.len(),
            self.attacks
        );
        text
    }

    /// Formats the report as one JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<_> = self
            .findings
            .iter()
            .map(|(_, attack, finding)| {
                json!({ "attack": attack.name, "section": attack.section, "detail": finding })
            })
            .collect();
        json!({ "attacks": self.attacks, "findings": findings }).to_string()
    }
}
