//! One bucket without files: a write buffer, level-0 runs and one compacted run, merged by the real code.

use std::collections::BTreeMap;

use arrow_array::{Array, Int64Array};
use tidewater_format::TableOptions;
use tidewater_types::Keys;

use super::*;
use crate::gather::GatherPlan;
use crate::sort_fold::{FoldInput, sort_fold, sort_groups};
use crate::sort_merge::{
    MergeBatch, MergeMode, MergeOptions, MergedChunk, SortMerge, Step, Versions,
};

/// Rows in key order, one per key.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) level: i32,
    pub(super) columns: Vec<ArrayRef>,
    pub(super) kinds: Int8Array,
    pub(super) sequence: Int64Array,
}

/// A row as tests compare it.
pub(super) type Row = (RowKind, Vec<ModelValue>);

pub(super) struct Bucket {
    pub(super) schema: TableSchema,
    pub(super) options: TableOptions,
    pub(super) engine: MergeEngine,
    fold: Option<FoldEngine>,
    keys: Vec<usize>,
    key_encoder: KeyEncoder,
    sequence: Vec<usize>,
    sequence_encoder: Option<KeyEncoder>,
    /// Newest first.
    pub(super) level0: Vec<Run>,
    pub(super) base: Option<Run>,
    next_sequence: i64,
}

impl Bucket {
    pub(super) fn new(schema: TableSchema) -> Result<Self> {
        let options = schema.options().unwrap();
        let engine = MergeEngine::from_table(&options)?;
        let at = |name: &String| {
            let mut fields = schema.fields.iter();
            fields.position(|field| field.name == *name).unwrap()
        };
        let keys: Vec<usize> = schema.primary_keys.iter().map(at).collect();
        let sequence = options.sequence_field.as_ref();
        let sequence: Vec<usize> =
            sequence.map_or_else(Vec::new, |names| names.names().iter().map(at).collect());
        let types = |columns: &[usize]| -> Vec<DataType> {
            let types = columns
                .iter()
                .map(|at| schema.fields[*at].data_type.clone());
            types.collect()
        };
        let order = match options.sequence_field_sort_order {
            tidewater_format::SortOrder::Descending => tidewater_types::SequenceOrder::Descending,
            _ => tidewater_types::SequenceOrder::Ascending,
        };
        let sequence_encoder = (!sequence.is_empty())
            .then(|| KeyEncoder::for_sequence(&types(&sequence), order).unwrap());
        Ok(Self {
            fold: if engine.folds() {
                Some(FoldEngine::new(&schema)?)
            } else {
                None
            },
            key_encoder: KeyEncoder::new(&types(&keys)).unwrap(),
            keys,
            sequence,
            sequence_encoder,
            schema,
            options,
            engine,
            level0: Vec::new(),
            base: None,
            next_sequence: 0,
        })
    }

    fn encode(&self, columns: &[ArrayRef]) -> (Keys, Option<Keys>) {
        let pick = |at: &[usize]| -> Vec<ArrayRef> {
            at.iter().map(|at| ArrayRef::clone(&columns[*at])).collect()
        };
        let keys = self.key_encoder.encode(&pick(&self.keys)).unwrap();
        let sequence = self.sequence_encoder.as_ref();
        let sequence = sequence.map(|encoder| encoder.encode(&pick(&self.sequence)).unwrap());
        (keys, sequence)
    }

    /// Flushes rows into a level-0 run. Answers them raw, in buffer order, and merged.
    pub(super) fn flush(&mut self, rows_in: &[Row]) -> Result<(Vec<Row>, Vec<Row>)> {
        let ignored = |kind: RowKind| {
            (self.options.ignore_delete && kind.is_retract())
                || (self.options.ignore_update_before && kind == RowKind::UpdateBefore)
        };
        let kept: Vec<&Row> = rows_in.iter().filter(|(kind, _)| !ignored(*kind)).collect();
        if kept.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let values: Vec<Vec<ModelValue>> = kept.iter().map(|(_, row)| row.clone()).collect();
        let arrays = columns(&self.schema, &values);
        let kinds = Int8Array::from_iter_values(kept.iter().map(|(kind, _)| kind.as_i8()));
        let first = self.next_sequence;
        self.next_sequence += i64::try_from(kept.len()).unwrap();
        let sequence = Int64Array::from_iter_values(first..self.next_sequence);
        let (keys, seq_fields) = self.encode(&arrays);
        let buffered = Run {
            level: 0,
            columns: arrays,
            kinds,
            sequence,
        };
        let input = FoldInput {
            keys: &keys,
            seq_fields: seq_fields.as_ref(),
            kinds: Some(&buffered.kinds),
        };
        let groups = sort_groups(input)?;
        let sorted = gather_rows(&buffered, &groups.order);
        let run = if self.fold.is_some() {
            self.fold_rows(&sorted, &groups.group_ends, false)?
        } else {
            let folded = sort_fold(input, self.engine, true)?;
            assert_eq!(folded.order.as_ref(), Some(&groups.order));
            gather_rows(&buffered, &folded.winners)
        };
        let merged = self.rows_of(&run);
        if !merged.is_empty() {
            self.level0.insert(0, run);
        }
        Ok((self.rows_of(&sorted), merged))
    }

    fn fold_rows(&self, rows: &Run, ends: &BooleanBuffer, always_call: bool) -> Result<Run> {
        let folded = self.fold.as_ref().unwrap().fold(GroupedRows {
            group_ends: ends,
            kinds: Some(&rows.kinds),
            columns: &rows.columns,
            always_call,
        })?;
        let count = folded.sequence_rows.len();
        let sequence = take(&rows.sequence, &folded.sequence_rows, None)?;
        Ok(Run {
            level: rows.level,
            columns: folded.columns,
            kinds: folded
                .kinds
                .unwrap_or_else(|| Int8Array::from(vec![0; count])),
            sequence: Int64Array::from(sequence.to_data()),
        })
    }

