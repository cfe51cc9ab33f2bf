//! What a snapshot says about the load that made it, and how the load goes on after a kill.
//!
//! ```text
//!  each commit of a load: properties tidewater.load.* = inputs, position behind the rows of this snapshot, totals
//!  next run, same commit user: newest snapshot of that user --Checkpoint::resume--> start | go on behind position | done already
//! ```
//!
//! The position is in the same snapshot as the rows, so neither is there without the other: no row is lost or doubled.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::{LoadError, Result};
use super::source::Position;

/// What the names of all properties of a load begin with.
pub const PROPERTY_PREFIX: &str = "tidewater.load.";

const FINGERPRINT: &str = "tidewater.load.sources";
const LIST: &str = "tidewater.load.source-list";
const FILE: &str = "tidewater.load.file";
const ROW: &str = "tidewater.load.row";
const ROWS: &str = "tidewater.load.rows";
const BAD_ROWS: &str = "tidewater.load.bad-rows";
const STATE: &str = "tidewater.load.state";
const RUNNING: &str = "running";
const DONE: &str = "done";

/// Inputs that are listed in a snapshot one by one; of more there is only the fingerprint.
const LISTED_MAX: usize = 32;

/// What identifies an input across runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Full path, or `-` for standard input.
    pub name: String,
    /// Size; none if it has none, as a pipe.
    pub bytes: Option<u64>,
    /// Time of the last change, in milliseconds since 1970; none if it is not known.
    pub modified_millis: Option<i64>,
}

/// Who a load is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadIdentity {
    /// The user of its commits.
    pub commit_user: String,
    /// Whether a later run can be told to be the same load: not so for standard input without a job's name.
    pub is_resumable: bool,
}

impl LoadIdentity {
    /// The load of `files` into `table` (its full name or path). The same table and the same paths are the same load, whatever became of
    /// the files, so that a change of them is noticed and not loaded behind half of what they were; a `job` gives it a name instead.
    /// `fresh_id` is for those that nothing identifies.
    pub fn new(table: &str, files: &[SourceFile], job: Option<&str>, fresh_id: &str) -> Self {
        if let Some(job) = job {
            return Self {
                commit_user: format!("load-{job}"),
                is_resumable: true,
            };
        }
        if files.iter().any(|file| file.bytes.is_none()) {
            return Self {
                commit_user: format!("load-{fresh_id}"),
                is_resumable: false,
            };
        }
        let mut hash = Hash::new();
        hash.text(table);
        files.iter().for_each(|file| hash.text(&file.name));
        Self {
            commit_user: format!("load-{}", hash.hex()),
            is_resumable: true,
        }
    }
}

/// How far a load is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadProgress {
    /// Behind the last row of the snapshot.
    pub position: Position,
    /// Rows loaded since the load's beginning, over all runs.
    pub rows: u64,
    /// Bad rows put aside since then.
    pub bad_rows: u64,
    /// Whether that was all.
    pub is_done: bool,
}

/// What to do first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Begin at the beginning.
    Start,
    /// Skip to the position, with the totals of the runs before.
    GoOn(LoadProgress),
    /// The same inputs are in the table already.
    AlreadyDone(LoadProgress),
}

/// The state of a load as a snapshot keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    fingerprint: String,
    /// The inputs, if they are few.
    list: Option<Vec<SourceFile>>,
    progress: LoadProgress,
}

impl Checkpoint {
    /// The state after a commit.
    pub fn new(files: &[SourceFile], progress: LoadProgress) -> Self {
        Self {
            fingerprint: fingerprint(files),
            list: (files.len() <= LISTED_MAX).then(|| files.to_vec()),
            progress,
        }
    }

