package tidewater.peer;

import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.options.Options;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** One request: its arguments, a catalog of its own and the lines of its answer. */
final class Session implements AutoCloseable {

    final JsonNode request;
    final Catalog catalog;
    private final List<JsonNode> lines;

    Session(JsonNode request, List<JsonNode> lines) {
        this.request = request;
        this.lines = lines;
        Options options = new Options();
        options.set("warehouse", request.get("warehouse").asText());
        options.set("cache-enabled", "false"); // the other engine changes tables behind a cache's back
        this.catalog = CatalogFactory.createCatalog(CatalogContext.create(options));
    }

    void emit(JsonNode line) {
        lines.add(line);
    }

    String text(String name, String absent) {
        return request.hasNonNull(name) ? request.get(name).asText() : absent;
    }

    Identifier identifier() {
        return Identifier.fromString(request.get("table").asText());
    }

    FileStoreTable table() throws Exception {
        return (FileStoreTable) catalog.getTable(identifier());
    }

    void create() throws Exception {
        JsonNode definition = request.get("schema");
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode field : definition.get("fields")) {
            DataType type = DataTypeJsonParser.parseDataType(field.get("type"), new AtomicInteger(-1));
            schema.column(field.get("name").asText(), type);
        }
        schema.primaryKey(names(definition.get("primaryKeys")));
        schema.partitionKeys(names(definition.get("partitionKeys")));
        Map<String, String> options = new LinkedHashMap<>();
        definition.get("options").fields().forEachRemaining(o -> options.put(o.getKey(), o.getValue().asText()));
        schema.options(options);
        catalog.createDatabase(identifier().getDatabaseName(), true);
        catalog.createTable(identifier(), schema.build(), false);
        emit(Peer.JSON.readTree(table().schema().toString()));
    }

    static List<String> names(JsonNode array) {
        List<String> names = new ArrayList<>();
        if (array != null) {
            array.forEach(name -> names.add(name.asText()));
        }
        return names;
    }

    @Override
    public void close() throws Exception {
        catalog.close();
    }
}
