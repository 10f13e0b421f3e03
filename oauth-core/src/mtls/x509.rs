//! Names in a certificate, read with `x509-cert`.

use std::net::{Ipv4Addr, Ipv6Addr};

use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

use super::distinguished_name::Attribute;
use super::{CertificateName, ClientCertificate};

/// Error for bytes that are not a certificate, and for a certificate with ambiguous names.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the names in the certificate cannot be read, or are ambiguous")]
pub struct UnreadableCertificate;

impl ClientCertificate {
    /// Creates a certificate from its DER bytes, with the names in it as verified names. For hosts
    /// whose TLS library returns only the bytes; see
    /// [`with_verified_names`](Self::with_verified_names).
    ///
    /// The subject is included if all its values are UTF-8 or ASCII text. Alternative names that
    /// are not a [`CertificateName`], such as wildcards, are left out.
    ///
    /// # Errors
    ///
    /// [`UnreadableCertificate`] when `x509-cert` cannot parse the certificate, or the certificate
    /// has two lists of alternative names. The host then adds no certificate to the request, or
    /// uses [`from_der`](Self::from_der).
    ///
    /// # Security
    ///
    /// This function verifies nothing. The TLS library must have verified the chain, as described
    /// at [`with_verified_names`](Self::with_verified_names).
    pub fn from_verified_der(der: &[u8]) -> Result<Self, UnreadableCertificate> {
        let names = names(der).ok_or(UnreadableCertificate)?;
        Ok(Self::from_der(der).with_verified_names(names))
    }
}

fn names(der: &[u8]) -> Option<Vec<CertificateName>> {
    let certificate = Certificate::from_der(der).ok()?;
    let certificate = certificate.tbs_certificate();
    // two lists are an error, because parsers differ in which list they use
    let alternatives = certificate.get_extension::<SubjectAltName>().ok()?;
    let alternatives = alternatives.map(|(_, names)| names.0).unwrap_or_default();
    let subject = subject(certificate.subject());
    Some(
        subject
            .into_iter()
            .chain(alternatives.iter().filter_map(alternative))
            .collect(),
    )
}

/// Returns the subject. Its sets of attributes are reversed, because a certificate begins with the
/// least specific set and text with the most specific.
fn subject(name: &Name) -> Option<CertificateName> {
    let sets: Option<Vec<Vec<Attribute>>> = name
        .iter_rdn()
        .map(|set| set.iter().map(attribute).collect())
        .collect();
    CertificateName::subject(sets?.into_iter().rev()).ok()
}

fn attribute(attribute: &AttributeTypeAndValue) -> Option<Attribute> {
    let value = match attribute.value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String => attribute.value.value(),
        _ => return None,
    };
    Some((attribute.oid.to_string(), str::from_utf8(value).ok()?.to_owned()))
}

fn alternative(name: &GeneralName) -> Option<CertificateName> {
    let name = match name {
        GeneralName::DnsName(name) => CertificateName::san_dns(name.as_str()),
        GeneralName::UniformResourceIdentifier(uri) => CertificateName::san_uri(uri.as_str()),
        GeneralName::Rfc822Name(mailbox) => CertificateName::san_email(mailbox.as_str()),
        GeneralName::IpAddress(octets) => CertificateName::san_ip(&address(octets.as_bytes())?),
        _ => return None,
    };
    name.ok()
}

fn address(octets: &[u8]) -> Option<String> {
    if let Ok(octets) = <[u8; 4]>::try_from(octets) {
        return Some(Ipv4Addr::from(octets).to_string());
    }
    let octets = <[u8; 16]>::try_from(octets).ok()?;
    Some(Ipv6Addr::from(octets).to_string())
}
