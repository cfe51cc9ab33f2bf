//! Files that are not what they were: a typed error that names the file, or the rows; never a panic.

use std::collections::BTreeMap;

use bytes::Bytes;
use tidewater_io::{Env, FileIo};
use tidewater_table::{Table, TableError, VerifyOptions};
use tidewater_types::{ErrorKind, Predicate, PredicateOp, SnapshotId};

use crate::small::{
    Kind, ROOT, chain, changes, commit, create, memory, open, prepare, read, small_row,
};

/// A table with several of each kind of file.
async fn table(io: &FileIo, kind: Kind) -> Table {
    let table = create(io, ROOT, kind).await;
    for number in 0..4 {
        let rows: Vec<_> = (0..40)
            .map(|key| small_row(key + 15 * number, &format!("value {key} of {number}")))
            .collect();
        commit(&table, i64::from(number), &rows).await.unwrap();
    }
    table
}

/// Everything that reads a table; answers the first error of each way.
async fn read_all_ways(io: &FileIo) -> Vec<TableError> {
    let table = match open(io, ROOT).await {
        Ok(table) => table,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    let mut note = |outcome: Result<(), TableError>| errors.extend(outcome.err());
    note(read(&table.new_scan()).await.map(drop));
    note(table.new_scan().count().await.map(drop));
    for id in [1, 3] {
        let scan = table.new_scan().snapshot(SnapshotId(id));
        note(read(&scan).await.map(drop));
    }
    let row_type = table.schema().row_type();
    if let Ok(filter) = Predicate::leaf(
        &row_type,
        "k",
        PredicateOp::Gt,
        vec![tidewater_types::Datum::Int(30)],
    ) && let Ok(scan) = table.new_scan().filter(filter)
    {
        note(read(&scan).await.map(drop));
    }
    note(changes(&table).await.map(drop));
    note(
        table
            .new_scan()
            .timestamp_millis(i64::MAX)
            .plan()
            .await
            .map(drop),
    );
    note(prepare_only(&table).await);
    // Tells faults, and has none of its own.
    match table.verify(VerifyOptions { orphans: true }).await {
        Ok(_) => {}
        Err(error) => errors.push(error),
    }
    errors
}

/// A writer reads metadata too.
async fn prepare_only(table: &Table) -> Result<(), TableError> {
    if table.schema().row_type().names().ne(["k", "p", "v"]) {
        return Ok(());
    }
    prepare(table, 99, &[small_row(1, "x")]).await.map(drop)
}

/// Bytes changed somewhere, somehow.
fn harmed(env: &Env, bytes: &[u8]) -> Bytes {
    let mut bytes = bytes.to_vec();
    let below = |bound: usize| usize::try_from(env.random_below(bound.max(1) as u64)).unwrap();
    match below(7) {
        0 => bytes.truncate(below(bytes.len())),
        1 => bytes.clear(),
        2 => {
            let at = below(bytes.len());
            let end = (at + 1 + below(16)).min(bytes.len());
            bytes[at..end].fill([0, 0xff, b'{'][below(3)]);
        }
        3 => {
            let at = below(bytes.len());
            let cut = (at + 1 + below(9)).min(bytes.len());
            bytes.drain(at..cut);
        }
        4 => {
            let at = below(bytes.len());
            bytes.insert(at, u8::try_from(below(256)).unwrap());
        }
        5 => {
            // The ends of files say where everything else is.
            let back = 1 + below(40.min(bytes.len()));
            let at = bytes.len() - back;
            bytes[at] = u8::try_from(below(256)).unwrap();
        }
        _ => {
            let at = below(bytes.len());
            bytes[at] ^= 1 << below(8);
        }
    }
    Bytes::from(bytes)
}

/// An error that fits the damage: typed, and naming the file.
fn check(error: &TableError, name: &str, place: &str) {
    let text = chain(error);
    let fits = matches!(
        error.kind(),
        ErrorKind::Corrupt | ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::Invalid
    );
    assert!(fits, "{place}: {:?} {text}", error.kind());
    assert!(
        text.contains(name),
        "{place}: an error does not name {name}: {text}"
    );
}

/// Kinds of files by the name of the folder and the beginning of their own name.
fn kind_of(path: &str) -> &'static str {
    let relative = path.strip_prefix(ROOT).unwrap();
    for kind in [
        "/snapshot/snapshot-",
        "/snapshot/",
        "/schema/",
        "/manifest/manifest-list-",
        "/manifest/",
    ] {
        if relative.starts_with(kind) {
            return kind;
        }
    }
    if relative.contains("/changelog-") {
        "changelog"
    } else {
        "data"
    }
}

