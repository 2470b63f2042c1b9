//! Bodies of answers by HTTP: whole ones, and parts that a task or a thread makes as the client reads them.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::threads;

/// The size of a part.
pub(super) const PART: usize = 64 << 10;

/// The body of an answer.
pub(super) enum HttpBody {
    Whole(Bytes),
    /// Parts as they are made, and `None` after the last; what ends without it was broken off.
    Parts(Receiver<Option<Bytes>>),
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let part = match &mut *self {
            Self::Whole(bytes) => Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            Self::Parts(parts) => match ready!(parts.poll_recv(context)) {
                Some(part) => part,
                None => return Poll::Ready(Some(Err(io::ErrorKind::BrokenPipe.into()))),
            },
        };
        Poll::Ready(part.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Parts(_) => SizeHint::default(),
        }
    }
}

/// Where the parts of a body come from.
pub(super) struct HttpParts {
    /// What is to be appended to; it is sent by [`send_long`](Self::send_long) and [`finish`](Self::finish).
    pub(super) part: Vec<u8>,
    to: Sender<Option<Bytes>>,
    _place: OwnedSemaphorePermit,
}

impl HttpParts {
    /// A body, and what makes it in this place.
    pub(super) fn new(place: OwnedSemaphorePermit) -> (Self, HttpBody) {
        let (to, parts) = channel(1);
        let made = Self {
            part: Vec::new(),
            to,
            _place: place,
        };
        (made, HttpBody::Parts(parts))
    }

    /// Sends what there is if it is enough for a part; an error if the client has gone.
    pub(super) async fn send_long(&mut self) -> io::Result<()> {
        if self.part.len() < PART {
            return Ok(());
        }
        let part = std::mem::take(&mut self.part);
        self.send(Some(part.into())).await
    }

    pub(super) async fn finish(mut self) -> io::Result<()> {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            self.send(Some(part.into())).await?;
        }
        self.send(None).await
    }

    async fn send(&self, part: Option<Bytes>) -> io::Result<()> {
        let sent = self.to.send(part).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Makes the body by a thread that `write`s it, and waits for its client meanwhile.
    pub(super) fn write(
        mut self,
        write: impl FnOnce(&mut Self) -> io::Result<()> + Send + 'static,
    ) -> Result<(), String> {
        threads::start(move || {
            // A client that has gone is no error.
            if write(&mut self).is_ok() && self.send_waiting().is_ok() {
                let _ = self.to.blocking_send(None);
            }
        })?;
        Ok(())
    }

    fn send_waiting(&mut self) -> io::Result<()> {
        let part = std::mem::take(&mut self.part);
        // An empty chunk would be the last.
        if part.is_empty() {
            return Ok(());
        }
        let sent = self.to.blocking_send(Some(part.into()));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// In a thread that may wait.
impl Write for HttpParts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() >= PART {
            self.send_waiting()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
