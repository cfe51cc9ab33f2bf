//! Loading, upserting and compacting.

use tidewater_format::BATCH_COMMIT_IDENTIFIER;
use tidewater_table::{CommitOptions, Committable, CompactScope, Table, TableWrite, WriteOptions};

use super::{APPEND, Bench, KEYED};
use crate::answer::Answer;
use crate::error::Result;
use crate::input::{KEYS, UPSERTS, upsert_file};

/// Options of the keyed table: as many buckets as the raw limit has files, and compaction only when asked for.
const KEYED_OPTIONS: [(&str, &str); 4] = [
    ("bucket", "4"),
    ("file.format", "parquet"),
    ("file.compression", "zstd"),
    ("write-only", "true"),
];
/// Options of the append table.
const APPEND_OPTIONS: [(&str, &str); 3] = [
    ("bucket", "-1"),
    ("file.format", "parquet"),
    ("write-only", "true"),
];

/// One file written and committed.
struct Written {
    rows: u64,
    seconds: f64,
    commit_seconds: f64,
}

impl Bench {
    /// A keyed table from its first file, in one commit.
    pub(super) async fn load(&self) -> Result<Answer> {
        let columns = self.input.schema("load.arrow")?;
        let table = self
            .create(KEYED, &columns, &KEYS, &[], &KEYED_OPTIONS)
            .await?;
        let written = self.write_file(&table, "load.arrow").await?;
        Ok(Answer::new(written.seconds, written.rows).with("commit_s", written.commit_seconds))
    }

    /// All upserts, a commit each.
    pub(super) async fn upsert(&self) -> Result<Answer> {
        let table = self.table(KEYED).await?;
        let (mut rows, mut each) = (0, Vec::with_capacity(UPSERTS));
        for number in 0..UPSERTS {
            let written = self.write_file(&table, &upsert_file(number)).await?;
            rows += written.rows;
            each.push(written.seconds);
        }
        Ok(Answer::new(each.iter().sum(), rows).with("per_commit_s", each))
    }

    /// An append table in partitions.
    pub(super) async fn append_load(&self) -> Result<Answer> {
        let columns = self.input.schema("append.arrow")?;
        let table = self
            .create(APPEND, &columns, &[], &["p"], &APPEND_OPTIONS)
            .await?;
        let written = self.write_file(&table, "append.arrow").await?;
        Ok(Answer::new(written.seconds, written.rows).with("commit_s", written.commit_seconds))
    }

    /// Every bucket of the keyed table into one run.
    pub(super) async fn compact(&self) -> Result<Answer> {
        let start = self.env.monotonic();
        let table = self.table(KEYED).await?;
        let mut write = self.writer(&table).await?;
        write.compact(&CompactScope::default(), true).await?;
        let messages = write.prepare_commit(true).await?;
        let made = messages.iter().flat_map(|message| &message.compact.after);
        let rows = made.map(|file| file.row_count.unsigned_abs()).sum();
        self.commit(&table, messages).await?;
        Ok(Answer::new(self.since(start), rows))
    }

    async fn writer(&self, table: &Table) -> Result<TableWrite> {
        let options = WriteOptions {
            memory_bytes: Some(self.memory / 2),
        };
        Ok(table.new_write(options).await?)
    }

    async fn write_file(&self, table: &Table, file: &str) -> Result<Written> {
        let start = self.env.monotonic();
        let mut write = self.writer(table).await?;
        let mut rows = 0;
        for batch in self.input.stream(file)? {
            let batch = batch?;
            rows += batch.num_rows() as u64;
            write.write(batch).await?;
        }
        let messages = write.prepare_commit(true).await?;
        let prepared = self.since(start);
        self.commit(table, messages).await?;
        let seconds = self.since(start);
        Ok(Written {
            rows,
            seconds,
            commit_seconds: seconds - prepared,
        })
    }

    /// Commits messages that nobody will repeat.
    pub(super) async fn commit(
        &self,
        table: &Table,
        messages: Vec<tidewater_store::CommitMessage>,
    ) -> Result<()> {
        let commit = table.new_commit(CommitOptions::default())?;
        commit
            .commit(Committable {
                identifier: BATCH_COMMIT_IDENTIFIER,
                messages,
                ..Committable::default()
            })
            .await?;
        Ok(())
    }
}