    /// Merges runs, newest first. Retractions that win are kept.
    pub(super) fn merge(&self, runs: &[&Run], always_call: bool) -> Result<Run> {
        let expected: Vec<u64> = runs.iter().map(|run| run.kinds.len() as u64).collect();
        let mode = MergeMode::Picks {
            chunk_rows: 3,
            versions: if self.fold.is_some() {
                Versions::Groups
            } else {
                Versions::Winners
            },
        };
        let options = MergeOptions {
            engine: self.engine,
            mode,
            drop_retractions: false,
        };
        let mut merge = SortMerge::new(&expected, options)?;
        let mut slots: BTreeMap<u32, &Run> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            let (keys, seq_fields) = self.encode(&run.columns);
            let batch = MergeBatch {
                keys,
                sequence: Some(run.sequence.clone()),
                seq_fields,
                kinds: Some(run.kinds.clone()),
                rows: run.kinds.len(),
            };
            slots.insert(merge.push_from_level(at, run.level, batch)?, run);
            merge.finish_run(at)?;
        }
        let mut merged = Vec::new();
        loop {
            match merge.step() {
                Step::Done => break,
                Step::Output(chunk) => {
                    let gathered = gather_chunk(&chunk, &slots);
                    merged.push(match &chunk.group_ends {
                        Some(ends) => self.fold_rows(&gathered, ends, always_call)?,
                        None => gathered,
                    });
                }
                other => unreachable!("{other:?}"),
            }
        }
        Ok(self.concat(merged))
    }

    fn concat(&self, runs: Vec<Run>) -> Run {
        let all: Vec<Vec<Vec<ModelValue>>> = runs
            .iter()
            .map(|run| rows(&self.schema, &run.columns))
            .collect();
        let kinds = runs.iter().flat_map(|run| run.kinds.values().to_vec());
        let sequence = runs.iter().flat_map(|run| run.sequence.values().to_vec());
        Run {
            level: 0,
            columns: columns(&self.schema, &all.concat()),
            kinds: Int8Array::from_iter_values(kinds),
            sequence: Int64Array::from_iter_values(sequence),
        }
    }

    pub(super) fn rows_of(&self, run: &Run) -> Vec<Row> {
        let kinds = run.kinds.values().iter();
        kinds
            .map(|kind| RowKind::from_i8(*kind).unwrap())
            .zip(rows(&self.schema, &run.columns))
            .collect()
    }

    pub(super) fn key_of(&self, row: &[ModelValue]) -> String {
        let key: Vec<&ModelValue> = self.keys.iter().map(|at| &row[*at]).collect();
        format!("{key:?}")
    }

    /// Rows by key.
    pub(super) fn by_key(&self, rows: Vec<Row>) -> BTreeMap<String, Row> {
        rows.into_iter()
            .map(|row| (self.key_of(&row.1), row))
            .collect()
    }

    /// All runs, newest first.
    pub(super) fn runs(&self) -> Vec<&Run> {
        self.level0.iter().chain(&self.base).collect()
    }

    /// What a reader sees that merges all levels.
    pub(super) fn visible(&self) -> Result<Vec<Vec<ModelValue>>> {
        let merged = self.merge(&self.runs(), false)?;
        let rows = self.rows_of(&merged).into_iter();
        let adds = rows.filter(|(kind, _)| !kind.is_retract());
        Ok(adds.map(|(_, row)| row).collect())
    }

    /// Makes the adds of a run the compacted one.
    pub(super) fn store(&mut self, run: &Run) {
        let keep: Vec<u32> = (0_u32..)
            .zip(run.kinds.values())
            .filter(|(_, kind)| **kind & 1 == 0)
            .map(|(row, _)| row)
            .collect();
        let mut base = gather_rows(run, &keep);
        base.level = 5;
        self.base = (!keep.is_empty()).then_some(base);
        self.level0.clear();
    }
}

pub(super) fn gather_rows(run: &Run, rows: &[u32]) -> Run {
    let rows = UInt32Array::from(rows.to_vec());
    let pick = |column: &dyn Array| take(column, &rows, None).unwrap();
    Run {
        level: run.level,
        columns: run.columns.iter().map(|column| pick(column)).collect(),
        kinds: Int8Array::from(pick(&run.kinds).to_data()),
        sequence: Int64Array::from(pick(&run.sequence).to_data()),
    }
}

fn gather_chunk(chunk: &MergedChunk, slots: &BTreeMap<u32, &Run>) -> Run {
    let plan = GatherPlan::new(&chunk.picks);
    let width = slots.values().next().map_or(0, |run| run.columns.len());
    let gather = |column: &dyn Fn(&Run) -> ArrayRef| {
        let parts: Vec<ArrayRef> = plan
            .slots()
            .iter()
            .map(|slot| column(slots[slot]))
            .collect();
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        let any = slots.values().next().map(|run| column(run)).unwrap();
        plan.gather(&parts, any.data_type()).unwrap()
    };
    let columns: Vec<ArrayRef> = (0..width)
        .map(|at| gather(&|run: &Run| ArrayRef::clone(&run.columns[at])))
        .collect();
    let kinds = gather(&|run: &Run| std::sync::Arc::new(run.kinds.clone()));
    let sequence = gather(&|run: &Run| std::sync::Arc::new(run.sequence.clone()));
    Run {
        level: 0,
        columns,
        kinds: Int8Array::from(kinds.to_data()),
        sequence: Int64Array::from(sequence.to_data()),
    }
}
