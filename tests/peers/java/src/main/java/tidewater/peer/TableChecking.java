package tidewater.peer;

import org.apache.paimon.Snapshot;
import org.apache.paimon.bucket.BucketFunction;
import org.apache.paimon.codegen.CodeGenUtils;
import org.apache.paimon.codegen.RecordComparator;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.format.FileFormat;
import org.apache.paimon.format.FormatReaderContext;
import org.apache.paimon.fs.Path;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.PrimaryKeyTableUtils;
import org.apache.paimon.table.SpecialFields;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.CloseableIterator;
import org.apache.paimon.utils.InternalRowUtils;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * verify: walks every snapshot and holds what manifests say of each file against what is in it.
 *
 * <p>Looks at: record counts of snapshots, counts and ranges of manifests, files that are added twice or deleted unknown, the base of
 * a snapshot against the one before; of data files size, row count, sequence range, delete count, key order, first and last key,
 * statistics, bucket and partition of each row; and that files of a level above 0 do not overlap.
 */
final class TableChecking {

    private final Session session;
    private final FileStoreTable table;
    private final Set<String> checkedFiles = new HashSet<>();
    private final Set<String> checkedManifests = new HashSet<>();
    private int faults;

    TableChecking(Session session) throws Exception {
        this.session = session;
        this.table = session.table();
    }

    private void fault(String code, Object where, String detail) {
        faults++;
        session.emit(Peer.JSON.createObjectNode().put("fault", code).put("where", where.toString()).put("detail", detail));
    }

    private void expect(boolean holds, String code, Object where, String detail) {
        if (!holds) {
            fault(code, where, detail);
        }
    }

    void run() throws Exception {
        Map<String, ManifestEntry> before = null;
        List<Snapshot> snapshots = new ArrayList<>();
        table.snapshotManager().snapshots().forEachRemaining(snapshots::add);
        snapshots.sort(Comparator.comparingLong(Snapshot::id));
        for (Snapshot snapshot : snapshots) {
            before = snapshot(snapshot, before);
        }
        ObjectNode summary = Peer.JSON.createObjectNode();
        summary.putObject("summary")
                .put("snapshots", snapshots.size())
                .put("dataFiles", checkedFiles.size())
                .put("faults", faults);
        session.emit(summary);
    }

    // ------------------------------------------------------------------ snapshots and manifests

    private Map<String, ManifestEntry> snapshot(Snapshot snapshot, Map<String, ManifestEntry> before) throws Exception {
        String where = "snapshot " + snapshot.id();
        Map<String, ManifestEntry> live = new LinkedHashMap<>();
        apply(where, snapshot.baseManifestList(), live);
        if (before != null) {
            expect(live.keySet().equals(before.keySet()), "base", where, "is not what the snapshot before had");
        }
        long delta = 0;
        for (ManifestEntry entry : apply(where, snapshot.deltaManifestList(), live)) {
            delta += (entry.kind() == FileKind.ADD ? 1 : -1) * entry.file().rowCount();
        }
        count(where, "total-record-count", snapshot.totalRecordCount(), rows(live.values()));
        count(where, "delta-record-count", snapshot.deltaRecordCount(), delta);
        if (snapshot.changelogManifestList() != null) {
            Map<String, ManifestEntry> changelog = new LinkedHashMap<>();
            apply(where, snapshot.changelogManifestList(), changelog);
            count(where, "changelog-record-count", snapshot.changelogRecordCount(), rows(changelog.values()));
            for (ManifestEntry entry : changelog.values()) {
                file(entry, true);
            }
        }
        for (ManifestEntry entry : live.values()) {
            file(entry, false);
        }
        if (!table.primaryKeys().isEmpty()) {
            levels(where, live.values());
        }
        return live;
    }

    private static long rows(Iterable<ManifestEntry> entries) {
        long rows = 0;
        for (ManifestEntry entry : entries) {
            rows += entry.file().rowCount();
        }
        return rows;
    }

    private void count(String where, String code, Long said, long found) {
        expect(said == null || said == found, code, where, "says " + said + ", is " + found);
    }

