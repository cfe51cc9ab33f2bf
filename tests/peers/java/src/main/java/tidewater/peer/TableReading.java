package tidewater.peer;

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.source.StreamTableScan;
import org.apache.paimon.table.source.TableRead;
import org.apache.paimon.utils.CloseableIterator;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** read and stream: rows as output lines, in the order the reader gives them. */
final class TableReading {

    private final Session session;

    TableReading(Session session) {
        this.session = session;
    }

    void batch() throws Exception {
        FileStoreTable table = session.table();
        Map<String, String> options = new LinkedHashMap<>();
        if (session.request.hasNonNull("snapshot")) {
            options.put("scan.snapshot-id", session.request.get("snapshot").asText());
        }
        FileStoreTable at = options.isEmpty() ? table : table.copy(options);
        ValueCodec.Rows codec = new ValueCodec.Rows(at.rowType());
        ReadBuilder builder = at.newReadBuilder();
        TableRead read = reader(builder);
        for (Split split : builder.newScan().plan().splits()) {
            try (CloseableIterator<InternalRow> rows = new RecordReaderIterator<>(read.createReader(split))) {
                while (rows.hasNext()) {
                    ObjectNode line = Peer.JSON.createObjectNode();
                    line.set("row", codec.write(rows.next()));
                    session.emit(line);
                }
            }
        }
    }

    /** All changes from the first snapshot to the latest, or the latest state with mode latest-full. */
    void stream() throws Exception {
        FileStoreTable table = session.table();
        Long latest = table.snapshotManager().latestSnapshotId();
        String mode = session.text("mode", "from-snapshot");
        Map<String, String> options = new LinkedHashMap<>();
        options.put("scan.mode", mode);
        if (!mode.equals("latest-full")) {
            options.put("scan.snapshot-id", session.text("from", "1"));
        }
        FileStoreTable following = table.copyWithoutTimeTravel(options);
        ValueCodec.Rows codec = new ValueCodec.Rows(following.rowType());
        ReadBuilder builder = following.newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        TableRead read = reader(builder);
        while (latest != null) {
            Long position = scan.checkpoint();
            if (position != null && position > latest) {
                return;
            }
            List<Split> splits;
            try {
                splits = scan.plan().splits();
            } catch (EndOfScanException end) {
                return;
            }
            for (Split split : splits) {
                long snapshot = ((DataSplit) split).snapshotId();
                try (CloseableIterator<InternalRow> rows = new RecordReaderIterator<>(read.createReader(split))) {
                    while (rows.hasNext()) {
                        InternalRow row = rows.next();
                        ObjectNode line = Peer.JSON.createObjectNode();
                        line.put("snapshot", snapshot).put("kind", row.getRowKind().shortString());
                        line.set("row", codec.write(row));
                        session.emit(line);
                    }
                }
            }
            if (splits.isEmpty() && (scan.checkpoint() == null || scan.checkpoint().equals(position))) {
                return;
            }
        }
    }

    private static TableRead reader(ReadBuilder builder) {
        return builder.newRead().withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
    }
}
