//! Faults are met as ordered, and a seed repeats them.

use std::time::Duration;

use super::*;

fn faulty(seed: u64, rates: FaultRates) -> (FileIo, FaultHandle) {
    FaultyStore::wrap(&FileIo::memory().with_env(Env::seeded(seed)), rates)
}

#[tokio::test]
async fn a_refused_request_is_retried_and_a_lasting_failure_is_not() {
    let (io, faults) = faulty(1, FaultRates::default());
    io.write("/f", Bytes::from_static(b"x")).await.unwrap();
    faults.add(FaultRule::next(IoOperation::Read, Fault::Refuse).times(3));
    assert_eq!(io.read("/f").await.unwrap(), "x");
    assert_eq!(io.metrics().retries(IoOperation::Read), 3);
    faults.add(
        FaultRule::next(IoOperation::Read, Fault::Fail)
            .after(1)
            .on_path("/f"),
    );
    assert!(io.read("/f").await.is_ok());
    assert!(matches!(io.read("/f").await, Err(IoError::Failed { .. })));
    assert!(!faults.has_open_rules());
    assert_eq!(faults.met(), 4);
}

#[tokio::test]
async fn a_lost_answer_to_a_put_is_unknown_and_the_file_is_there() {
    let (io, faults) = faulty(1, FaultRates::default());
    for (fault, there) in [(Fault::LoseAnswer, true), (Fault::LoseRequest, false)] {
        let path = format!("/{fault}");
        faults.add(FaultRule::next(IoOperation::PutIfAbsent, fault));
        assert_eq!(
            io.put_if_absent(&path, Bytes::from_static(b"x"))
                .await
                .unwrap(),
            PutOutcome::Unknown
        );
        assert_eq!(io.file_exists(&path).await.unwrap(), there);
    }
    faults.add(FaultRule::next(IoOperation::PutIfAbsent, Fault::Refuse));
    assert_eq!(
        io.put_if_absent("/n", Bytes::new()).await.unwrap(),
        PutOutcome::Created
    );
}

#[tokio::test]
async fn the_same_seed_meets_the_same_faults() {
    let run = async |seed: u64| {
        let rates = FaultRates {
            refuse: 200,
            lose_answer: 200,
            lose_request: 100,
            delay: 200,
            delay_max: Duration::from_secs(1),
        };
        let (io, faults) = faulty(seed, rates);
        let mut outcomes = Vec::new();
        for n in 0..50 {
            outcomes.push(io.put_if_absent(&format!("/{n}"), Bytes::new()).await.ok());
        }
        (outcomes, faults.met(), io.env().monotonic())
    };
    let first = run(5).await;
    assert_eq!(first, run(5).await);
    assert_ne!(first, run(6).await);
    assert!(
        first.0.contains(&Some(PutOutcome::Unknown))
            && first.0.contains(&Some(PutOutcome::Created))
    );
}

#[tokio::test]
async fn a_halted_store_leaves_half_written_files_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = format!("{}/data", dir.path().display());
    let (io, faults) = FaultyStore::wrap(&FileIo::local(), FaultRates::default());
    let mut sink = io.open_write(&path).await.unwrap();
    sink.write(Bytes::from_static(b"x")).await.unwrap();
    faults.halt();
    assert!(sink.finish().await.is_err());
    assert!(std::fs::exists(&path).unwrap());
    assert!(io.size(&path).await.is_err());
    faults.resume();
    assert!(io.size(&path).await.is_ok());
}
