//! Commits that lose in part, and files that say what cannot be.

use std::sync::Arc;

use bytes::Bytes;
use tidewater_format::{CommitKind, Snapshot};
use tidewater_types::SnapshotId;

use crate::commit::{CommitOutcome, FileSnapshotCommit, SnapshotCommit, live_of};
use crate::tests::{ROOT, adding, compacting, file, memory, table};
use crate::{Committable, TableError};

/// The append of a commit counts though its compaction lost against another one; the files of the loser go.
#[tokio::test]
async fn rows_are_acknowledged_though_their_compaction_lost() {
    let io = memory();
    let table = table(&io, ROOT, true, &[]).await;
    let commit = table.new_commit("u").unwrap();
    commit.commit(adding(1, "a")).await.unwrap();
    let a = file("a", 0, (1, 9));
    let winner = compacting(2, std::slice::from_ref(&a), &[file("w", 5, (1, 9))]);
    commit.commit(winner).await.unwrap();
    let mut both = adding(3, "b");
    let loser = compacting(3, std::slice::from_ref(&a), &[file("l", 5, (1, 9))]);
    both.messages.extend(loser.messages.clone());
    let path = format!("{ROOT}/bucket-0/l");
    io.write(&path, Bytes::from_static(b"l")).await.unwrap();
    let made = commit.commit(both.clone()).await.unwrap();
    assert_eq!(made.len(), 1);
    assert!(Committable::lost_compaction(both.compacts(), &made));
    assert!(!io.exists(&path).await.unwrap());
    let latest = table.snapshots().latest().await.unwrap().unwrap();
    assert_eq!(latest.commit_kind, CommitKind::Append);
    let mut live = live_of(commit.context(), &latest).await.unwrap();
    live.sort();
    assert_eq!(live, ["b", "w"]);
    // Alone it is an error, as before.
    let alone = commit.commit(loser).await;
    assert!(matches!(alone, Err(TableError::FileConflict { .. })));
}

/// What a snapshot or schema file says inside must be what its name says; numbers that cannot be are refused, not added up.
#[tokio::test]
async fn files_with_another_number_inside_are_damaged() {
    let io = memory();
    let table = table(&io, ROOT, true, &[]).await;
    let commit = table.new_commit("u").unwrap();
    commit.commit(adding(1, "a")).await.unwrap();
    let path = table.paths().snapshot(SnapshotId(1));
    let good = table.snapshots().latest().await.unwrap().unwrap();
    for id in [-1, 2, i64::MAX] {
        let mut wrong = good.clone();
        wrong.id = SnapshotId(id);
        io.overwrite(&path, Bytes::from(wrong.to_json()))
            .await
            .unwrap();
        let read = table.snapshots().latest().await;
        assert!(
            matches!(&read, Err(TableError::WrongNumber { found, .. }) if *found == id),
            "{read:?}"
        );
    }
    let mut full = good.clone();
    full.total_record_count = Some(i64::MAX);
    io.overwrite(&path, Bytes::from(full.to_json()))
        .await
        .unwrap();
    assert!(matches!(
        commit.commit(adding(2, "b")).await,
        Err(TableError::RowCount { .. })
    ));
}

/// Publishes, and hears of its own snapshot that the id is taken: the store acted on a request whose answer was lost on the way.
#[derive(Debug)]
struct LosesToItself(FileSnapshotCommit);

#[async_trait::async_trait]
impl SnapshotCommit for LosesToItself {
    async fn publish(&self, snapshot: &Snapshot) -> crate::Result<CommitOutcome> {
        let outcome = self.0.publish(snapshot).await?;
        assert_eq!(outcome, CommitOutcome::Committed(snapshot.id));
        Ok(CommitOutcome::Lost {
            attempted: snapshot.id,
        })
    }
}

#[tokio::test]
async fn a_commit_that_loses_to_itself_is_there_once_and_whole() {
    let io = memory();
    let table = table(&io, ROOT, false, &[]).await;
    let commit = table.new_commit("u").unwrap();
    let publisher = FileSnapshotCommit::new(io.clone(), commit.context().log.paths().clone());
    let commit = commit.with_publisher(Arc::new(LosesToItself(publisher)));
    for id in 1..=2 {
        let made = commit.commit(adding(id, &format!("f{id}"))).await.unwrap();
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].id.0, id);
    }
    let log = commit.context().log.snapshots();
    let latest = log.latest().await.unwrap().unwrap();
    assert_eq!(latest.id.0, 2);
    // All that the snapshots name is there.
    let mut files = live_of(commit.context(), &latest).await.unwrap();
    files.sort();
    assert_eq!(files.len(), 2, "{files:?}");
}
