//! HTTP: connections of `--http` and of the Unix socket in, requests to `api.rs`, and their answers out. The protocol is hyper's; here
//! are its bounds of time and memory, which hold for every client.
//!
//! Tasks of a few threads answer, so a connection that waits takes no thread. An answer that is long is made as its client reads it.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use popfib_program::failure::Failure;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
#[cfg(feature = "tls")]
use tokio::time::timeout;
use tokio::time::{Instant, timeout_at};

use super::accept::{ListenerThread, accept};
use super::api::{self, HttpAccess, Trust};
use super::state::{CountedClient, FollowState};

/// The time for the head of a request, which is also that of silence before it and of agreeing on TLS, and the time for a request with its answer.
const PATIENCE: Duration = Duration::from_secs(10);
const EXCHANGE: Duration = Duration::from_secs(30);
/// The maximum number of connections to the listener.
const MAX_CONNECTIONS: usize = 512;
/// What a connection reads ahead, and the longest head.
const BUFFER: usize = 16 << 10;
/// The most threads that answer.
const MAX_THREADS: usize = 4;

/// The threads that answer, which are started for the first client and stay.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.min(MAX_THREADS))
        .enable_all()
        .build()?;
    Ok(RUNTIME.get_or_init(|| runtime))
}

/// Opens the listener and answers its clients.
pub(super) fn listen(
    state: &Arc<FollowState>,
    address: SocketAddr,
    access: &Arc<HttpAccess>,
) -> Result<ListenerThread, Failure> {
    let trust = Trust::Network(access.clone());
    let failed = |error| format!("--http {address}: {error}");
    let runtime = runtime().map_err(failed)?;
    #[cfg(feature = "tls")]
    let what = access.tls.as_ref().map_or("HTTP", |_| "HTTPS");
    #[cfg(not(feature = "tls"))]
    let what = "HTTP";
    let (accepting, state) = (state, state.clone());
    let each = move |client: TcpStream, _| {
        let (state, trust) = (state.clone(), trust.clone());
        runtime.spawn(async move {
            let Some(_counted) = CountedClient::enter(&state.http_connections, MAX_CONNECTIONS)
            else {
                return;
            };
            let _ = client.set_nonblocking(true);
            let _ = client.set_nodelay(true);
            let Ok(client) = tokio::net::TcpStream::from_std(client) else {
                return;
            };
            #[cfg(feature = "tls")]
            if let Trust::Network(access) = &trust
                && let Some(tls) = &access.tls
            {
                // Who does not speak TLS is no error.
                if let Ok(Ok(client)) = timeout(PATIENCE, tls.accept(client)).await {
                    serve(&state, client, &trust).await;
                }
                return;
            }
            serve(&state, client, &trust).await;
        });
    };
    Ok(accept(accepting, what, address, each).map_err(failed)?)
}

/// Answers the requests of a client of the Unix socket, of which this was read before.
pub(super) fn serve_socket(
    state: &Arc<FollowState>,
    read: Vec<u8>,
    client: std::os::unix::net::UnixStream,
) -> io::Result<()> {
    runtime()?.block_on(async {
        client.set_nonblocking(true)?;
        let (reader, writer) = tokio::net::UnixStream::from_std(client)?.into_split();
        let reader = tokio::io::AsyncReadExt::chain(&read[..], reader);
        serve(state, tokio::io::join(reader, writer), &Trust::Own).await;
        Ok(())
    })
}

/// Answers a connection until it ends, or a request and its answer have taken too long, however slowly data moves.
async fn serve(
    state: &Arc<FollowState>,
    client: impl AsyncRead + AsyncWrite + Unpin,
    trust: &Trust,
) {
    let until = Mutex::new(Instant::now() + EXCHANGE);
    let lock = || until.lock().unwrap_or_else(PoisonError::into_inner);
    let service = service_fn(|request| {
        *lock() = Instant::now() + EXCHANGE;
        let answer = api::answer(state, request, trust);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(BUFFER)
        .half_close(true)
        .serve_connection(TokioIo::new(client), service);
    let mut connection = pin!(connection);
    loop {
        let last = *lock();
        let ended = timeout_at(last, connection.as_mut()).await;
        // A client that has gone is no error; a later request has a time of its own.
        if ended.is_ok() || *lock() == last {
            return;
        }
    }
}
