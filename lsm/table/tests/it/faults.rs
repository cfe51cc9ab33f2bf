//! Stores that fail: whichever request of a write and its commit meets trouble, the table holds the old rows or the new ones, whole.

use std::collections::BTreeSet;
use std::time::Duration;

use tidewater_format::CommitKind;
use tidewater_io::{Fault, FaultRates, FaultRule, FaultyStore, FileIo};
use tidewater_table::{CommitOptions, Committable, Table, VerifyOptions};

use crate::small::{
    Kind, ROOT, SmallRow, USER, chain, changes, commit, create, memory, open, prepare, read,
    small_row,
};

/// The rows before, and the rows that are written under trouble.
fn rows() -> (Vec<Vec<SmallRow>>, Vec<SmallRow>) {
    let old = vec![
        vec![small_row(1, "a"), small_row(2, "b")],
        vec![small_row(2, "c"), small_row(3, "d")],
    ];
    let new = vec![small_row(3, "e"), small_row(4, "f"), small_row(6, "g")];
    (old, new)
}

/// What the table holds after these commits.
fn state(kind: Kind, commits: &[Vec<SmallRow>]) -> Vec<SmallRow> {
    let mut state: Vec<SmallRow> = Vec::new();
    for row in commits.iter().flatten() {
        if kind == Kind::Keyed {
            state.retain(|there| there.0 != row.0);
        }
        state.push(row.clone());
    }
    state.sort_unstable();
    state
}

/// Nothing that snapshots reach is hurt, and what they do not reach can go.
async fn check_whole(table: &Table, io: &FileIo, place: &str) {
    let report = table.verify(VerifyOptions { orphans: true }).await.unwrap();
    assert_eq!(report.faults, [], "{place}");
    for orphan in &report.orphans {
        io.delete(&format!("{ROOT}/{orphan}")).await.unwrap();
    }
    let report = table.verify(VerifyOptions { orphans: true }).await.unwrap();
    assert_eq!(
        (report.faults, report.orphans),
        (vec![], vec![]),
        "{place} without its orphans"
    );
}

/// One write and commit whose request number `skip` and the `times - 1` after it meet `fault`; whether there were so many requests.
async fn meets(kind: Kind, fault: Fault, skip: u32, times: u32) -> bool {
    let place = format!("{kind:?}: request {skip} and {} more: {fault:?}", times - 1);
    let io = memory();
    let quiet = create(&io, ROOT, kind).await;
    let (old, new) = rows();
    for (identifier, rows) in (1..).zip(&old) {
        commit(&quiet, identifier, rows).await.unwrap();
    }
    let before = state(kind, &old);
    let after = state(kind, &[old.concat(), new.clone()]);
    let appends = old.len();

    let (faulty, handle) = FaultyStore::wrap(&io, FaultRates::default());
    handle.add(FaultRule {
        operation: None,
        path_contains: String::new(),
        skip,
        times,
        fault,
    });
    let options = || CommitOptions {
        user: USER.to_owned(),
    };
    let mut pending: Option<Committable> = None;
    let outcome = async {
        let table = open(&faulty, ROOT).await?;
        let committable = prepare(&table, 9, &new).await?;
        pending = Some(committable.clone());
        table.new_commit(options())?.commit(committable).await
    }
    .await;
    let met = handle.met() > 0;
    if matches!(fault, Fault::Delay(_)) {
        assert!(outcome.is_ok(), "{place}: {outcome:?}");
    }

    let got = read(&quiet.new_scan()).await.unwrap();
    match (&outcome, &pending) {
        (Ok(_), _) => assert_eq!(got, after, "{place}: acknowledged"),
        (Err(error), None) => assert_eq!(got, before, "{place}: nothing prepared, {error}"),
        (Err(error), Some(_)) => {
            assert!(got == before || got == after, "{place}: {error}: {got:?}");
        }
    }
    // A restarted job offers again what it does not know the end of: once, and a second time.
    if let Some(committable) = pending {
        for _ in 0..2 {
            let commit = quiet.new_commit(options()).unwrap();
            let again = vec![committable.clone()];
            commit.filter_and_commit(again).await.unwrap();
            let got = read(&quiet.new_scan()).await.unwrap();
            assert_eq!(got, after, "{place}: offered again");
        }
        let mut seen = 0;
        for id in quiet.log().snapshots().list_ids().await.unwrap() {
            let snapshot = quiet.log().snapshots().read(id).await.unwrap();
            seen += usize::from(snapshot.commit_kind == CommitKind::Append);
        }
        assert_eq!(seen, appends + 1, "{place}");
        let shown = changes(&quiet).await.unwrap();
        let shown: Vec<_> = shown.into_iter().map(|(_, _, row)| row).collect();
        let all: Vec<_> = old.iter().flatten().chain(&new).cloned().collect();
        assert_eq!(
            shown.iter().collect::<BTreeSet<_>>(),
            all.iter().collect::<BTreeSet<_>>(),
            "{place}: changes"
        );
        assert_eq!(shown.len(), all.len(), "{place}: changes");
    }
    check_whole(&quiet, &io, &place).await;
    // The table goes on as any other.
    commit(&quiet, 10, &[small_row(8, "z")]).await.unwrap();
    met
}

