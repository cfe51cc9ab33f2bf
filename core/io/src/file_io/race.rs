//! Many writers, one folder: every snapshot id has exactly one winner (case T01).

use std::process::{Command, Stdio};

use super::*;

/// Tells a child of this test binary where to race.
const FOLDER_VARIABLE: &str = "TIDEWATER_IO_RACE_FOLDER";

const PROCESSES: usize = 4;
const WINS_PER_WRITER: usize = 60;

/// Takes the next free id, as a commit loop does, until it has won often enough; answers the ids it was given.
async fn take_ids(io: &FileIo, root: &str, writer: &str, wins: usize) -> Vec<u64> {
    let (mut won, mut next) = (Vec::new(), 1);
    while won.len() < wins {
        let path = format!("{root}/snapshot/snapshot-{next}");
        match io
            .put_if_absent(&path, Bytes::from(format!("{writer}:{next}")))
            .await
            .unwrap()
        {
            PutOutcome::Created => won.push(next),
            PutOutcome::Exists => {}
            PutOutcome::Unknown => panic!("a local disk knows"),
        }
        next += 1;
    }
    won
}

async fn assert_each_id_has_one_winner(root: &str, expected: usize) {
    let found = FileIo::local()
        .list(&format!("{root}/snapshot"))
        .await
        .unwrap();
    let mut ids: Vec<u64> = found
        .iter()
        .map(|file| {
            file.name
                .strip_prefix("snapshot-")
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=expected as u64).collect::<Vec<_>>());
}

#[test]
fn threads_with_their_own_handles_never_win_the_same_id() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let barrier = std::sync::Barrier::new(2);
    let won: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let writers: Vec<_> = ["a", "b"]
            .into_iter()
            .map(|writer| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .build()
                        .unwrap();
                    barrier.wait();
                    runtime.block_on(take_ids(&FileIo::local(), root, writer, 200))
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    let mut all: Vec<u64> = won.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=400).collect::<Vec<_>>());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(assert_each_id_has_one_winner(root, 400));
}

/// Run by the test below in processes of its own; alone it has no folder and nothing to do.
#[tokio::test]
async fn racing_child() {
    let Ok(root) = std::env::var(FOLDER_VARIABLE) else {
        return;
    };
    let writer = std::process::id().to_string();
    let won = take_ids(&FileIo::local(), &root, &writer, WINS_PER_WRITER).await;
    let lines: String = won.iter().map(|id| format!("{id}\n")).collect();
    FileIo::local()
        .write(&format!("{root}/won/{writer}"), Bytes::from(lines))
        .await
        .unwrap();
}

#[tokio::test]
async fn processes_never_win_the_same_id() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "file_io::race::racing_child"])
                .env(FOLDER_VARIABLE, root)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let io = FileIo::local();
    let total = PROCESSES * WINS_PER_WRITER;
    assert_each_id_has_one_winner(root, total).await;
    let mut acknowledged = 0;
    for file in io.list(&format!("{root}/won")).await.unwrap() {
        let ids = io.read(&file.path).await.unwrap();
        for id in std::str::from_utf8(&ids).unwrap().lines() {
            let bytes = io
                .read(&format!("{root}/snapshot/snapshot-{id}"))
                .await
                .unwrap();
            assert_eq!(bytes, format!("{}:{id}", file.name));
            acknowledged += 1;
        }
    }
    assert_eq!(acknowledged, total);
}
