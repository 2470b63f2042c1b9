//! Certificate and private key of `--http-certificate` and `--http-key` in, connections with TLS out.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// What a listener shows of itself to its clients.
pub(super) struct HttpTls {
    acceptor: TlsAcceptor,
    /// What the two files had in them.
    texts: [Vec<u8>; 2],
}

/// Whether the files are the same: a certificate is renewed under its name.
impl PartialEq for HttpTls {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl HttpTls {
    /// Reads a chain of certificates and the key of the first.
    pub(super) fn read(certificate: &Path, key: &Path) -> Result<Self, String> {
        let failed = |path: &Path, reason: &dyn Display| format!("{}: {reason}", path.display());
        let read = |path| fs::read(path).map_err(|error| failed(path, &error));
        let texts = [read(certificate)?, read(key)?];
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&texts[0]).collect();
        let chain = chain.map_err(|error| failed(certificate, &error))?;
        if chain.is_empty() {
            return Err(failed(certificate, &"there is no certificate in it (PEM)"));
        }
        let secret = PrivateKeyDer::from_pem_slice(&texts[1]).map_err(|error| match error {
            Error::NoItemsFound => failed(key, &"there is no key without a passphrase in it (PEM)"),
            error => failed(key, &error),
        })?;
        // Named, as the default depends on what else a program is built with.
        let settings = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .and_then(|settings| {
                let settings = settings.with_no_client_auth();
                settings.with_single_cert(chain, secret)
            });
        let mut settings = settings.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                let reason = format!("not the key of {}", certificate.display());
                failed(key, &reason)
            }
            error => failed(certificate, &error),
        })?;
        settings.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(settings)),
            texts,
        })
    }

    /// A connection whose client has agreed on TLS.
    pub(super) async fn accept(&self, client: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(client).await
    }
}
