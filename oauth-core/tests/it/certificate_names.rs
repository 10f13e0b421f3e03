//! Names in certificates, as an authority and as an attacker writes them.

use std::net::IpAddr;

use oauth_core::mtls::{CertificateName, ClientCertificate, UnreadableCertificate};
use proptest::prelude::*;
use rcgen::{CertificateParams, CustomExtension, DnType, DnValue, KeyPair, SanType};

/// `subjectAltName`.
const SAN: [u64; 4] = [2, 5, 29, 17];

fn der(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    params.self_signed(&key).unwrap().der().to_vec()
}

fn read(der: &[u8]) -> ClientCertificate {
    ClientCertificate::from_verified_der(der).unwrap()
}

fn subject(name: &str) -> CertificateName {
    CertificateName::subject_dn(name).unwrap()
}

/// A list of alternative names, each with its tag and bytes.
fn list(names: &[(u8, &[u8])]) -> Vec<u8> {
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    let names: Vec<u8> = names
        .iter()
        .flat_map(|(tag, bytes)| [&[0x80 | tag, length(bytes)], *bytes].concat())
        .collect();
    [&[0x30, length(&names)], names.as_slice()].concat()
}

fn with_lists(lists: &[Vec<u8>]) -> Vec<u8> {
    der(|params| {
        params.custom_extensions = lists
            .iter()
            .map(|list| CustomExtension::from_oid_content(&SAN, list.clone()))
            .collect();
    })
}

/// O19, 12: each of the five names is read from its own field.
#[test]
fn the_names_of_a_certificate_are_read() {
    let address: IpAddr = "2001:db8::1".parse().unwrap();
    let der = der(|params| {
        let subject = &mut params.distinguished_name;
        subject.push(
            DnType::CountryName,
            DnValue::PrintableString("GB".try_into().unwrap()),
        );
        subject.push(DnType::OrganizationName, "Caf\u{e9}, Ltd");
        subject.push(DnType::CustomDnType(vec![2, 5, 4, 97]), "PSDGB-1");
        subject.push(DnType::CommonName, "robot");
        params.subject_alt_names = vec![
            SanType::DnsName("Robot.Example".try_into().unwrap()),
            SanType::DnsName("*.wild.example".try_into().unwrap()),
            SanType::URI("spiffe://example/robot".try_into().unwrap()),
            SanType::IpAddress(address),
            SanType::Rfc822Name("robot@Mail.Example".try_into().unwrap()),
        ];
    });
    let certificate = read(&der);
    for name in [
        CertificateName::subject_dn("CN=robot,2.5.4.97=PSDGB-1,O=Caf\u{e9}\\, Ltd,C=GB"),
        CertificateName::san_dns("robot.example"),
        CertificateName::san_uri("spiffe://example/robot"),
        CertificateName::san_ip("2001:db8:0::1"),
        CertificateName::san_email("robot@mail.example"),
    ] {
        let name = name.unwrap();
        assert!(certificate.bears(&name), "{name}");
    }
    for name in [
        CertificateName::subject_dn("CN=robot"),
        CertificateName::subject_dn("C=GB,O=Caf\u{e9}\\, Ltd,2.5.4.97=PSDGB-1,CN=robot"),
        CertificateName::san_dns("robot"),
        CertificateName::san_dns("a.wild.example"),
        CertificateName::san_email("robot@robot.example"),
    ] {
        let name = name.unwrap();
        assert!(!certificate.bears(&name), "{name}");
    }
    assert_eq!(
        certificate.thumbprint(),
        ClientCertificate::from_der(&der).thumbprint()
    );
    // the same bytes, without the signature of an authority
    assert!(!ClientCertificate::from_der(&der).bears(&CertificateName::san_dns("robot.example").unwrap()));
}

/// O19, 12: a value that contains the syntax of a name stays one value.
#[test]
fn value_of_subject_is_not_parsed_as_name() {
    for value in [
        "robot,O=Example",
        "robot+O=Example",
        "robot\0",
        " robot",
        "robot ",
        "#robot",
        "robot\\,O=Example",
    ] {
        let certificate = read(&der(|params| {
            params.distinguished_name.push(DnType::CommonName, value);
        }));
        for name in ["CN=robot,O=Example", "CN=robot+O=Example", "CN=robot"] {
            assert!(!certificate.bears(&subject(name)), "{value:?} {name}");
        }
    }
    let certificate = read(&der(|params| {
        params
            .distinguished_name
            .push(DnType::CommonName, "robot,O=Example");
    }));
    assert!(certificate.bears(&subject("CN=robot\\,O=Example")));
}

