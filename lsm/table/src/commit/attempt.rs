//! One snapshot of a commit: written once, offered until it wins, loses for good, or runs out of tries.

use std::collections::BTreeMap;
use std::time::Duration;

use tidewater_format::{CommitKind, Snapshot};
use tidewater_types::{SchemaId, SnapshotId};

use super::changes::Changes;
use super::manifests::{self, WrittenList};
use super::publish::CommitOutcome;
use super::{CommitContext, CommittedSnapshot, conflict, properties_of, watermark_after};
use crate::error::{Result, TableError};

/// What both snapshots of a commit have in common.
pub(crate) struct Shared<'a> {
    pub(crate) user: &'a str,
    pub(crate) identifier: i64,
    pub(crate) watermark: Option<i64>,
    pub(crate) properties: &'a BTreeMap<String, String>,
}

/// The manifests that say what changed. They do not depend on what they are put on top of, so every attempt offers the same.
struct Offer {
    delta: WrittenList,
    changelog: Option<WrittenList>,
}

impl Offer {
    async fn write(context: &CommitContext, changes: &Changes) -> Result<Self> {
        let write_changelog = async {
            if changes.changelog.is_empty() {
                Ok(None)
            } else {
                let written = manifests::write_entries(context, &changes.changelog).await;
                written.map(Some)
            }
        };
        let delta = manifests::write_entries(context, &changes.delta);
        match tokio::join!(delta, write_changelog) {
            (Ok(delta), Ok(changelog)) => Ok(Self { delta, changelog }),
            (Ok(written), Err(e)) | (Err(e), Ok(Some(written))) => {
                manifests::discard(context, &written).await;
                Err(e)
            }
            (Err(e), _) => Err(e),
        }
    }
}

/// Commits `changes` as one snapshot.
pub(crate) async fn commit(
    context: &CommitContext,
    shared: &Shared<'_>,
    changes: Changes,
    check: bool,
) -> Result<CommittedSnapshot> {
    let check = check || changes.needs_check();
    let written = Offer::write(context, &changes);
    let (offer, latest) = tokio::join!(written, context.log.snapshots().latest());
    let mut race = Race {
        context,
        shared,
        changes: &changes,
        offer: offer?,
        unknown: false,
        lost: Vec::new(),
    };
    let made = race.run(check, latest).await;
    if made.is_err() {
        race.give_up().await;
    }
    made
}

/// Offers the changes until they are in a snapshot or cannot be.
struct Race<'a> {
    context: &'a CommitContext,
    shared: &'a Shared<'a>,
    changes: &'a Changes,
    offer: Offer,
    /// The store did not say how an attempt ended: it may win yet.
    unknown: bool,
    /// What only lost attempts need, until somebody has looked who won: a request that was sent twice loses against itself.
    lost: Vec<WrittenList>,
}

