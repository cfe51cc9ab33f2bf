package tidewater.peer;

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.NullNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.LocalZonedTimestampType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.TimestampType;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values of one type as JSON and back, made once for a table and used for each of its rows. */
abstract class ValueCodec {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    /** The JSON of a value that is not null. */
    protected abstract JsonNode toJson(Object value);

    /** The value of a JSON node that is not null. */
    protected abstract Object fromJson(JsonNode json);

    final JsonNode write(Object value) {
        return value == null ? NullNode.getInstance() : toJson(value);
    }

    final Object read(JsonNode json) {
        return json == null || json.isNull() ? null : fromJson(json);
    }

    static ValueCodec of(DataType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return simple(v -> NODES.booleanNode((Boolean) v), JsonNode::booleanValue);
            case TINYINT:
                return simple(v -> NODES.numberNode((Byte) v), j -> (byte) j.intValue());
            case SMALLINT:
                return simple(v -> NODES.numberNode((Short) v), j -> (short) j.intValue());
            case INTEGER:
                return simple(v -> NODES.numberNode((Integer) v), JsonNode::intValue);
            case BIGINT:
                return simple(v -> NODES.numberNode((Long) v), JsonNode::longValue);
            case FLOAT:
                return simple(
                        v -> real(((Float) v).doubleValue()),
                        j -> j.isTextual() ? Float.parseFloat(j.textValue()) : (float) j.doubleValue());
            case DOUBLE:
                return simple(
                        v -> real((Double) v),
                        j -> j.isTextual() ? Double.parseDouble(j.textValue()) : j.doubleValue());
            case CHAR:
            case VARCHAR:
                return simple(v -> NODES.textNode(v.toString()), j -> BinaryString.fromString(j.textValue()));
            case BINARY:
            case VARBINARY:
                return simple(
                        v -> NODES.textNode(Base64.getEncoder().encodeToString((byte[]) v)),
                        j -> Base64.getDecoder().decode(j.textValue()));
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return simple(
                        v -> NODES.textNode(((Decimal) v).toBigDecimal().setScale(decimal.getScale()).toPlainString()),
                        j ->
                                Decimal.fromBigDecimal(
                                        new BigDecimal(j.textValue()), decimal.getPrecision(), decimal.getScale()));
            case DATE:
                return simple(
                        v -> NODES.textNode(LocalDate.ofEpochDay((Integer) v).toString()),
                        j -> (int) LocalDate.parse(j.textValue()).toEpochDay());
            case TIME_WITHOUT_TIME_ZONE:
                return simple(
                        v -> NODES.textNode(clock(LocalTime.ofNanoOfDay((Integer) v * 1_000_000L), 3)),
                        j -> (int) (LocalTime.parse(j.textValue()).toNanoOfDay() / 1_000_000L));
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                int digits = ((TimestampType) type).getPrecision();
                return simple(
                        v -> NODES.textNode(moment((Timestamp) v, digits)),
                        j -> Timestamp.fromLocalDateTime(LocalDateTime.parse(j.textValue())));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                int instantDigits = ((LocalZonedTimestampType) type).getPrecision();
                return simple(
                        v -> NODES.textNode(moment((Timestamp) v, instantDigits) + "Z"),
                        j -> {
                            String text = j.textValue();
                            return Timestamp.fromLocalDateTime(
                                    LocalDateTime.parse(text.substring(0, text.length() - 1)));
                        });
            case ARRAY:
                return new Elements(((ArrayType) type).getElementType());
            case MULTISET:
                return new Entries(((MultisetType) type).getElementType(), DataTypes.INT());
            case MAP:
                return new Entries(((MapType) type).getKeyType(), ((MapType) type).getValueType());
            case ROW:
                return new Rows((RowType) type);
            default:
                throw new UnsupportedOperationException("no codec for " + type);
        }
    }

    private interface Encode {
        JsonNode apply(Object value);
    }

    private interface Decode {
        Object apply(JsonNode json);
    }

    private static ValueCodec simple(Encode encode, Decode decode) {
        return new ValueCodec() {
            @Override
            protected JsonNode toJson(Object value) {
                return encode.apply(value);
            }

            @Override
            protected Object fromJson(JsonNode json) {
                return decode.apply(json);
            }
        };
    }

    private static JsonNode real(double value) {
        boolean plain = !Double.isNaN(value) && !Double.isInfinite(value);
        return plain ? NODES.numberNode(value) : NODES.textNode(Double.toString(value));
    }

    private static String clock(LocalTime time, int digits) {
        String whole = time.format(CLOCK);
        return digits == 0 ? whole : whole + "." + String.format("%09d", time.getNano()).substring(0, digits);
    }

    /** As many fraction digits as the type says, or all nine when more are stored. */
    private static String moment(Timestamp value, int digits) {
        LocalDateTime local = value.toLocalDateTime();
        String nanos = String.format("%09d", local.getNano());
        boolean fits = nanos.substring(digits).chars().allMatch(c -> c == '0');
        return local.toLocalDate() + "T" + clock(local.toLocalTime(), fits ? digits : 9);
    }

    private static final class Elements extends ValueCodec {
        private final ValueCodec codec;
        private final InternalArray.ElementGetter getter;

        Elements(DataType element) {
            codec = of(element);
            getter = InternalArray.createElementGetter(element);
        }

        @Override
        protected JsonNode toJson(Object value) {
            InternalArray array = (InternalArray) value;
            ArrayNode json = NODES.arrayNode();
            for (int i = 0; i < array.size(); i++) {
                json.add(codec.write(getter.getElementOrNull(array, i)));
            }
            return json;
        }

        @Override
        protected Object fromJson(JsonNode json) {
            List<Object> elements = new ArrayList<>();
            json.forEach(element -> elements.add(codec.read(element)));
            return new GenericArray(elements.toArray());
        }
    }

    private static final class Entries extends ValueCodec {
        private final ValueCodec keys;
        private final ValueCodec values;
        private final InternalArray.ElementGetter keyGetter;
        private final InternalArray.ElementGetter valueGetter;

        Entries(DataType key, DataType value) {
            keys = of(key);
            values = of(value);
            keyGetter = InternalArray.createElementGetter(key);
            valueGetter = InternalArray.createElementGetter(value);
        }

        @Override
        protected JsonNode toJson(Object value) {
            InternalMap map = (InternalMap) value;
            List<ArrayNode> pairs = new ArrayList<>();
            for (int i = 0; i < map.size(); i++) {
                ArrayNode pair = NODES.arrayNode();
                pair.add(keys.write(keyGetter.getElementOrNull(map.keyArray(), i)));
                pair.add(values.write(valueGetter.getElementOrNull(map.valueArray(), i)));
                pairs.add(pair);
            }
            pairs.sort((a, b) -> Arrays.compareUnsigned(bytes(a.get(0)), bytes(b.get(0))));
            ArrayNode json = NODES.arrayNode();
            pairs.forEach(json::add);
            return json;
        }

        private static byte[] bytes(JsonNode node) {
            return node.toString().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        protected Object fromJson(JsonNode json) {
            Map<Object, Object> map = new LinkedHashMap<>();
            json.forEach(pair -> map.put(keys.read(pair.get(0)), values.read(pair.get(1))));
            return new GenericMap(map);
        }
    }

    /** Rows, nested ones and whole table rows alike. */
    static final class Rows extends ValueCodec {
        private final List<DataField> fields;
        private final ValueCodec[] codecs;
        private final InternalRow.FieldGetter[] getters;

        Rows(RowType type) {
            fields = type.getFields();
            codecs = new ValueCodec[fields.size()];
            getters = new InternalRow.FieldGetter[fields.size()];
            for (int i = 0; i < codecs.length; i++) {
                codecs[i] = of(fields.get(i).type());
                getters[i] = InternalRow.createFieldGetter(fields.get(i).type(), i);
            }
        }

        @Override
        protected JsonNode toJson(Object value) {
            InternalRow row = (InternalRow) value;
            ObjectNode json = NODES.objectNode();
            for (int i = 0; i < codecs.length; i++) {
                json.set(fields.get(i).name(), codecs[i].write(getters[i].getFieldOrNull(row)));
            }
            return json;
        }

        @Override
        protected Object fromJson(JsonNode json) {
            return row(json, RowKind.INSERT);
        }

        GenericRow row(JsonNode json, RowKind kind) {
            GenericRow row = new GenericRow(kind, codecs.length);
            for (int i = 0; i < codecs.length; i++) {
                row.setField(i, codecs[i].read(json.get(fields.get(i).name())));
            }
            return row;
        }
    }
}
