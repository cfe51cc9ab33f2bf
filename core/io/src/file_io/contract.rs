//! What every store must do alike, held against local folders, memory, and both with faults that retries cure.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use tidewater_types::ErrorKind;

use super::*;
use crate::store::faulty::{FaultRates, FaultyStore};

/// A store under test and a folder of its own in it.
struct Subject {
    name: &'static str,
    io: FileIo,
    root: String,
    _dir: tempfile::TempDir,
}

/// Small buffers and parts, so that each boundary is crossed.
fn options() -> IoOptions {
    IoOptions {
        local_gap_bytes: 3,
        local_write_buffer_bytes: 16,
        remote_gap_bytes: 3,
        remote_read_parallelism: 2,
        remote_part_bytes: 32,
        remote_parts_in_flight: 2,
        retry_attempts_max: 50,
        ..IoOptions::default()
    }
}

fn subjects() -> Vec<Subject> {
    let local = || FileIo::local_with(options());
    let memory = || {
        FileIo::over(
            Place::Memory,
            Arc::new(object_store::memory::InMemory::new()),
            options(),
        )
    };
    // Lost answers make an honest put_if_absent unknown and an abandoned sink an error: those have tests of their own.
    let rates = FaultRates {
        refuse: 250,
        delay: 100,
        delay_max: Duration::from_millis(5),
        ..FaultRates::default()
    };
    let faulty = |io: FileIo| FaultyStore::wrap(&io.with_env(Env::seeded(11)), rates).0;
    let subject = |name, io: FileIo| {
        let dir = tempfile::tempdir().unwrap();
        let root = format!("{}/w", dir.path().to_str().unwrap());
        Subject {
            name,
            io,
            root,
            _dir: dir,
        }
    };
    vec![
        subject("local", local()),
        subject("memory", memory()),
        subject("faulty local", faulty(local())),
        subject("faulty memory", faulty(memory())),
    ]
}

