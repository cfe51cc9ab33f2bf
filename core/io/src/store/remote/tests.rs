//! The remote store against `object_store`'s memory, plain and with scripted answers to puts.

use std::sync::Mutex;

use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, PutMultipartOptions,
    PutOptions, PutResult,
};

use super::*;

/// What happens to the next put.
#[derive(Debug, Clone, Copy)]
enum Script {
    /// S3's 409 for a request that raced with another one that then failed.
    ConflictWithoutObject,
    /// The put is done and the answer is lost.
    TimeoutAfterEffect,
    TimeoutBeforeEffect,
    ServerError,
    Forbidden,
    BadRequest,
    ConnectionRefused,
}

/// A memory store whose puts follow a script.
#[derive(Debug)]
struct Scripted {
    inner: InMemory,
    script: Mutex<Vec<Script>>,
}

impl fmt::Display for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

fn generic(text: &str) -> StoreError {
    StoreError::Generic {
        store: "S3",
        source: text.to_owned().into(),
    }
}

fn http(kind: object_store::client::HttpErrorKind) -> StoreError {
    let source = object_store::client::HttpError::new(kind, std::io::Error::other("socket"));
    StoreError::Generic {
        store: "S3",
        source: Box::new(source),
    }
}

#[async_trait]
impl ObjectStore for Scripted {
    async fn put_opts(
        &self,
        key: &Key,
        payload: PutPayload,
        opts: PutOptions,
    ) -> object_store::Result<PutResult> {
        use object_store::client::HttpErrorKind;
        let step = self.script.lock().unwrap().pop();
        let path = key.to_string();
        match step {
            None => self.inner.put_opts(key, payload, opts).await,
            Some(Script::ConflictWithoutObject) => Err(StoreError::AlreadyExists {
                path,
                source: "status code: 409 Conflict".into(),
            }),
            Some(Script::TimeoutAfterEffect) => {
                self.inner.put_opts(key, payload, opts).await?;
                Err(http(HttpErrorKind::Timeout))
            }
            Some(Script::TimeoutBeforeEffect) => Err(http(HttpErrorKind::Timeout)),
            Some(Script::ServerError) => Err(generic("status code: 500 Internal Server Error: ")),
            Some(Script::Forbidden) => Err(StoreError::PermissionDenied {
                path,
                source: "403".into(),
            }),
            Some(Script::BadRequest) => Err(generic("status code: 400 Bad Request: ")),
            Some(Script::ConnectionRefused) => Err(http(HttpErrorKind::Connect)),
        }
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        opts: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(key, opts).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> object_store::Result<GetResult> {
        self.inner.get_opts(key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, object_store::Result<Key>>,
    ) -> BoxStream<'static, object_store::Result<Key>> {
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> object_store::Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &Key,
        to: &Key,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn store(script: &[Script]) -> RemoteStore {
    let objects = Scripted {
        inner: InMemory::new(),
        script: Mutex::new(script.iter().rev().copied().collect()),
    };
    RemoteStore::new(
        Arc::new(objects),
        "s3://bucket".to_owned(),
        IoOptions::default(),
    )
}

const PATH: &str = "/t/snapshot/snapshot-1";

async fn put(store: &RemoteStore, text: &'static str) -> Result<PutOutcome, IoError> {
    store
        .put_if_absent(PATH, Bytes::from_static(text.as_bytes()), "id")
        .await
}

#[tokio::test]
async fn the_first_put_creates_and_the_second_finds_it() {
    let store = store(&[]);
    assert_eq!(put(&store, "one").await.unwrap(), PutOutcome::Created);
    assert_eq!(put(&store, "two").await.unwrap(), PutOutcome::Exists);
    assert_eq!(store.read(PATH).await.unwrap(), "one");
}

#[tokio::test]
async fn a_taken_name_that_cannot_be_read_back_is_unknown() {
    let store = store(&[Script::ConflictWithoutObject]);
    assert_eq!(put(&store, "one").await.unwrap(), PutOutcome::Unknown);
    assert_eq!(put(&store, "one").await.unwrap(), PutOutcome::Created);
}

#[tokio::test]
async fn a_lost_answer_is_unknown_whether_or_not_the_file_is_there() {
    for (script, there) in [
        (Script::TimeoutAfterEffect, true),
        (Script::TimeoutBeforeEffect, false),
    ] {
        let store = store(&[script]);
        assert_eq!(put(&store, "one").await.unwrap(), PutOutcome::Unknown);
        assert_eq!(store.exists(PATH, Sought::File).await.unwrap(), there);
    }
    assert_eq!(
        put(&store(&[Script::ServerError]), "one").await.unwrap(),
        PutOutcome::Unknown
    );
}

#[tokio::test]
async fn a_certain_refusal_is_an_error_that_names_the_object() {
    let forbidden = put(&store(&[Script::Forbidden]), "one").await.unwrap_err();
    assert_eq!(
        forbidden.to_string(),
        "no permission to create s3://bucket/t/snapshot/snapshot-1"
    );
    let bad = put(&store(&[Script::BadRequest]), "one").await.unwrap_err();
    assert!(matches!(
        bad,
        IoError::Failed {
            operation: "create",
            ..
        }
    ));
    let unsent = put(&store(&[Script::ConnectionRefused]), "one")
        .await
        .unwrap_err();
    assert!(unsent.is_transient());
}

#[tokio::test]
async fn keys_keep_percent_signs_and_lose_doubled_slashes() {
    let store = store(&[]);
    store
        .write("/t//dt=a%2Fb/bucket-0/f", Bytes::from_static(b"x"))
        .await
        .unwrap();
    let listed = store.list("/t/dt=a%2Fb", Depth::All).await.unwrap();
    assert_eq!(
        listed
            .iter()
            .map(|file| file.path.as_str())
            .collect::<Vec<_>>(),
        ["/t/dt=a%2Fb/bucket-0/f"]
    );
    let refused = store.read("/t/../secret").await.unwrap_err();
    assert!(
        matches!(&refused, IoError::InvalidPath { path, .. } if path == "s3://bucket/t/../secret"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_sink_sends_parts_and_is_invisible_until_it_is_finished() {
    let options = IoOptions {
        remote_part_bytes: 10,
        remote_parts_in_flight: 2,
        ..IoOptions::default()
    };
    let store = RemoteStore::new(Arc::new(InMemory::new()), "memory:".to_owned(), options);
    for total in [0_usize, 9, 10, 11, 95] {
        let path = format!("/f-{total}");
        let bytes = (0..=u8::MAX).take(total).collect::<Bytes>();
        let mut sink = store.open_write(&path).await.unwrap();
        for piece in bytes.chunks(7) {
            sink.write(Bytes::copy_from_slice(piece)).await.unwrap();
            assert!(!store.exists(&path, Sought::File).await.unwrap());
        }
        assert_eq!(sink.finish().await.unwrap(), total as u64);
        assert_eq!(store.read(&path).await.unwrap(), bytes);
        assert!(matches!(
            sink.write(Bytes::from_static(b"x")).await,
            Err(IoError::SinkFailed { .. })
        ));
    }
}

#[tokio::test]
async fn an_aborted_sink_leaves_nothing_even_when_its_put_was_answered_by_an_error() {
    let store = store(&[Script::TimeoutAfterEffect]);
    let mut sink = store.open_write("/f").await.unwrap();
    sink.write(Bytes::from_static(b"x")).await.unwrap();
    assert!(sink.finish().await.unwrap_err().is_transient());
    assert!(store.exists("/f", Sought::File).await.unwrap());
    sink.abort().await.unwrap();
    assert!(!store.exists("/f", Sought::File).await.unwrap());
}
