package tidewater.peer;

import org.apache.paimon.Snapshot;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.types.RowKind;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** write and compact: rows and commits as input lines say. */
final class TableWriting {

    private final Session session;
    private final FileStoreTable table;
    private final String user;

    TableWriting(Session session) throws Exception {
        this.session = session;
        this.table = session.table();
        this.user = session.text("user", "java");
    }

    void run() throws Exception {
        ValueCodec.Rows codec = new ValueCodec.Rows(table.rowType());
        long rows = 0;
        long id = lastIdentifier();
        boolean pending = false;
        try (IOManager io = IOManager.create(System.getProperty("java.io.tmpdir"));
                TableWriteImpl<?> write = (TableWriteImpl<?>) table.newWrite(user).withIOManager(io);
                TableCommitImpl commit = table.newCommit(user)) {
            for (JsonNode line : session.request.get("lines")) {
                if (line.has("row")) {
                    write.write(codec.row(line.get("row"), kind(line)));
                    rows++;
                    pending = true;
                } else if (line.has("commit")) {
                    id = line.get("commit").asLong();
                    commit(commit, id, write.prepareCommit(true, id));
                    pending = false;
                } else {
                    throw new IllegalArgumentException("no such line: " + line);
                }
            }
            if (pending) {
                commit(commit, id + 1, write.prepareCommit(true, id + 1));
            }
        }
        ObjectNode summary = Peer.JSON.createObjectNode().put("rows", rows);
        summary.put("latest", table.snapshotManager().latestSnapshotId());
        session.emit(summary);
    }

    void compactOnly() throws Exception {
        boolean full = !session.text("mode", "full").equals("minor");
        long id = lastIdentifier() + 1;
        try (IOManager io = IOManager.create(System.getProperty("java.io.tmpdir"));
                TableCommitImpl commit = table.newCommit(user)) {
            commit(commit, id, table.bucketMode() == BucketMode.BUCKET_UNAWARE ? unaware(io, full) : buckets(io, full, id));
        }
    }

    private List<CommitMessage> buckets(IOManager io, boolean full, long id) throws Exception {
        try (TableWriteImpl<?> write = (TableWriteImpl<?>) table.newWrite(user).withIOManager(io)) {
            Map<BinaryRow, Set<Integer>> places = new LinkedHashMap<>();
            for (ManifestEntry entry : table.store().newScan().plan().files(FileKind.ADD)) {
                places.computeIfAbsent(entry.partition().copy(), p -> new LinkedHashSet<>()).add(entry.bucket());
            }
            for (Map.Entry<BinaryRow, Set<Integer>> place : places.entrySet()) {
                for (int bucket : place.getValue()) {
                    write.compact(place.getKey(), bucket, full);
                }
            }
            return new ArrayList<>(write.prepareCommit(true, id));
        }
    }

    private List<CommitMessage> unaware(IOManager io, boolean full) throws Exception {
        List<AppendCompactTask> tasks = new ArrayList<>();
        if (full) {
            Map<BinaryRow, List<DataFileMeta>> files = new LinkedHashMap<>();
            for (ManifestEntry entry : table.store().newScan().plan().files(FileKind.ADD)) {
                files.computeIfAbsent(entry.partition().copy(), p -> new ArrayList<>()).add(entry.file());
            }
            files.forEach(
                    (partition, list) -> {
                        if (list.size() > 1) {
                            list.sort(Comparator.comparingLong(DataFileMeta::minSequenceNumber));
                            tasks.add(new AppendCompactTask(partition, list));
                        }
                    });
        } else {
            AppendCompactCoordinator coordinator = new AppendCompactCoordinator(table, false);
            try {
                while (true) {
                    tasks.addAll(coordinator.run());
                }
            } catch (EndOfScanException allPlanned) {
                // how the coordinator says that it is through
            }
        }
        List<CommitMessage> messages = new ArrayList<>();
        BaseAppendFileStoreWrite write = (BaseAppendFileStoreWrite) table.store().newWrite(user);
        write.withIOManager(io);
        for (AppendCompactTask task : tasks) {
            messages.add(task.doCompact(table, write));
        }
        write.close();
        return messages;
    }

    private long lastIdentifier() {
        long id = table.snapshotManager().latestSnapshotOfUserFromFilesystem(user).map(Snapshot::commitIdentifier).orElse(0L);
        return id == Long.MAX_VALUE ? 0 : id;
    }

    private void commit(TableCommitImpl commit, long id, List<CommitMessage> messages) throws Exception {
        Long before = table.snapshotManager().latestSnapshotId();
        ManifestCommittable committable = new ManifestCommittable(id);
        messages.forEach(committable::addFileCommittable);
        commit.ignoreEmptyCommit(true);
        commit.commit(committable);
        Long after = table.snapshotManager().latestSnapshotId();
        ObjectNode line = Peer.JSON.createObjectNode().put("commit", id);
        ArrayNode snapshots = line.putArray("snapshots");
        for (long s = before == null ? 1 : before + 1; after != null && s <= after; s++) {
            snapshots.addObject().put("id", s).put("kind", table.snapshotManager().snapshot(s).commitKind().toString());
        }
        session.emit(line);
    }

    private static RowKind kind(JsonNode line) {
        String kind = line.has("kind") ? line.get("kind").asText() : "+I";
        for (RowKind known : RowKind.values()) {
            if (known.shortString().equals(kind)) {
                return known;
            }
        }
        throw new IllegalArgumentException("no such kind: " + kind);
    }
}
