//! Whatever is done to a table, it reads as a plain map or list of the rows written.
//!
//! ```text
//!  Shape (random table) + Vec<Act> (random history)
//!     └─ Subject: the table beside a model; after each commit every new snapshot is read and compared
//!           └─ at the end: all snapshots again, the stream from snapshot 1, verify
//! ```

mod model;
mod subject;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use self::subject::Subject;

/// The table.
#[derive(Debug, Clone)]
struct Shape {
    keyed: bool,
    partitioned: bool,
    /// -1: without buckets.
    buckets: i32,
    changelog_input: bool,
    sequence: bool,
    ignore_delete: bool,
    thin: bool,
    write_only: bool,
    spillable: bool,
    trigger: u8,
    target_file_kib: u16,
    stats: &'static str,
    memory_bytes: usize,
}

/// A row to write, as choices.
#[derive(Debug, Clone)]
struct Choice {
    key: u8,
    partition: u8,
    kind: u8,
    seeds: [u16; 4],
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Act {
    /// Writes rows as one batch.
    Write(Vec<Choice>),
    Commit {
        wait: bool,
    },
    /// Compacts everything, then commits.
    Compact {
        full: bool,
    },
    /// Goes on with a new writer of the newest schema.
    Reopen,
    /// Ends the writer with what it holds: in order, or as a process that dies.
    Abandon {
        in_order: bool,
    },
    AddColumn(u8),
    Rename(u8),
    Widen(u8),
    DropColumn(u8),
    /// Reads with columns, a condition and a limit.
    Ask {
        column: u8,
        op: u8,
        seed: u16,
        limit: u8,
    },
}

fn shape() -> impl Strategy<Value = Shape> {
    let kind = (0_u8..4, any::<bool>(), 1_i32..4);
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
        any::<bool>(),
        prop::bool::weighted(0.25),
        any::<bool>(),
    );
    let sizes = (
        2_u8..5,
        prop_oneof![Just(2_u16), Just(8), Just(1_000)],
        prop_oneof![
            Just("truncate(16)"),
            Just("truncate(2)"),
            Just("full"),
            Just("counts"),
            Just("none")
        ],
        prop_oneof![Just(1_usize), Just(20_000), Just(8 << 20)],
    );
    (kind, flags, sizes).prop_map(|(kind, flags, sizes)| {
        let (what, partitioned, buckets) = kind;
        let (input, sequence, ignore_delete, thin, write_only, spillable) = flags;
        let keyed = what < 2;
        Shape {
            keyed,
            partitioned,
            buckets: if what == 3 { -1 } else { buckets },
            changelog_input: keyed && input,
            sequence: keyed && sequence,
            ignore_delete: keyed && ignore_delete,
            thin: keyed && thin,
            write_only,
            spillable,
            trigger: sizes.0,
            target_file_kib: sizes.1,
            stats: sizes.2,
            memory_bytes: sizes.3,
        }
    })
}

fn choice() -> impl Strategy<Value = Choice> {
    (0_u8..14, 0_u8..3, 0_u8..12, any::<[u16; 4]>()).prop_map(|(key, partition, kind, seeds)| {
        Choice {
            key,
            partition,
            kind,
            seeds,
        }
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => prop::collection::vec(choice(), 1..30).prop_map(Act::Write),
        5 => any::<bool>().prop_map(|wait| Act::Commit { wait }),
        2 => any::<bool>().prop_map(|full| Act::Compact { full }),
        2 => Just(Act::Reopen),
        1 => any::<bool>().prop_map(|in_order| Act::Abandon { in_order }),
        1 => any::<u8>().prop_map(Act::AddColumn),
        1 => any::<u8>().prop_map(Act::Rename),
        1 => any::<u8>().prop_map(Act::Widen),
        1 => any::<u8>().prop_map(Act::DropColumn),
        4 => (any::<u8>(), any::<u8>(), any::<u16>(), 0_u8..9)
            .prop_map(|(column, op, seed, limit)| Act::Ask { column, op, seed, limit }),
    ]
}

fn run(shape: &Shape, acts: &[Act]) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut subject = Subject::create(shape).await;
        for act in acts {
            subject.perform(act).await?;
        }
        subject.perform(&Act::Commit { wait: true }).await?;
        subject.check_whole_history().await
    })
}

#[test]
fn a_table_reads_as_the_plain_map_or_list_of_what_was_written() {
    let cases = std::env::var("TIDEWATER_LAW_CASES").ok();
    let seed = std::env::var("TIDEWATER_LAW_SEED").ok();
    let config = Config {
        cases: cases.map_or(120, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let mut bytes = [7_u8; 32];
    if let Some(seed) = seed {
        bytes[..8].copy_from_slice(&seed.parse::<u64>().unwrap().to_le_bytes());
    }
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let histories = (shape(), prop::collection::vec(act(), 3..22));
    let outcome = TestRunner::new_with_rng(config, random)
        .run(&histories, |(shape, acts)| run(&shape, &acts));
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