/// Runs through all requests that a write and its commit make, or through one in `step`.
async fn at_each_request(fault: Fault, times: u32, step: usize) {
    for kind in [Kind::Keyed, Kind::Append] {
        let mut requests = 0;
        while meets(kind, fault, requests, times).await {
            requests += u32::try_from(step).unwrap();
        }
        assert!(requests > 15, "{kind:?} {fault:?}: {requests}");
    }
}

#[tokio::test]
async fn an_error_at_any_request_leaves_the_old_or_the_new_rows() {
    at_each_request(Fault::Fail, 1, 1).await;
    at_each_request(Fault::DiskFull, 1, 5).await;
}

#[tokio::test]
async fn an_answer_lost_at_any_request_leaves_the_old_or_the_new_rows() {
    // Once: a retry answers. So often that retries run out: the caller never hears.
    at_each_request(Fault::LoseAnswer, 1, 2).await;
    at_each_request(Fault::LoseAnswer, 6, 1).await;
}

#[tokio::test]
async fn a_request_lost_or_refused_at_any_point_leaves_the_old_or_the_new_rows() {
    at_each_request(Fault::LoseRequest, 1, 5).await;
    at_each_request(Fault::LoseRequest, 6, 2).await;
    at_each_request(Fault::Refuse, 6, 3).await;
}

#[tokio::test]
async fn a_delay_at_any_request_changes_nothing() {
    at_each_request(Fault::Delay(Duration::from_secs(3)), 1, 4).await;
}

#[tokio::test]
async fn a_process_that_dies_at_any_request_leaves_the_old_or_the_new_rows() {
    at_each_request(Fault::Fail, u32::MAX, 1).await;
}

/// A job that starts over after each trouble, offering again what it prepared: every row is there once.
#[tokio::test]
async fn a_job_that_restarts_after_each_trouble_writes_each_row_once() {
    let rates = FaultRates {
        refuse: 4,
        lose_answer: 4,
        lose_request: 4,
        delay: 10,
        delay_max: Duration::from_millis(300),
    };
    for kind in [Kind::Keyed, Kind::Append] {
        let io = memory();
        let quiet = create(&io, ROOT, kind).await;
        let (faulty, handle) = FaultyStore::wrap(&io, rates);
        let mut troubles = 0;
        for number in 0..40 {
            let row = [small_row(number, "x")];
            let mut pending: Option<Committable> = None;
            let (mut tries, mut last) = (0, String::new());
            loop {
                tries += 1;
                assert!(tries < 60, "no way through: {last}");
                let attempt = async {
                    let table = open(&faulty, ROOT).await?;
                    let committable = match &pending {
                        Some(committable) => committable.clone(),
                        None => prepare(&table, number.into(), &row).await?,
                    };
                    pending = Some(committable.clone());
                    let options = CommitOptions {
                        user: USER.to_owned(),
                    };
                    let commit = table.new_commit(options)?;
                    commit.filter_and_commit(vec![committable]).await
                };
                match attempt.await {
                    Ok(_) => break,
                    Err(error) => {
                        troubles += 1;
                        last = chain(&error);
                    }
                }
            }
        }
        assert!(
            troubles > 2 && handle.met() > 30,
            "{troubles} {}",
            handle.met()
        );
        let want: Vec<_> = (0..40).map(|number| small_row(number, "x")).collect();
        assert_eq!(read(&quiet.new_scan()).await.unwrap(), want);
        let shown = changes(&quiet).await.unwrap();
        assert_eq!(shown.len(), 40, "{kind:?} with {troubles} troubles");
        check_whole(&quiet, &io, "after all restarts").await;
    }
}