    /// The properties to commit with.
    pub fn to_properties(&self) -> BTreeMap<String, String> {
        let state = if self.progress.is_done { DONE } else { RUNNING };
        let mut properties: BTreeMap<String, String> = [
            (FINGERPRINT, self.fingerprint.clone()),
            (FILE, self.progress.position.file.to_string()),
            (ROW, self.progress.position.row.to_string()),
            (ROWS, self.progress.rows.to_string()),
            (BAD_ROWS, self.progress.bad_rows.to_string()),
            (STATE, state.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        if let Some(list) = &self.list {
            let list: Vec<Value> = list
                .iter()
                .map(|file| json!([file.name, file.bytes, file.modified_millis]))
                .collect();
            properties.insert(LIST.to_owned(), Value::Array(list).to_string());
        }
        properties
    }

    /// Reads the properties of a snapshot; none if they are not of a load.
    ///
    /// # Errors
    /// [`LoadError::Checkpoint`] naming a property that is missing or not as [`Checkpoint::to_properties`] writes it.
    pub fn from_properties(properties: &BTreeMap<String, String>) -> Result<Option<Self>> {
        let Some(fingerprint) = properties.get(FINGERPRINT) else {
            return Ok(None);
        };
        let number = |name: &str| {
            let value = properties.get(name).map(String::as_str).unwrap_or_default();
            value
                .parse::<u64>()
                .map_err(|_| refuse(name, value, "a whole number"))
        };
        let state = properties
            .get(STATE)
            .map(String::as_str)
            .unwrap_or_default();
        if state != RUNNING && state != DONE {
            return Err(refuse(STATE, state, "running or done"));
        }
        let list = properties.get(LIST).map(|text| {
            serde_json::from_str::<Vec<(String, Option<u64>, Option<i64>)>>(text)
                .map_err(|_| refuse(LIST, text, "a list of [name, bytes, time]"))
        });
        let list = list.transpose()?.map(|list| {
            list.into_iter()
                .map(|(name, bytes, modified_millis)| SourceFile {
                    name,
                    bytes,
                    modified_millis,
                })
                .collect()
        });
        let file = number(FILE)?;
        Ok(Some(Self {
            fingerprint: fingerprint.clone(),
            list,
            progress: LoadProgress {
                position: Position {
                    file: usize::try_from(file)
                        .map_err(|_| refuse(FILE, &file.to_string(), "an index"))?,
                    row: number(ROW)?,
                },
                rows: number(ROWS)?,
                bad_rows: number(BAD_ROWS)?,
                is_done: state == DONE,
            },
        }))
    }

    /// How far the load was.
    pub fn progress(&self) -> LoadProgress {
        self.progress
    }

    /// What a run over `files` does, given the properties of the newest snapshot that the same commit user made as a load.
    ///
    /// # Errors
    /// [`LoadError::SourcesChanged`] if the inputs are no longer those of the load, finished or not, unless `again` asks for all of them;
    /// [`LoadError::Checkpoint`].
    pub fn resume(
        properties: Option<&BTreeMap<String, String>>,
        files: &[SourceFile],
        again: bool,
    ) -> Result<Resume> {
        let checkpoint = properties.map(Self::from_properties).transpose()?.flatten();
        let Some(checkpoint) = checkpoint else {
            return Ok(Resume::Start);
        };
        let progress = checkpoint.progress;
        // Nothing tells whether standard input brings what it brought before.
        let known = files.iter().all(|file| file.bytes.is_some());
        let same = checkpoint.fingerprint == fingerprint(files);
        match (progress.is_done, same) {
            (true, true) if known => Ok(Resume::AlreadyDone(progress)),
            (false, true) => Ok(Resume::GoOn(progress)),
            _ if again => Ok(Resume::Start),
            (true, true) => Err(LoadError::SourcesChanged {
                what: "it is finished, and standard input may bring other rows".to_owned(),
            }),
            _ => Err(LoadError::SourcesChanged {
                what: checkpoint.difference(files),
            }),
        }
    }

    fn difference(&self, files: &[SourceFile]) -> String {
        let Some(list) = &self.list else {
            return format!("its inputs are not these {} files", files.len());
        };
        for (index, before) in list.iter().enumerate() {
            let Some(file) = files.get(index) else {
                return format!("{} is missing among the inputs", before.name);
            };
            if file.name != before.name {
                return format!(
                    "input {} was {}, and is {}",
                    index + 1,
                    before.name,
                    file.name
                );
            }
            if file.bytes != before.bytes {
                let show =
                    |bytes: Option<u64>| bytes.map_or("no".to_owned(), |bytes| bytes.to_string());
                return format!(
                    "{} had {} bytes, and has {}",
                    file.name,
                    show(before.bytes),
                    show(file.bytes)
                );
            }
            if file.modified_millis != before.modified_millis {
                return format!("{} was written again since", file.name);
            }
        }
        match files.get(list.len()) {
            Some(file) => format!("{} was not among its inputs", file.name),
            None => "its inputs are others".to_owned(),
        }
    }
}

fn refuse(property: &str, value: &str, expected: &'static str) -> LoadError {
    LoadError::Checkpoint {
        property: property.to_owned(),
        value: value.to_owned(),
        expected,
    }
}

fn fingerprint(files: &[SourceFile]) -> String {
    let mut hash = Hash::new();
    for file in files {
        hash.text(&file.name);
        hash.text(&format!("{:?} {:?}", file.bytes, file.modified_millis));
    }
    hash.hex()
}

/// FNV-1a of 64 bits: the same on every machine and in every build.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The text and its end, so that neighbours do not run together.
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: u64) -> SourceFile {
        SourceFile {
            name: name.to_owned(),
            bytes: Some(bytes),
            modified_millis: Some(5),
        }
    }

    fn progress(is_done: bool) -> LoadProgress {
        LoadProgress {
            position: Position { file: 1, row: 7 },
            rows: 107,
            bad_rows: 3,
            is_done,
        }
    }

