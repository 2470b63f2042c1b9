//! A connection and the name of its host in, the same with TLS out. Whom it trusts is what this machine has, or the file that the
//! variable SSL_CERT_FILE names.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Error, RootCertStore, StreamOwned};
use rustls_native_certs::load_native_certs;

/// What helps if the other side's certificate is refused.
const TRUSTED: &str = "SSL_CERT_FILE names a file of certificates to trust, in PEM";

/// Agrees on TLS with the other side, which has to be this host.
pub(crate) fn connect(
    host: &str,
    mut stream: TcpStream,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    static SETTINGS: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let settings = SETTINGS.get_or_init(settings).clone()?;
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| format!("{host:?} is no name of a host"))?;
    let client = ClientConnection::new(settings, name);
    let mut client = client.map_err(|error| error.to_string())?;
    while client.is_handshaking() {
        client.complete_io(&mut stream).map_err(refused)?;
    }
    Ok(StreamOwned::new(client, stream))
}

fn refused(error: io::Error) -> String {
    let reason = error.get_ref().and_then(|reason| reason.downcast_ref());
    match reason {
        Some(Error::InvalidCertificate(_)) => format!("{error}; {TRUSTED}"),
        _ => format!("TLS: {error}"),
    }
}

fn settings() -> Result<Arc<ClientConfig>, String> {
    let found = load_native_certs();
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        let reason = found.errors.first().map(ToString::to_string);
        let reason = reason.unwrap_or_else(|| "there are no certificates to trust".to_owned());
        return Err(format!("{reason}; {TRUSTED}"));
    }
    // Named, as the default depends on what else a program is built with.
    let settings = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let settings = settings.with_root_certificates(trusted);
    Ok(Arc::new(settings.with_no_client_auth()))
}