/// O19, 12: a subject with a value that is not text, and an empty subject, match nothing;
/// alternative names still count.
#[test]
fn subject_without_text_matches_nothing() {
    let alternative = || vec![SanType::DnsName("robot.example".try_into().unwrap())];
    for value in [
        DnValue::BmpString("robot".try_into().unwrap()),
        DnValue::TeletexString("robot".try_into().unwrap()),
    ] {
        let certificate = read(&der(|params| {
            params
                .distinguished_name
                .push(DnType::OrganizationName, "Example");
            params.distinguished_name.push(DnType::CommonName, value);
            params.subject_alt_names = alternative();
        }));
        assert!(!certificate.bears(&subject("CN=robot,O=Example")));
        assert!(!certificate.bears(&subject("O=Example")));
        assert!(certificate.bears(&CertificateName::san_dns("robot.example").unwrap()));
    }
    let nameless = read(&der(|_| {}));
    assert!(nameless.is_verified() && !nameless.bears(&subject("CN=robot")));
}

/// O19, 12: an alternative name matches nothing if it has a NUL, is in the wrong field, or has the
/// wrong length for an address.
#[test]
fn ambiguous_alternative_name_matches_nothing() {
    let (email, dns, uri, ip) = (1, 2, 6, 7);
    let certificate = read(&with_lists(&[list(&[
        (dns, b"robot.example\0.evil.example"),
        (dns, b"robot.example."),
        (dns, b" robot.example"),
        (email, b"robot.example"),
        (uri, b"robot.example"),
        (ip, b"\xc0\x00\x02\x01\xff\xff\xff\x00"),
        (ip, b"\xc0\x00\x02"),
        (ip, b"\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\x00\x02\x01"),
        (ip, b""),
    ])]));
    for name in [
        CertificateName::san_dns("robot.example"),
        CertificateName::san_ip("192.0.2.1"),
        CertificateName::subject_dn("CN=robot.example"),
    ] {
        let name = name.unwrap();
        assert!(!certificate.bears(&name), "{name}");
    }
    assert!(certificate.bears(&CertificateName::san_ip("::ffff:192.0.2.1").unwrap()));
}

/// O19, 12: a certificate with two name lists, and data that is no certificate, are unreadable,
/// because readers may differ on them.
#[test]
fn ambiguous_certificate_is_unreadable() {
    let (dns, own) = (2, list(&[(2, b"robot.example")]));
    assert!(ClientCertificate::from_verified_der(&with_lists(std::slice::from_ref(&own))).is_ok());
    let other = list(&[(dns, b"evil.example")]);
    let whole = der(|_| {});
    let (_, cut) = whole.split_last().unwrap();
    for der in [
        with_lists(&[own.clone(), other]),
        with_lists(&[own.clone(), own]),
        with_lists(&[b"\x30\x05".to_vec()]),
        der(|params| {
            let value = DnValue::UniversalString("robot".try_into().unwrap());
            params.distinguished_name.push(DnType::CommonName, value);
        }),
        with_lists(&[list(&[(dns, b"caf\xe9.example")])]),
        [whole.as_slice(), &[0]].concat(),
        cut.to_vec(),
        Vec::new(),
        b"-----BEGIN CERTIFICATE-----".to_vec(),
    ] {
        assert_eq!(
            ClientCertificate::from_verified_der(&der),
            Err(UnreadableCertificate)
        );
    }
}

proptest! {
    #[test]
    fn certificate_parser_never_panics(at in 0_usize..400, byte: u8, cut in 0_usize..500) {
        static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| der(|params| {
            params.distinguished_name.push(DnType::CommonName, "robot");
            params.subject_alt_names = vec![SanType::DnsName("robot.example".try_into().unwrap())];
        }));
        let mut der = WHOLE.clone();
        if let Some(changed) = der.get_mut(at) {
            *changed = byte;
        }
        drop(ClientCertificate::from_verified_der(der.get(..cut).unwrap_or(&der)));
    }
}
