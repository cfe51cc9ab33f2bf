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
    let offer = offer?;
    let mut found = Some(latest);
    let started = context.log.env().monotonic();
    let mut unknown = false;
    let mut first_attempted: Option<SnapshotId> = None;
    let mut attempts = 0_u32;
    loop {
        let latest = match found.take() {
            Some(Ok(latest)) => latest,
            Some(Err(e)) => {
                give_up(context, &offer, unknown).await;
                return Err(e);
            }
            None => context.log.snapshots().latest().await?,
        };
        if let Some(first) = first_attempted
            && let Some(id) = find_ours(context, &offer, first, latest.as_ref()).await?
        {
            return finished(context, id, changes.kind).await;
        }
        if attempts > context.options.commit_retries() {
            let last = first_attempted.map_or(0, |id| id.0);
            give_up(context, &offer, unknown).await;
            return Err(TableError::RetriesExhausted { attempts, last });
        }
        let elapsed = context.log.env().monotonic().saturating_sub(started);
        if let Some(limit) = context.options.commit_timeout
            && attempts > 0
            && elapsed > limit
        {
            give_up(context, &offer, unknown).await;
            return Err(TableError::CommitTimeout {
                elapsed_millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            });
        }
        if check && let Some(latest) = &latest {
            let base = manifests::live_entries(context, latest, &changes.partitions()).await?;
            if let Err(reason) = conflict::check(base, &changes, context.keys.as_ref()) {
                give_up(context, &offer, unknown).await;
                return Err(TableError::FileConflict {
                    user: shared.user.to_owned(),
                    snapshot: latest.id.0,
                    reason,
                });
            }
        }
        let base = manifests::write_base(context, latest.as_ref());
        let schema = context.log.schemas().latest_or_fail();
        let (base, schema) = match tokio::join!(base, schema) {
            (Ok(base), Ok(schema)) => (base, schema.id),
            (Ok(base), Err(e)) => {
                manifests::discard(context, &base).await;
                give_up(context, &offer, unknown).await;
                return Err(e);
            }
            (Err(e), _) => {
                give_up(context, &offer, unknown).await;
                return Err(e);
            }
        };
        let parts = Parts {
            changes: &changes,
            offer: &offer,
            base: &base,
            schema,
        };
        let snapshot = snapshot(context, shared, parts, latest.as_ref()).await?;
        let id = snapshot.id;
        match context.publisher.publish(&snapshot).await {
            Ok(CommitOutcome::Committed(id)) => return finished(context, id, changes.kind).await,
            // A lost race is certain, so what only this attempt needs can go; the offer is used again.
            Ok(CommitOutcome::Lost { .. }) => manifests::discard(context, &base).await,
            Ok(CommitOutcome::Unknown { .. }) => unknown = true,
            Err(e) => {
                manifests::discard(context, &base).await;
                give_up(context, &offer, unknown).await;
                return Err(e);
            }
        }
        first_attempted.get_or_insert(id);
        context.log.env().sleep(wait(context, attempts)).await;
        attempts += 1;
    }
}

/// The pause before the next attempt, with up to a fifth more by chance so that writers fall out of step.
fn wait(context: &CommitContext, attempt: u32) -> Duration {
    let wait = context.options.commit_retry_wait(attempt);
    let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
    wait + Duration::from_micros(context.log.env().random_below(micros / 5 + 1))
}

/// A snapshot from `first` on that carries our delta list: then an attempt of which we did not hear has won.
async fn find_ours(
    context: &CommitContext,
    offer: &Offer,
    first: SnapshotId,
    latest: Option<&Snapshot>,
) -> Result<Option<SnapshotId>> {
    let Some(latest) = latest else {
        return Ok(None);
    };
    for id in first.0..=latest.id.0 {
        if let Some(snapshot) = context.log.snapshots().try_read(SnapshotId(id)).await?
            && snapshot.delta_manifest_list == offer.delta.name
        {
            return Ok(Some(snapshot.id));
        }
    }
    Ok(None)
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

/// Removes the manifests of a commit that certainly is in no snapshot.
async fn give_up(context: &CommitContext, offer: &Offer, unknown: bool) {
    if unknown {
        return;
    }
    manifests::discard(context, &offer.delta).await;
    if let Some(changelog) = &offer.changelog {
        manifests::discard(context, changelog).await;
    }
}

/// What a snapshot is put together from.
struct Parts<'a> {
    changes: &'a Changes,
    offer: &'a Offer,
    base: &'a WrittenList,
    schema: SchemaId,
}

async fn snapshot(
    context: &CommitContext,
    shared: &Shared<'_>,
    parts: Parts<'_>,
    latest: Option<&Snapshot>,
) -> Result<Snapshot> {
    let Parts {
        changes,
        offer,
        base,
        schema,
    } = parts;
    let delta_rows = changes.delta_rows();
    let mut next = Snapshot::new(
        latest.map_or(SnapshotId::FIRST, |snapshot| snapshot.id.next()),
        schema,
        changes.kind,
    );
    next.base_manifest_list = base.name.clone();
    next.base_manifest_list_size = Some(base.size);
    next.delta_manifest_list = offer.delta.name.clone();
    next.delta_manifest_list_size = Some(offer.delta.size);
    next.changelog_manifest_list = offer.changelog.as_ref().map(|list| list.name.clone());
    next.changelog_manifest_list_size = offer.changelog.as_ref().map(|list| list.size);
    next.commit_user = shared.user.to_owned();
    next.commit_identifier = shared.identifier;
    next.time_millis = context.log.env().now_millis();
    let rows_before = match latest {
        None => 0,
        // Snapshots of versions 1 and 2 do not say.
        Some(latest) => match latest.total_record_count {
            Some(rows) => rows,
            None => manifests::count_rows(context, latest).await?,
        },
    };
    let total = rows_before.checked_add(delta_rows);
    next.total_record_count = Some(total.ok_or(TableError::RowCount {
        before: rows_before,
        added: delta_rows,
    })?);
    next.delta_record_count = Some(delta_rows);
    next.changelog_record_count = Some(changes.changelog_rows());
    next.watermark = watermark_after(latest, shared.watermark);
    next.properties = properties_of(shared.properties);
    if let Some(latest) = latest {
        next.index_manifest = latest.index_manifest.clone();
        next.log_offsets = latest.log_offsets.clone();
        next.next_row_id = latest.next_row_id;
        next.statistics = manifests::statistics_for(context, latest, schema).await?;
    }
    Ok(next)
}