    private List<ManifestEntry> apply(String where, String listName, Map<String, ManifestEntry> live) throws Exception {
        List<ManifestEntry> all = new ArrayList<>();
        for (ManifestFileMeta meta : table.store().manifestListFactory().create().read(listName)) {
            List<ManifestEntry> entries = table.store().manifestFileFactory().create().read(meta.fileName());
            if (checkedManifests.add(meta.fileName())) {
                manifest(meta, entries);
            }
            for (ManifestEntry entry : entries) {
                String id = entry.bucket() + "/" + entry.level() + "/" + entry.fileName() + "/" + entry.partition().hashCode();
                boolean known = entry.kind() == FileKind.ADD ? live.put(id, entry) == null : live.remove(id) != null;
                expect(known, "entry", where, entry.kind() + " " + entry.fileName() + " does not fit what was there");
            }
            all.addAll(entries);
        }
        return all;
    }

    private void manifest(ManifestFileMeta meta, List<ManifestEntry> entries) throws Exception {
        long added = entries.stream().filter(e -> e.kind() == FileKind.ADD).count();
        boolean counts = added == meta.numAddedFiles() && entries.size() - added == meta.numDeletedFiles();
        expect(counts, "manifest-counts", meta.fileName(), "has +" + added + " of " + entries.size());
        long size = table.fileIO().getFileSize(table.store().pathFactory().toManifestFilePath(meta.fileName()));
        expect(size == meta.fileSize(), "manifest-size", meta.fileName(), "says " + meta.fileSize() + ", is " + size);
        List<DataField> keys = table.schema().logicalPartitionType().getFields();
        Bounds bounds = new Bounds(keys);
        for (ManifestEntry entry : entries) {
            bounds.add(values(entry.partition(), keys, 0));
            boolean inside =
                    (meta.minBucket() == null || meta.minBucket() <= entry.bucket())
                            && (meta.maxBucket() == null || meta.maxBucket() >= entry.bucket())
                            && (meta.minLevel() == null || meta.minLevel() <= entry.level())
                            && (meta.maxLevel() == null || meta.maxLevel() >= entry.level());
            expect(inside, "manifest-range", meta.fileName(), entry.bucket() + " level " + entry.level());
        }
        bounds.hold(meta.partitionStats(), null, "manifest-stats", meta.fileName());
    }

    private void levels(String where, Iterable<ManifestEntry> live) {
        RecordComparator order = keyOrder(table.schema());
        Map<String, List<DataFileMeta>> levels = new LinkedHashMap<>();
        for (ManifestEntry entry : live) {
            if (entry.level() > 0) {
                String place = entry.partition().hashCode() + " bucket " + entry.bucket() + " level " + entry.level();
                levels.computeIfAbsent(place, p -> new ArrayList<>()).add(entry.file());
            }
        }
        levels.forEach(
                (place, files) -> {
                    files.sort((a, b) -> order.compare(a.minKey(), b.minKey()));
                    for (int i = 1; i < files.size(); i++) {
                        DataFileMeta left = files.get(i - 1);
                        DataFileMeta right = files.get(i);
                        boolean apart = order.compare(left.maxKey(), right.minKey()) < 0;
                        expect(apart, "level-overlap", where + " " + place, left.fileName() + ", " + right.fileName());
                    }
                });
    }

    // ------------------------------------------------------------------ data files

    private static RecordComparator keyOrder(TableSchema schema) {
        return CodeGenUtils.newRecordComparator(schema.logicalTrimmedPrimaryKeysType().getFieldTypes());
    }

    private static Object[] values(InternalRow row, List<DataField> fields, int from) {
        Object[] values = new Object[fields.size()];
        for (int i = 0; i < values.length; i++) {
            int at = from + i;
            values[i] = row.isNullAt(at) ? null : InternalRowUtils.copy(
                    InternalRowUtils.get(row, at, fields.get(i).type()), fields.get(i).type());
        }
        return values;
    }