async fn for_each(test: impl AsyncFn(&str, &FileIo, String)) {
    for subject in subjects() {
        test(subject.name, &subject.io, subject.root.clone()).await;
    }
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn names(found: &[FileStatus]) -> Vec<&str> {
    found.iter().map(|status| status.name.as_str()).collect()
}

#[tokio::test]
async fn what_is_written_is_read_and_has_its_size() {
    for_each(async |name, io, root| {
        let path = format!("{root}/manifest/manifest-1");
        io.write(&path, bytes("0123456789")).await.unwrap();
        assert_eq!(io.read(&path).await.unwrap(), "0123456789", "{name}");
        assert_eq!(io.size(&path).await.unwrap(), 10, "{name}");
        io.overwrite(&path, bytes("abc")).await.unwrap();
        assert_eq!(io.read(&path).await.unwrap(), "abc", "{name}");
        io.overwrite(&format!("{root}/snapshot/LATEST"), bytes("1"))
            .await
            .unwrap();
        io.write(&format!("{root}/empty"), Bytes::new())
            .await
            .unwrap();
        assert_eq!(
            io.read(&format!("{root}/empty")).await.unwrap(),
            "",
            "{name}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_missing_file_is_not_found_and_named() {
    for_each(async |name, io, root| {
        let path = format!("{root}/none");
        for error in [
            io.read(&path).await.unwrap_err(),
            io.size(&path).await.unwrap_err(),
            io.read_ranges(&path, &[0..1, 9..10]).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{name}");
            assert!(error.to_string().contains(&path), "{name}: {error}");
        }
        assert!(
            !io.exists(&path).await.unwrap() && !io.file_exists(&path).await.unwrap(),
            "{name}"
        );
        io.delete(&path).await.unwrap();
        io.delete_dir(&path).await.unwrap();
        assert_eq!(io.list(&path).await.unwrap(), [], "{name}");
        assert_eq!(io.list_recursive(&path).await.unwrap(), [], "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_name_is_given_once() {
    for_each(async |name, io, root| {
        let path = format!("{root}/snapshot/snapshot-1");
        assert_eq!(
            io.put_if_absent(&path, bytes("one")).await.unwrap(),
            PutOutcome::Created,
            "{name}"
        );
        assert_eq!(
            io.put_if_absent(&path, bytes("two")).await.unwrap(),
            PutOutcome::Exists,
            "{name}"
        );
        assert_eq!(io.read(&path).await.unwrap(), "one", "{name}");
        assert_eq!(
            names(&io.list(&format!("{root}/snapshot")).await.unwrap()),
            ["snapshot-1"],
            "{name}"
        );
        let counts = io.metrics();
        assert_eq!(
            (counts.puts_created, counts.puts_lost, counts.puts_unknown),
            (1, 1, 0),
            "{name}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_listing_shows_one_level_sorted_with_dot_files() {
    for_each(async |name, io, root| {
        for file in [
            "b",
            "a-1/x",
            "a-1/deep/y",
            ".snapshot-1.0b1e.tmp",
            "a%2Fb/z",
        ] {
            io.write(&format!("{root}/{file}"), bytes(file))
                .await
                .unwrap();
        }
        let found = io.list(&root).await.unwrap();
        let seen: Vec<_> = found
            .iter()
            .map(|s| (s.name.as_str(), s.is_dir, s.size))
            .collect();
        let expected = [
            (".snapshot-1.0b1e.tmp", false, 20),
            ("a%2Fb", true, 0),
            ("a-1", true, 0),
            ("b", false, 1),
        ];
        assert_eq!(seen, expected, "{name}");
        assert!(
            found.iter().all(|s| s.path == format!("{root}/{}", s.name)),
            "{name}"
        );
        assert!(
            found
                .iter()
                .all(|s| s.is_dir || s.modified_millis > 1_600_000_000_000),
            "{name}"
        );
        let below = io.list_recursive(&format!("{root}/a-1/")).await.unwrap();
        let paths: Vec<_> = below.iter().map(|s| s.path.clone()).collect();
        assert_eq!(
            paths,
            [format!("{root}/a-1/deep/y"), format!("{root}/a-1/x")],
            "{name}"
        );
        assert!(io.exists(&format!("{root}/a-1")).await.unwrap(), "{name}");
        assert!(
            !io.file_exists(&format!("{root}/a-1")).await.unwrap(),
            "{name}"
        );
    })
    .await;
}

#[tokio::test]
async fn ranges_come_in_the_asked_order_from_fewer_requests() {
    for_each(async |name, io, root| {
        let path = format!("{root}/f");
        io.write(&path, bytes("0123456789abcdefghij"))
            .await
            .unwrap();
        let got = io
            .read_ranges(&path, &[18..20, 0..2, 5..5, 4..6, 0..2])
            .await
            .unwrap();
        assert_eq!(got, ["ij", "01", "", "45", "01"].map(bytes), "{name}");
        let counts = io.metrics();
        assert_eq!(
            (counts.ranges_asked, counts.ranges_fetched),
            (5, 2),
            "{name}"
        );
        assert_eq!(
            io.read_ranges(&path, &[]).await.unwrap(),
            Vec::<Bytes>::new(),
            "{name}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_range_beyond_the_end_is_a_short_read() {
    for_each(async |name, io, root| {
        let path = format!("{root}/f");
        io.write(&path, bytes("0123")).await.unwrap();
        for range in [2..9, 4..5, 100..200, u64::MAX - 1..u64::MAX] {
            let error = io.read_range(&path, range.clone()).await.unwrap_err();
            assert!(
                matches!(error, IoError::ShortRead { start, end, available: 4, .. } if (start..end) == range),
                "{name}: {error}"
            );
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    })
    .await;
}

#[tokio::test]
async fn a_huge_range_of_a_small_file_costs_no_memory() {
    for_each(async |name, io, root| {
        let path = format!("{root}/f");
        io.write(&path, bytes("0123")).await.unwrap();
        let error = io.read_range(&path, 0..1 << 50).await.unwrap_err();
        assert!(
            matches!(error, IoError::ShortRead { .. }),
            "{name}: {error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_sink_writes_a_whole_file() {
    for_each(async |name, io, root| {
        let path = format!("{root}/bucket-0/data-1.parquet");
        let mut expected = Vec::new();
        let mut sink = io.open_write(&path).await.unwrap();
        for n in 0..40_u8 {
            let piece = vec![n; usize::from(n)];
            expected.extend_from_slice(&piece);
            // A refused piece was not taken: the caller of a sink does not retry, so neither does the test.
            if let Err(error) = sink.write(piece.clone().into()).await {
                assert!(
                    error.is_transient() && name.starts_with("faulty"),
                    "{name}: {error}"
                );
                sink.write(piece.into()).await.ok();
                return sink.abort().await.unwrap();
            }
        }
        assert_eq!(sink.written(), expected.len() as u64, "{name}");
        if let Ok(size) = sink.finish().await {
            assert_eq!(size, expected.len() as u64, "{name}");
            assert_eq!(io.read(&path).await.unwrap(), expected, "{name}");
        } else {
            assert!(name.starts_with("faulty"));
            assert!(!io.file_exists(&path).await.unwrap(), "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_aborted_or_dropped_sink_leaves_nothing() {
    for_each(async |name, io, root| {
        for (file, length) in [("small", 3), ("large", 500)] {
            let path = format!("{root}/{file}");
            let mut sink = io.open_write(&path).await.unwrap();
            drop(sink.write(vec![7; length].into()).await);
            sink.abort().await.unwrap();
            assert!(!io.file_exists(&path).await.unwrap(), "{name}");
        }
        let path = format!("{root}/dropped");
        drop(io.open_write(&path).await.unwrap());
        while io.file_exists(&path).await.unwrap() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_folder_goes_with_all_below_it() {
    for_each(async |name, io, root| {
        for file in ["t/a", "t/b/c", "t/b/d/e", "t2/f"] {
            io.write(&format!("{root}/{file}"), bytes(file))
                .await
                .unwrap();
        }
        io.delete(&format!("{root}/t/a")).await.unwrap();
        io.delete_dir(&format!("{root}/t")).await.unwrap();
        let left = io.list_recursive(&root).await.unwrap();
        assert_eq!(
            left.iter().map(|s| s.path.clone()).collect::<Vec<_>>(),
            [format!("{root}/t2/f")],
            "{name}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_folder_moves_to_a_free_name_only() {
    // A refused rename is for the caller to see: rename is never repeated by itself.
    for subject in subjects()
        .into_iter()
        .filter(|subject| !subject.name.starts_with("faulty"))
    {
        let Subject { name, io, root, .. } = subject;
        for file in ["a/x", "a/deep/y", "taken/z"] {
            io.write(&format!("{root}/{file}"), bytes(file))
                .await
                .unwrap();
        }
        let taken = io
            .rename_dir(&format!("{root}/a"), &format!("{root}/taken"))
            .await
            .unwrap_err();
        assert!(
            matches!(taken, IoError::AlreadyExists { .. }),
            "{name}: {taken}"
        );
        let missing = io
            .rename_dir(&format!("{root}/none"), &format!("{root}/n"))
            .await
            .unwrap_err();
        assert!(missing.is_not_found(), "{name}: {missing}");
        io.rename_dir(&format!("{root}/a"), &format!("{root}/new/b"))
            .await
            .unwrap();
        assert!(!io.exists(&format!("{root}/a")).await.unwrap(), "{name}");
        assert_eq!(
            io.read(&format!("{root}/new/b/deep/y")).await.unwrap(),
            "a/deep/y",
            "{name}"
        );
        assert_eq!(
            io.read(&format!("{root}/new/b/x")).await.unwrap(),
            "a/x",
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_folder_asked_for_as_a_file_says_so_locally() {
    let subject = subjects().swap_remove(0);
    let (io, root) = (subject.io, subject.root);
    io.create_dir(&format!("{root}/t/snapshot")).await.unwrap();
    let dir = format!("{root}/t");
    for error in [
        io.read(&dir).await.unwrap_err(),
        io.size(&dir).await.unwrap_err(),
        io.read_range(&dir, 0..1).await.unwrap_err(),
        io.write(&dir, Bytes::new()).await.unwrap_err(),
        io.delete(&dir).await.unwrap_err(),
    ] {
        assert!(
            matches!(&error, IoError::IsADirectory { path } if *path == dir),
            "{error}"
        );
    }
    io.write(&format!("{root}/file"), Bytes::new())
        .await
        .unwrap();
    let inside = io
        .write(&format!("{root}/file/x"), Bytes::new())
        .await
        .unwrap_err();
    assert!(matches!(inside, IoError::NotADirectory { .. }), "{inside}");
    assert!(matches!(
        io.list(&format!("{root}/file")).await,
        Err(IoError::NotADirectory { .. })
    ));
    assert!(!io.exists(&format!("{root}/file/x")).await.unwrap());
}

#[tokio::test]
async fn an_address_opens_its_store_and_full_addresses_reach_others() {
    let dir = tempfile::tempdir().unwrap();
    let outside = format!("file:{}/external/data-1", dir.path().display());
    let (io, root) = FileIo::from_uri("memory:/w", &BTreeMap::new()).unwrap();
    assert_eq!(root, "/w");
    io.write(&outside, bytes("x")).await.unwrap();
    assert_eq!(io.read(&outside).await.unwrap(), "x");
    assert_eq!(
        std::fs::read(dir.path().join("external/data-1")).unwrap(),
        b"x"
    );
    assert_eq!(
        io.local_path(&outside),
        Some(dir.path().join("external/data-1"))
    );
    io.write("memory:/w/a", bytes("y")).await.unwrap();
    assert_eq!(io.read("/w/a").await.unwrap(), "y");
    assert_eq!(
        (io.uri("/w/a"), io.local_path("/w/a")),
        ("memory:/w/a".to_owned(), None)
    );
    let moved = io.rename_dir("/w", &outside).await.unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::Unsupported);
    let (local, root) = FileIo::from_uri(dir.path().to_str().unwrap(), &BTreeMap::new()).unwrap();
    assert!(local.is_local());
    assert_eq!(
        local
            .read(&format!("{root}/external/data-1"))
            .await
            .unwrap(),
        "x"
    );
}

#[tokio::test]
async fn leftovers_of_a_crash_do_not_stop_a_commit_and_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let io = FileIo::local();
    std::fs::create_dir(dir.path().join("snapshot")).unwrap();
    std::fs::write(dir.path().join("snapshot/.snapshot-1.0b1e.tmp"), b"torn").unwrap();
    let path = format!("{root}/snapshot/snapshot-1");
    assert!(!io.exists(&path).await.unwrap());
    assert_eq!(
        io.put_if_absent(&path, bytes("whole")).await.unwrap(),
        PutOutcome::Created
    );
    let found = io.list(&format!("{root}/snapshot")).await.unwrap();
    // Java's listing keeps names that begin with `snapshot-` and needs a number behind it.
    let versioned: Vec<_> = names(&found)
        .into_iter()
        .filter_map(|name| name.strip_prefix("snapshot-"))
        .collect();
    assert_eq!(versioned, ["1"]);
    assert_eq!(names(&found), [".snapshot-1.0b1e.tmp", "snapshot-1"]);
}

fn _futures_can_be_spawned(io: FileIo) {
    fn spawnable<T: Send>(_: T) {}
    spawnable(async move {
        let mut sink = io.open_write("/f").await?;
        sink.write(Bytes::new()).await?;
        sink.finish().await?;
        io.list("/").await?;
        assert_eq!(
            io.put_if_absent("/f", Bytes::new()).await?,
            PutOutcome::Created
        );
        io.read_ranges("/f", &[]).await
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any ranges of a file are its slices, on every store.
    #[test]
    fn ranges_equal_slices(length in 1usize..200, asked in prop::collection::vec((0usize..200, 0usize..60), 0..12)) {
        let file: Vec<u8> = (0..=u8::MAX).take(length).collect();
        let clamp = |(start, count): (usize, usize)| {
            let start = start.min(length);
            start..(start + count).min(length)
        };
        let slices: Vec<_> = asked.into_iter().map(clamp).collect();
        let ranges: Vec<_> = slices.iter().map(|s| s.start as u64..s.end as u64).collect();
        let expected: Vec<_> = slices.iter().map(|s| Bytes::copy_from_slice(&file[s.clone()])).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for subject in subjects() {
                let path = format!("{}/f", subject.root);
                subject.io.write(&path, file.clone().into()).await.unwrap();
                let got = subject.io.read_ranges(&path, &ranges).await.unwrap();
                prop_assert_eq!(&got, &expected, "{}", subject.name);
            }
            Ok(())
        })?;
    }
}
