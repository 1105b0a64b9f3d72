//! A connection whose client has to read: if it takes nothing of what it is sent for some
//! time, the connection ends, and with it what is held for it.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream that fails when nothing of what is written is taken in time.
#[derive(Debug)]
pub(super) struct Written<S> {
    stream: S,
    patience: Duration,
    /// Until when something has to be taken, while something waits.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<S> Written<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            stuck: None,
        }
    }
}

impl<S: AsyncWrite + Unpin> Written<S> {
    /// Returns what a write returned, or that it has waited for too long.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let patience = self.patience;
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stuck.as_mut().poll(context));
        Poll::Ready(Err(Error::new(
            ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Written<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Written<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(context, written)
    }

    /// Without it, parts would be copied, and copies have no room (`answers`).
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_client_that_does_not_read_is_given_up() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut server = Written::new(server, Duration::from_millis(50));
        let failed = server.write_all(&[7; 5_000]).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
        drop(server);
        let mut taken = Vec::new();
        client.read_to_end(&mut taken).await.unwrap();
        assert_eq!(taken.len(), 1024);
    }

    /// One that is slow has the time again whenever it has read something.
    #[tokio::test]
    async fn a_client_that_reads_slowly_is_not() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut server = Written::new(server, Duration::from_mins(1));
        let writing = tokio::spawn(async move {
            server.write_all(&[7; 5_000]).await.unwrap();
            assert!(server.stuck.is_none());
        });
        let (mut taken, mut part) = (0, [0; 100]);
        while taken < 5_000 {
            taken += client.read(&mut part).await.unwrap();
            tokio::task::yield_now().await;
        }
        writing.await.unwrap();
    }
}