    private void file(ManifestEntry entry, boolean changelog) throws Exception {
        DataFileMeta meta = entry.file();
        Path path = table.store().pathFactory().createDataFilePathFactory(entry.partition(), entry.bucket()).toPath(meta);
        if (!checkedFiles.add(path.toString())) {
            return;
        }
        long size = table.fileIO().getFileSize(path);
        expect(size == meta.fileSize(), "file-size", path, "says " + meta.fileSize() + ", is " + size);
        TableSchema schema = table.schemaManager().schema(meta.schemaId());
        boolean keyed = !schema.primaryKeys().isEmpty();
        List<DataField> fields = new ArrayList<>();
        List<DataField> keyFields = keyed ? schema.trimmedPrimaryKeysFields() : new ArrayList<>();
        if (keyed) {
            fields.addAll(PrimaryKeyTableUtils.addKeyNamePrefix(keyFields));
            fields.add(SpecialFields.SEQUENCE_NUMBER);
            fields.add(SpecialFields.VALUE_KIND);
        }
        int valuesFrom = fields.size();
        fields.addAll(schema.fields());
        Contents contents = new Contents(entry, schema, keyFields, changelog);
        RowType stored = new RowType(fields);
        try (CloseableIterator<InternalRow> rows =
                new RecordReaderIterator<>(
                        FileFormat.fromIdentifier(meta.fileFormat(), Options.fromMap(table.options()))
                                .createReaderFactory(stored, stored, new ArrayList<>())
                                .createReader(new FormatReaderContext(table.fileIO(), path, size)))) {
            while (rows.hasNext()) {
                InternalRow row = rows.next();
                Object[] key = values(row, keyFields, 0);
                if (keyed) {
                    contents.addKey(key, row.getLong(keyFields.size()), row.getByte(keyFields.size() + 1));
                }
                contents.addValues(values(row, schema.fields(), valuesFrom), key);
            }
        }
        contents.hold(path);
    }

    /** What one data file really holds. */
    private final class Contents {
        private final ManifestEntry entry;
        private final TableSchema schema;
        private final boolean changelog;
        private final List<DataField> keyFields;
        private final Bounds keys;
        private final Bounds values;
        private final InternalRowSerializer keySerializer;
        private final RecordComparator keyOrder;
        private final List<String> broken = new ArrayList<>();
        private long rows;
        private long deletes;
        private long leastSequence = Long.MAX_VALUE;
        private long greatestSequence = Long.MIN_VALUE;
        private BinaryRow firstKey;
        private BinaryRow lastKey;

        Contents(ManifestEntry entry, TableSchema schema, List<DataField> keyFields, boolean changelog) {
            this.entry = entry;
            this.schema = schema;
            this.changelog = changelog;
            this.keyFields = keyFields;
            this.keys = new Bounds(keyFields);
            this.values = new Bounds(schema.fields());
            this.keySerializer = new InternalRowSerializer(new RowType(keyFields));
            this.keyOrder = keyFields.isEmpty() ? null : keyOrder(schema);
        }

        void addKey(Object[] key, long sequence, byte kind) {
            keys.add(key);
            BinaryRow row = keySerializer.toBinaryRow(GenericRow.of(key)).copy();
            if (firstKey == null) {
                firstKey = row;
            } else if (!changelog && keyOrder.compare(lastKey, row) >= 0) {
                broken.add("key-order at row " + rows);
            }
            lastKey = row;
            leastSequence = Math.min(leastSequence, sequence);
            greatestSequence = Math.max(greatestSequence, sequence);
            deletes += RowKind.fromByteValue(kind).isRetract() ? 1 : 0;
        }

        void addValues(Object[] row, Object[] key) {
            values.add(row);
            for (int i = 0; i < key.length; i++) {
                Object inValue = row[schema.fieldNames().indexOf(keyFields.get(i).name())];
                if (!same(inValue, key[i], keyFields.get(i))) {
                    broken.add("key-column " + keyFields.get(i).name() + " at row " + rows);
                }
            }
            List<DataField> partition = schema.logicalPartitionType().getFields();
            Object[] place = values(entry.partition(), partition, 0);
            for (int i = 0; i < place.length; i++) {
                if (!same(row[schema.fieldNames().indexOf(partition.get(i).name())], place[i], partition.get(i))) {
                    broken.add("partition " + partition.get(i).name() + " at row " + rows);
                }
            }
            if (table.bucketMode() == BucketMode.HASH_FIXED && entry.totalBuckets() > 0) {
                RowType type = schema.logicalBucketKeyType();
                Object[] bucketKey =
                        schema.bucketKeys().stream().map(name -> row[schema.fieldNames().indexOf(name)]).toArray();
                BinaryRow binary = new InternalRowSerializer(type).toBinaryRow(GenericRow.of(bucketKey));
                int bucket =
                        BucketFunction.create(table.coreOptions().bucketFunctionType(), type)
                                .bucket(binary, entry.totalBuckets());
                if (bucket != entry.bucket()) {
                    broken.add("bucket at row " + rows + ": belongs to " + bucket);
                }
            }
            rows++;
        }

