//! Files that the settings name: the certificate and its key.

use std::path::Path;

use host_tls::Tls;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::cli::TlsFiles;

/// Certificate chain and private key.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Reads the certificate and its key.
///
/// # Errors
///
/// A text that names the flag, the file and the fault.
pub(crate) fn open(files: &TlsFiles) -> Result<Tls, String> {
    let (chain, key) = read(files)?;
    Tls::new(chain, key, None).map_err(|error| unusable(files, &error))
}

/// Reads the files again, for new connections.
///
/// # Errors
///
/// As [`open`]. The former certificate stays in use.
pub(crate) fn reload(files: &TlsFiles, tls: &Tls) -> Result<(), String> {
    let (chain, key) = read(files)?;
    tls.replace_certificate(chain, key)
        .map_err(|error| unusable(files, &error))
}

fn read(files: &TlsFiles) -> Result<Identity, String> {
    let text = read_file("--tls-cert", &files.certificate)?;
    let chain = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let path = files.certificate.display();
    let chain = chain.ok_or_else(|| format!("--tls-cert: `{path}` has no certificate in PEM"))?;
    let key = PrivateKeyDer::from_pem_slice(&read_file("--tls-key", &files.key)?);
    // the cause may quote the file
    let key = key.map_err(|_| format!("--tls-key: `{}` has no private key in PEM", files.key.display()))?;
    Ok((chain, key))
}

fn read_file(flag: &str, path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{flag}: cannot read `{}`: {error}", path.display()))
}

fn unusable(files: &TlsFiles, error: &rustls::Error) -> String {
    let (key, certificate) = (files.key.display(), files.certificate.display());
    format!("--tls-key: `{key}` does not fit the certificate `{certificate}`: {error}")
}