impl Race<'_> {
    async fn run(
        &mut self,
        check: bool,
        mut latest: Result<Option<Snapshot>>,
    ) -> Result<CommittedSnapshot> {
        let (context, kind) = (self.context, self.changes.kind);
        let started = context.log.env().monotonic();
        // First and last id that was asked for.
        let mut attempted: Option<(SnapshotId, SnapshotId)> = None;
        let mut attempts = 0_u32;
        loop {
            let before = latest?;
            if let Some(attempted) = attempted {
                if let Some(id) = self.find_ours(attempted, before.as_ref()).await? {
                    return finished(context, id, kind).await;
                }
                for base in self.lost.drain(..) {
                    manifests::discard(context, &base).await;
                }
            }
            if attempts > context.options.commit_retries() {
                let last = attempted.map_or(0, |(first, _)| first.0);
                return Err(TableError::RetriesExhausted { attempts, last });
            }
            let elapsed = context.log.env().monotonic().saturating_sub(started);
            if let Some(limit) = context.options.commit_timeout
                && attempts > 0
                && elapsed > limit
            {
                return Err(TableError::CommitTimeout {
                    elapsed_millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
                });
            }
            if check && let Some(before) = &before {
                let partitions = self.changes.partitions();
                let base = manifests::live_entries(context, before, &partitions).await?;
                if let Err(reason) = conflict::check(base, self.changes, context.keys.as_ref()) {
                    return Err(TableError::FileConflict {
                        user: self.shared.user.to_owned(),
                        snapshot: before.id.0,
                        reason,
                    });
                }
            }
            let id = match self.offer_on(before.as_ref()).await? {
                CommitOutcome::Committed(id) => return finished(context, id, kind).await,
                CommitOutcome::Lost { attempted } | CommitOutcome::Unknown { attempted } => {
                    attempted
                }
            };
            attempted = Some((attempted.map_or(id, |(first, _)| first), id));
            context.log.env().sleep(wait(context, attempts)).await;
            attempts += 1;
            latest = context.log.snapshots().latest().await;
        }
    }

    /// One attempt, on top of `latest`.
    async fn offer_on(&mut self, latest: Option<&Snapshot>) -> Result<CommitOutcome> {
        let base = manifests::write_base(self.context, latest);
        let schema = self.context.log.schemas().latest_or_fail();
        let (base, schema) = tokio::join!(base, schema);
        let base = base?;
        let outcome = async {
            let snapshot = self.snapshot(&base, schema?.id, latest).await?;
            self.context.publisher.publish(&snapshot).await
        }
        .await;
        match &outcome {
            Ok(CommitOutcome::Committed(_)) => {}
            Ok(CommitOutcome::Lost { .. }) => self.lost.push(base),
            Ok(CommitOutcome::Unknown { .. }) => self.unknown = true,
            Err(_) => manifests::discard(self.context, &base).await,
        }
        outcome
    }

    /// A snapshot from the first one attempted on that carries our delta list: then an attempt of which we did not hear has won.
    async fn find_ours(
        &self,
        (first, last): (SnapshotId, SnapshotId),
        latest: Option<&Snapshot>,
    ) -> Result<Option<SnapshotId>> {
        let last = latest.map_or(last, |latest| latest.id.max(last));
        for id in first.0..=last.0 {
            if let Some(snapshot) = self
                .context
                .log
                .snapshots()
                .try_read(SnapshotId(id))
                .await?
                && snapshot.delta_manifest_list == self.offer.delta.name
            {
                return Ok(Some(snapshot.id));
            }
        }
        Ok(None)
    }

    /// Removes the manifests of a commit that certainly is in no snapshot; others stay, since a snapshot may name them.
    async fn give_up(&self) {
        if self.unknown || !self.lost.is_empty() {
            return;
        }
        manifests::discard(self.context, &self.offer.delta).await;
        if let Some(changelog) = &self.offer.changelog {
            manifests::discard(self.context, changelog).await;
        }
    }

    async fn snapshot(
        &self,
        base: &WrittenList,
        schema: SchemaId,
        latest: Option<&Snapshot>,
    ) -> Result<Snapshot> {
        let delta_rows = self.changes.delta_rows();
        let mut next = Snapshot::new(
            latest.map_or(SnapshotId::FIRST, |snapshot| snapshot.id.next()),
            schema,
            self.changes.kind,
        );
        next.base_manifest_list = base.name.clone();
        next.base_manifest_list_size = Some(base.size);
        next.delta_manifest_list = self.offer.delta.name.clone();
        next.delta_manifest_list_size = Some(self.offer.delta.size);
        next.changelog_manifest_list = self.offer.changelog.as_ref().map(|list| list.name.clone());
        next.changelog_manifest_list_size = self.offer.changelog.as_ref().map(|list| list.size);
        next.commit_user = self.shared.user.to_owned();
        next.commit_identifier = self.shared.identifier;
        next.time_millis = self.context.log.env().now_millis();
        let rows_before = match latest {
            None => 0,
            // Snapshots of versions 1 and 2 do not say.
            Some(latest) => match latest.total_record_count {
                Some(rows) => rows,
                None => manifests::count_rows(self.context, latest).await?,
            },
        };
        let total = rows_before.checked_add(delta_rows);
        next.total_record_count = Some(total.ok_or(TableError::RowCount {
            before: rows_before,
            added: delta_rows,
        })?);
        next.delta_record_count = Some(delta_rows);
        next.changelog_record_count = Some(self.changes.changelog_rows());
        next.watermark = watermark_after(latest, self.shared.watermark);
        next.properties = properties_of(self.shared.properties);
        if let Some(latest) = latest {
            next.index_manifest = latest.index_manifest.clone();
            next.log_offsets = latest.log_offsets.clone();
            next.next_row_id = latest.next_row_id;
            next.statistics = manifests::statistics_for(self.context, latest, schema).await?;
        }
        Ok(next)
    }
}

/// The pause before the next attempt, with up to a fifth more by chance so that writers fall out of step.
fn wait(context: &CommitContext, attempt: u32) -> Duration {
    let wait = context.options.commit_retry_wait(attempt);
    let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
    wait + Duration::from_micros(context.log.env().random_below(micros / 5 + 1))
}

async fn finished(
    context: &CommitContext,
    id: SnapshotId,
    kind: CommitKind,
) -> Result<CommittedSnapshot> {
    // The snapshot is there whatever becomes of the hint; readers find it by probing.
    if let Err(e) = context.log.snapshots().write_latest_hint(id).await {
        tracing::warn!(snapshot = id.0, error = %e, "committed, but the LATEST hint was not written");
    }
    Ok(CommittedSnapshot { id, kind })
}
