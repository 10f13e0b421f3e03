use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::distinguished_name;

/// Error for a text that is not a certificate name of the required kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a certificate name of this kind")]
pub struct InvalidCertificateName;

/// Name in a client certificate, together with the field of the certificate that contains it. A
/// `tls_client_auth` client is registered with such a name, [RFC 8705
/// §2.1.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.1.2).
///
/// A client is registered with exactly one name. Two names are equal only if field and whole text
/// are equal: no wildcards, no partial matches. The name is serialized as the corresponding member
/// of the client metadata.
///
/// ```
/// use oauth_core::mtls::CertificateName;
///
/// let name = CertificateName::subject_dn("CN=robot, O=Example Ltd, C=GB")?;
/// assert_eq!(name, CertificateName::subject_dn("cn=robot,o=Example Ltd,c=GB")?);
/// assert_eq!(
///     serde_json::to_string(&name)?,
///     r#"{"tls_client_auth_subject_dn":"CN=robot,O=Example Ltd,C=GB"}"#
/// );
/// let robot = CertificateName::san_dns("robot.example")?;
/// assert_ne!(robot, CertificateName::san_dns("robot.example.org")?);
/// assert!(CertificateName::san_dns("*.example").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct CertificateName {
    field: Field,
    /// Canonical form.
    text: String,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Field {
    SubjectDn,
    SanDns,
    SanUri,
    SanIp,
    SanEmail,
}

impl CertificateName {
    /// Creates `tls_client_auth_subject_dn`: the whole subject, as text of [RFC
    /// 4514](https://www.rfc-editor.org/rfc/rfc4514), the most specific part first.
    ///
    /// Names are equal if they have the same attribute types and values in the same order. Types
    /// are compared by number, values byte for byte. A type is a keyword of RFC 4514,
    /// `serialNumber`, `emailAddress` or a dotted number. Values must be text.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificateName`] when the text is not a distinguished name, is empty, or has
    /// values in hexadecimal BER.
    pub fn subject_dn(text: &str) -> Result<Self, InvalidCertificateName> {
        Self::of(Field::SubjectDn, distinguished_name::canonical(text))
    }

    /// Creates `tls_client_auth_san_dns`: a `dNSName`, compared without regard to letter case.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificateName`] when the text is not an ASCII domain name, or is a wildcard.
    pub fn san_dns(text: &str) -> Result<Self, InvalidCertificateName> {
        Self::of(Field::SanDns, is_domain(text).then(|| text.to_ascii_lowercase()))
    }

    /// Creates `tls_client_auth_san_uri`: a `uniformResourceIdentifier`, compared byte for byte.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificateName`] when the text is not a URI with a scheme.
    pub fn san_uri(text: &str) -> Result<Self, InvalidCertificateName> {
        Self::of(Field::SanUri, is_uri(text).then(|| text.to_owned()))
    }

    /// Creates `tls_client_auth_san_ip`: an `iPAddress`, compared as an address, not as text. An
    /// IPv4 address never equals an IPv6 address.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificateName`] when the text is not an IP address.
    pub fn san_ip(text: &str) -> Result<Self, InvalidCertificateName> {
        let address = text.parse::<IpAddr>().ok();
        Self::of(Field::SanIp, address.map(|address| address.to_string()))
    }

    /// Creates `tls_client_auth_san_email`: an `rfc822Name`, compared byte for byte before the `@`,
    /// and without regard to letter case after it ([RFC 5280
    /// §7.5](https://www.rfc-editor.org/rfc/rfc5280#section-7.5)).
    ///
    /// # Errors
    ///
    /// [`InvalidCertificateName`] when the text is not an ASCII mailbox address.
    pub fn san_email(text: &str) -> Result<Self, InvalidCertificateName> {
        let mailbox = text
            .rsplit_once('@')
            .filter(|(local, host)| !local.is_empty() && is_printable(local) && is_domain(host));
        let text = mailbox.map(|(local, host)| format!("{local}@{}", host.to_ascii_lowercase()));
        Self::of(Field::SanEmail, text)
    }