#[tokio::test]
async fn changed_bytes_anywhere_are_told_with_the_name_of_their_file() {
    let rounds = std::env::var("TIDEWATER_DAMAGE_ROUNDS").ok();
    let rounds = rounds.map_or(40, |rounds| rounds.parse().unwrap());
    for kind in [Kind::Keyed, Kind::Append] {
        let io = memory();
        table(&io, kind).await;
        assert_eq!(read_all_ways(&io).await.len(), 0);
        let env = Env::seeded(17);
        let mut by_kind: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for file in io.list_recursive(ROOT).await.unwrap() {
            by_kind
                .entry(kind_of(&file.path))
                .or_default()
                .push(file.path);
        }
        assert!(by_kind.len() > 5 - usize::from(kind == Kind::Append));
        for (of, paths) in by_kind {
            let mut told = 0;
            for round in 0..rounds {
                let path = &paths[round % paths.len()];
                let whole = io.read(path).await.unwrap();
                let harmed = harmed(&env, &whole);
                io.overwrite(path, harmed.clone()).await.unwrap();
                let name = path.rsplit('/').next().unwrap();
                let place = format!("{kind:?} {of} {name} round {round}");
                let errors = read_all_ways(&io).await;
                for error in &errors {
                    // What a changed snapshot or schema says may be whole, and name files that are not there.
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Invalid)
                        || (of == "/schema/" && harmed.len() > 40)
                    {
                        continue;
                    }
                    check(error, name, &place);
                }
                for error in errors {
                    assert_ne!(
                        error.kind(),
                        ErrorKind::Internal,
                        "{place}: {}",
                        chain(&error)
                    );
                }
                told += 1;
                io.overwrite(path, whole).await.unwrap();
            }
            assert!(told > 0, "{of}");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_gone_or_torn_is_an_error_that_names_it() {
    for kind in [Kind::Keyed, Kind::Append] {
        let io = memory();
        table(&io, kind).await;
        let files = io.list_recursive(ROOT).await.unwrap();
        let mut checked = 0;
        for file in files {
            if file.path.ends_with("ST") {
                continue;
            }
            let whole = io.read(&file.path).await.unwrap();
            let snapshot = file.path.contains("/snapshot/");
            // A table without a snapshot or schema in the middle is another question than a torn one.
            if !snapshot && !file.path.contains("/schema/") {
                io.delete(&file.path).await.unwrap();
                for error in read_all_ways(&io).await {
                    assert_eq!(error.kind(), ErrorKind::NotFound, "{}", chain(&error));
                    check(&error, &file.name, "gone");
                    checked += 1;
                }
            }
            let torn = whole.slice(..whole.len() / 2);
            io.overwrite(&file.path, torn).await.unwrap();
            for error in read_all_ways(&io).await {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", chain(&error));
                check(&error, &file.name, "torn");
                checked += 1;
            }
            io.overwrite(&file.path, whole).await.unwrap();
        }
        assert!(checked > 20, "{checked}");
    }
}

#[tokio::test]
async fn a_wrong_hint_changes_nothing() {
    let io = memory();
    let table = table(&io, Kind::Keyed).await;
    let want = read(&table.new_scan()).await.unwrap();
    let last = table.latest_snapshot().await.unwrap().unwrap().id.0;
    let hints = [
        "",
        " ",
        "0",
        "-1",
        "1",
        "999999",
        "9223372036854775807",
        "x",
        "\u{0}",
        "3\n",
        "1e3",
        "99999999999999999999",
    ];
    for hint in hints {
        for name in ["LATEST", "EARLIEST"] {
            // As in Java, a hint at the earliest snapshot is believed while that snapshot is there.
            if name == "EARLIEST" && hint == "3\n" {
                continue;
            }
            io.overwrite(
                &format!("{ROOT}/snapshot/{name}"),
                Bytes::copy_from_slice(hint.as_bytes()),
            )
            .await
            .unwrap();
        }
        let table = open(&io, ROOT).await.unwrap();
        let latest = table.latest_snapshot().await.unwrap().unwrap();
        assert_eq!(latest.id.0, last, "{hint:?}");
        assert_eq!(read(&table.new_scan()).await.unwrap(), want, "{hint:?}");
        assert_eq!(changes(&table).await.unwrap().len(), 160, "{hint:?}");
    }
}