    #[test]
    fn properties_read_back_and_lead_on() {
        let files = [file("/a", 10), file("/b", 20)];
        for is_done in [false, true] {
            let checkpoint = Checkpoint::new(&files, progress(is_done));
            let properties = checkpoint.to_properties();
            assert!(
                properties
                    .keys()
                    .all(|name| name.starts_with(PROPERTY_PREFIX))
            );
            assert_eq!(
                Checkpoint::from_properties(&properties).unwrap(),
                Some(checkpoint)
            );
            let resume = Checkpoint::resume(Some(&properties), &files, false).unwrap();
            let expected = if is_done {
                Resume::AlreadyDone(progress(true))
            } else {
                Resume::GoOn(progress(false))
            };
            assert_eq!(resume, expected);
        }
        assert_eq!(
            Checkpoint::resume(None, &files, false).unwrap(),
            Resume::Start
        );
        let other = BTreeMap::from([("x".to_owned(), "y".to_owned())]);
        assert_eq!(
            Checkpoint::resume(Some(&other), &files, false).unwrap(),
            Resume::Start
        );
    }

    #[test]
    fn changed_inputs_are_named() {
        let files = [file("/a", 10), file("/b", 20)];
        let properties = Checkpoint::new(&files, progress(false)).to_properties();
        let told = |files: &[SourceFile]| {
            let refused = Checkpoint::resume(Some(&properties), files, false);
            let told = refused.unwrap_err().to_string();
            told.split(';').next().unwrap_or_default().to_owned()
        };
        assert_eq!(
            told(&[file("/a", 10), file("/b", 21)]),
            "the load cannot go on: /b had 20 bytes, and has 21"
        );
        assert_eq!(
            told(&[file("/a", 10)]),
            "the load cannot go on: /b is missing among the inputs"
        );
        assert_eq!(
            told(&[file("/b", 20), file("/a", 10)]),
            "the load cannot go on: input 1 was /a, and is /b"
        );
        assert_eq!(
            told(&[file("/a", 10), file("/b", 20), file("/c", 1)]),
            "the load cannot go on: /c was not among its inputs"
        );
        let mut touched = files.clone();
        touched[0].modified_millis = Some(6);
        assert_eq!(
            told(&touched),
            "the load cannot go on: /a was written again since"
        );
        // The same when the load is over: half of a file that grew would come twice.
        let done = Checkpoint::new(&files, progress(true)).to_properties();
        let grown = [file("/a", 10), file("/b", 21)];
        assert!(Checkpoint::resume(Some(&done), &grown, false).is_err());
        assert_eq!(
            Checkpoint::resume(Some(&done), &grown, true).unwrap(),
            Resume::Start
        );
        let many: Vec<SourceFile> = (0..40).map(|at| file(&format!("/{at}"), at)).collect();
        let properties = Checkpoint::new(&many, progress(false)).to_properties();
        assert!(!properties.contains_key(LIST));
        assert!(Checkpoint::resume(Some(&properties), &many[1..], false).is_err());
    }

    #[test]
    fn a_finished_job_of_standard_input_is_not_taken_for_done() {
        let mut pipe = file("-", 0);
        pipe.bytes = None;
        let pipes = [pipe];
        let done = Checkpoint::new(&pipes, progress(true)).to_properties();
        assert!(Checkpoint::resume(Some(&done), &pipes, false).is_err());
        assert_eq!(
            Checkpoint::resume(Some(&done), &pipes, true).unwrap(),
            Resume::Start
        );
        let half = Checkpoint::new(&pipes, progress(false)).to_properties();
        assert_eq!(
            Checkpoint::resume(Some(&half), &pipes, false).unwrap(),
            Resume::GoOn(progress(false))
        );
    }

    #[test]
    fn properties_that_are_torn_are_refused_by_name() {
        let properties = Checkpoint::new(&[file("/a", 1)], progress(false)).to_properties();
        for name in [FILE, ROW, ROWS, BAD_ROWS, STATE, LIST] {
            let mut torn = properties.clone();
            torn.insert(name.to_owned(), "-1".to_owned());
            let told = Checkpoint::from_properties(&torn).unwrap_err().to_string();
            assert!(told.starts_with(&format!("property {name} ")), "{told}");
        }
    }

    #[test]
    fn a_load_is_known_by_table_and_files_or_by_its_name() {
        let user = |table, files: &[SourceFile], job| {
            LoadIdentity::new(table, files, job, "fresh").commit_user
        };
        let files = [file("/a", 10)];
        assert_eq!(user("t", &files, None), user("t", &files, None));
        assert_ne!(user("t", &files, None), user("u", &files, None));
        assert_eq!(user("t", &files, None), user("t", &[file("/a", 11)], None));
        assert_ne!(user("t", &files, None), user("t", &[file("/b", 10)], None));
        assert_eq!(user("t", &files, Some("daily")), "load-daily");
        let mut pipe = file("-", 0);
        pipe.bytes = None;
        let identity = LoadIdentity::new("t", &[pipe], None, "fresh");
        assert_eq!(identity.commit_user, "load-fresh");
        assert!(!identity.is_resumable);
    }
}