    /// Creates `tls_client_auth_subject_dn` from the sets of attributes, the most specific first.
    #[cfg(feature = "x509")]
    pub(super) fn subject(
        sets: impl IntoIterator<Item = Vec<distinguished_name::Attribute>>,
    ) -> Result<Self, InvalidCertificateName> {
        Self::of(Field::SubjectDn, distinguished_name::spelled(sets))
    }

    /// Returns the name of the client metadata parameter: `tls_client_auth_subject_dn`,
    /// `tls_client_auth_san_dns`, …
    #[must_use]
    pub const fn metadata_parameter(&self) -> &'static str {
        match self.field {
            Field::SubjectDn => "tls_client_auth_subject_dn",
            Field::SanDns => "tls_client_auth_san_dns",
            Field::SanUri => "tls_client_auth_san_uri",
            Field::SanIp => "tls_client_auth_san_ip",
            Field::SanEmail => "tls_client_auth_san_email",
        }
    }

    /// Returns the canonical form of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn of(field: Field, text: Option<String>) -> Result<Self, InvalidCertificateName> {
        let text = text.ok_or(InvalidCertificateName)?;
        Ok(Self { field, text })
    }
}

/// Writes the field and the name, for logs, for example `DNS:robot.example`.
impl fmt::Display for CertificateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.field {
            Field::SubjectDn => "subject",
            Field::SanDns => "DNS",
            Field::SanUri => "URI",
            Field::SanIp => "IP",
            Field::SanEmail => "email",
        };
        write!(f, "{field}:{}", self.text)
    }
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    is_printable(text)
        && text
            .split_once(':')
            .is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Stored form: exactly one of the five members.
#[derive(Deserialize, Serialize)]
enum Wire {
    #[serde(rename = "tls_client_auth_subject_dn")]
    SubjectDn(String),
    #[serde(rename = "tls_client_auth_san_dns")]
    SanDns(String),
    #[serde(rename = "tls_client_auth_san_uri")]
    SanUri(String),
    #[serde(rename = "tls_client_auth_san_ip")]
    SanIp(String),
    #[serde(rename = "tls_client_auth_san_email")]
    SanEmail(String),
}

impl From<CertificateName> for Wire {
    fn from(CertificateName { field, text }: CertificateName) -> Self {
        match field {
            Field::SubjectDn => Self::SubjectDn(text),
            Field::SanDns => Self::SanDns(text),
            Field::SanUri => Self::SanUri(text),
            Field::SanIp => Self::SanIp(text),
            Field::SanEmail => Self::SanEmail(text),
        }
    }
}

impl TryFrom<Wire> for CertificateName {
    type Error = InvalidCertificateName;