        void hold(Path path) {
            DataFileMeta meta = entry.file();
            expect(rows == meta.rowCount(), "row-count", path, "says " + meta.rowCount() + ", has " + rows);
            if (!broken.isEmpty()) {
                fault("rows", path, broken.stream().limit(3).collect(Collectors.joining("; ")));
            }
            if (!keyFields.isEmpty() && rows > 0) {
                boolean range = leastSequence == meta.minSequenceNumber() && greatestSequence == meta.maxSequenceNumber();
                expect(range, "sequence-range", path, "has " + leastSequence + ".." + greatestSequence);
                boolean counted = !meta.deleteRowCount().isPresent() || meta.deleteRowCount().get() == deletes;
                expect(counted, "delete-row-count", path, "has " + deletes);
                if (!changelog) {
                    boolean ends = firstKey.equals(meta.minKey()) && lastKey.equals(meta.maxKey());
                    expect(ends, "key-range", path, "first or last key differs");
                }
                keys.hold(meta.keyStats(), null, "key-stats", path);
            }
            values.hold(meta.valueStats(), meta.valueStatsCols(), "value-stats", path);
        }
    }

    private static boolean same(Object a, Object b, DataField field) {
        return a == null || b == null ? a == b : InternalRowUtils.equals(a, b, field.type());
    }

    /** Null counts and true bounds of columns, to hold statistics against. */
    private final class Bounds {
        private final List<DataField> fields;
        private final Object[] least;
        private final Object[] greatest;
        private final long[] nulls;

        Bounds(List<DataField> fields) {
            this.fields = fields;
            this.least = new Object[fields.size()];
            this.greatest = new Object[fields.size()];
            this.nulls = new long[fields.size()];
        }

        void add(Object[] row) {
            for (int i = 0; i < row.length; i++) {
                if (row[i] == null) {
                    nulls[i]++;
                } else if (Ordering.has(fields.get(i).type()) && !Ordering.isNan(row[i])) {
                    if (least[i] == null || Ordering.compare(row[i], least[i], fields.get(i).type()) < 0) {
                        least[i] = row[i];
                    }
                    if (greatest[i] == null || Ordering.compare(row[i], greatest[i], fields.get(i).type()) > 0) {
                        greatest[i] = row[i];
                    }
                }
            }
        }

        void hold(org.apache.paimon.stats.SimpleStats stats, List<String> columns, String code, Object where) {
            List<String> names = columns != null ? columns : fields.stream().map(DataField::name).collect(Collectors.toList());
            BinaryRow low = stats.minValues();
            BinaryRow high = stats.maxValues();
            if (columns == null && low.getFieldCount() == 0) {
                return;
            }
            if (low.getFieldCount() != names.size() || high.getFieldCount() != names.size()) {
                fault(code, where, low.getFieldCount() + " columns, " + names.size() + " names");
                return;
            }
            for (int j = 0; j < names.size(); j++) {
                String name = names.get(j);
                int i = fields.stream().map(DataField::name).collect(Collectors.toList()).indexOf(name);
                DataField field = fields.get(i);
                boolean counted = stats.nullCounts().isNullAt(j) || stats.nullCounts().getLong(j) == nulls[i];
                expect(counted, code, where, name + " has " + nulls[i] + " nulls");
                if (!Ordering.has(field.type())) {
                    continue;
                }
                Object min = low.isNullAt(j) ? null : InternalRowUtils.get(low, j, field.type());
                Object max = high.isNullAt(j) ? null : InternalRowUtils.get(high, j, field.type());
                if (least[i] == null) {
                    continue;
                }
                boolean below = min == null || Ordering.isNan(min) || Ordering.compare(min, least[i], field.type()) <= 0;
                boolean above = max == null || Ordering.isNan(max) || Ordering.compare(max, greatest[i], field.type()) >= 0;
                expect(below, code, where, name + ": minimum " + min + " above " + least[i]);
                expect(above, code, where, name + ": maximum " + max + " below " + greatest[i]);
            }
        }
    }
}