    fn try_from(wire: Wire) -> Result<Self, InvalidCertificateName> {
        match wire {
            Wire::SubjectDn(text) => Self::subject_dn(&text),
            Wire::SanDns(text) => Self::san_dns(&text),
            Wire::SanUri(text) => Self::san_uri(&text),
            Wire::SanIp(text) => Self::san_ip(&text),
            Wire::SanEmail(text) => Self::san_email(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parse = fn(&str) -> Result<CertificateName, InvalidCertificateName>;

    const DNS: Parse = CertificateName::san_dns;
    const URI: Parse = CertificateName::san_uri;
    const IP: Parse = CertificateName::san_ip;
    const EMAIL: Parse = CertificateName::san_email;
    const DN: Parse = CertificateName::subject_dn;

    /// O19, 12: names are equal only as a whole. Only domain names and attribute types ignore
    /// letter case.
    #[test]
    fn names_are_equal_as_a_whole() {
        for (parse, one, other, equal) in [
            (DNS, "robot.example", "Robot.EXAMPLE", true),
            (DNS, "robot.example", "a.robot.example", false),
            (DNS, "robot.example", "robot.example.org", false),
            (DNS, "robot.example", "obot.example", false),
            (URI, "spiffe://a/robot", "spiffe://a/robot", true),
            (URI, "spiffe://a/robot", "spiffe://A/robot", false),
            (URI, "spiffe://a/robot", "spiffe://a/robot/", false),
            (URI, "spiffe://a/robot", "spiffe://a/robots", false),
            (IP, "192.0.2.1", "192.0.2.1", true),
            (IP, "2001:db8::1", "2001:DB8:0:0::1", true),
            (IP, "192.0.2.1", "192.0.2.10", false),
            (IP, "192.0.2.1", "::ffff:192.0.2.1", false),
            (EMAIL, "robot@mail.example", "robot@MAIL.example", true),
            (EMAIL, "robot@mail.example", "Robot@mail.example", false),
            (EMAIL, "robot@mail.example", "a.robot@mail.example", false),
            (EMAIL, "robot@mail.example", "robot@mail.example.org", false),
            (DN, "CN=robot,O=a", "cn=robot, o=a", true),
            (DN, "CN=robot,O=a", "CN=Robot,O=a", false),
            (DN, "CN=robot,O=a", "O=a,CN=robot", false),
            (DN, "CN=robot,O=a", "CN=robot", false),
            (DN, "CN=robot,O=a", "CN=robot+O=a", false),
            (DN, "CN=robot,O=a", "CN=robot\\,O=a", false),
        ] {
            assert_eq!(
                parse(one).unwrap() == parse(other).unwrap(),
                equal,
                "{one} {other}"
            );
        }
    }

    /// O19, 12: the same text in another field is another name.
    #[test]
    fn a_name_is_of_one_field() {
        let names = [
            DNS("10.0.0.1").unwrap(),
            IP("10.0.0.1").unwrap(),
            URI("mailto:robot@a").unwrap(),
            EMAIL("mailto:robot@a").unwrap(),
        ];
        for (index, one) in names.iter().enumerate() {
            let equal = names.iter().filter(|other| *other == one).count();
            assert_eq!(equal, 1, "{index}");
        }
    }

    /// O19, 12: wildcards, empty names and invalid names are refused.
    #[test]
    fn rejects_names_of_another_kind() {
        let long = "a".repeat(64);
        for (parse, text) in [
            (DNS, ""),
            (DNS, "*"),
            (DNS, "*.example"),
            (DNS, ".example"),
            (DNS, "example."),
            (DNS, "a b"),
            (DNS, "caf\u{e9}.example"),
            (DNS, "robot.example\0.evil.example"),
            (DNS, &long),
            (URI, ""),
            (URI, "robot"),
            (URI, ":robot"),
            (URI, "spiffe:"),
            (URI, "1:a"),
            (URI, "spiffe://a/ robot"),
            (IP, ""),
            (IP, "192.0.2"),
            (IP, "192.0.2.0/24"),
            (IP, "[::1]"),
            (EMAIL, ""),
            (EMAIL, "robot"),
            (EMAIL, "@a.example"),
            (EMAIL, "robot@"),
            (EMAIL, "robot@*.example"),
            (EMAIL, "Robot <robot@a.example>"),
        ] {
            assert_eq!(parse(text), Err(InvalidCertificateName), "{text:?}");
        }
    }

    /// O19, O25, 12: exactly one of the five members is stored, and it is checked when read.
    #[test]
    fn a_record_has_exactly_one_name() {
        let read = |text: &str| serde_json::from_str::<CertificateName>(text).ok();
        for name in [
            DN("CN=a\\, b,C=GB"),
            DNS("a.example"),
            URI("spiffe://a/b"),
            IP("::1"),
            EMAIL("a@b"),
        ] {
            let name = name.unwrap();
            assert_eq!(read(&serde_json::to_string(&name).unwrap()), Some(name));
        }
        for text in [
            r#"{}"#,
            r#"{"tls_client_auth_san_dns":"a.example","tls_client_auth_san_ip":"::1"}"#,
            r#"{"tls_client_auth_san_dns":"a.example","tls_client_auth_san_dns":"b.example"}"#,
            r#"{"tls_client_auth_san_dns":["a.example","b.example"]}"#,
            r#"{"tls_client_auth_san_dns":"*.example"}"#,
            r#"{"tls_client_auth_subject_dn":""}"#,
            r#"{"san_dns":"a.example"}"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
